// Mean slowdown of users, groups, partitions and queues: a row each, a dot for each policy.
rota.partyChart = (() => {
  const {duration, number, grouped, letter} = rota.words;
  const kRow = 30;

  const shortened = (name, most) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);

  function kindOf(plot, charts) {
    const select = plot.parentElement.querySelector('.kind');
    if (select.options.length === 0) {
      charts.parties.forEach(({kind, all}, k) => select.add(new Option(`${kind}: ${grouped(all)}`, k)));
      const wanted = rota.state.get('by');
      if (wanted && charts.parties[Number(wanted)]) select.value = wanted;
    }
    return charts.parties[Number(select.value)];
  }

  return (plot, charts, shown, parts) => {
    if (charts.parties.length === 0) {
      plot.parentElement.remove();
      return;
    }
    const {kind, names, figures} = kindOf(plot, charts);
    const its = parts.sheet(plot, names.length * kRow + 64, `Mean slowdown by ${kind}.`);
    const brief = its.inner < 460;
    its.left = brief ? 96 : 180;
    its.inner = its.right - its.left;
    const value = (row, p) => figures[row][p].slowdown;
    const most = d3.max(names, (name, row) => d3.max(shown, (p) => value(row, p) || 1)) || 1;
    const x = d3.scaleLog().domain([1, Math.max(2, most * 1.1)]).range([its.left + 8, its.right - 8]);
    const ticks = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 1e4, 1e5, 1e6].filter((t) => t <= x.domain()[1])
        .filter((t, i, all) => all.length < its.inner / 45 || Math.log10(t) % 1 === 0);
    its.svg.append('g').attr('class', 'axis').attr('transform', `translate(0,${its.bottom})`)
        .call(d3.axisBottom(x).tickValues(ticks).tickFormat(grouped).tickSizeOuter(0));
    parts.axisTitle(its, 'mean bounded slowdown (log scale from 1)');
    names.forEach((name, row) => {
      const y = its.top + row * kRow + kRow / 2;
      its.svg.append('line').attr('class', 'lane').attr('x1', its.left).attr('x2', its.right).attr('y1', y).attr('y2', y);
      its.svg.append('text').attr('class', 'name').attr('text-anchor', 'end').attr('x', its.left - 8).attr('y', y + 4)
          .text(shortened(name, brief ? 13 : 26));
      shown.filter((p) => value(row, p) !== null).forEach((p, k) => {
        const cx = x(value(row, p)), cy = y + (k % 2 === 0 ? -6 : 6);  // in two lines: policies are often close
        const mark = its.svg.append('g').attr('class', 'spot');
        mark.append('circle').attr('cx', cx).attr('cy', cy).attr('r', 7).style('fill', parts.colour(p));
        mark.append('text').attr('class', `within p${p % 8}`).attr('text-anchor', 'middle').attr('x', cx).attr('y', cy + 3.5)
            .text(letter(p));
        const f = figures[row][p];
        mark.append('title').text(`${name} under ${charts.policies[p].name}: slowdown ${number(f.slowdown)}, mean wait ` +
            `${duration(f.mean)}, longest ${duration(f.max)}, ${grouped(f.jobs)} jobs`);
      });
    });
    plot.csv = () => [[kind, 'policy', 'jobs', 'mean wait (s)', 'median wait (s)', '95 % wait (s)', 'longest wait (s)',
                       'mean bounded slowdown']].concat(...names.map((name, row) => shown.map((p) => {
      const f = figures[row][p];
      return [name, charts.policies[p].name, f.jobs, f.mean, f.median, f.p95, f.max, f.slowdown];
    })));
  };
})();
