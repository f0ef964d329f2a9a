// The charts of load, waits and slowdown: SVG, drawn anew when the width or the choice of policies changes.
rota.drawCharts = (() => {
  const {duration, number, percent, grouped, clock, letter} = rota.words;
  const kMargin = {top: 10, right: 16, bottom: 44, left: 70};
  const kDashes = [null, '8 3', '2 3', '10 3 2 3', '14 4', '5 2 1 2 1 2', '4 6', '12 2 2 2 2 2'];
  const kWaitTicks = [1, 10, 60, 600, 3600, 6 * 3600, 86400, 10 * 86400, 100 * 86400, 1000 * 86400];

  const colour = (p) => `var(--p${p % 8})`;
  const dash = (p) => kDashes[(p + Math.floor(p / 8)) % kDashes.length];  // another one where colours come again

  // An empty drawing with room for axes. Its width follows the page.
  function sheet(plot, height, label) {
    const width = Math.max(280, plot.clientWidth);
    plot.replaceChildren();
    const svg = d3.select(plot).append('svg').attr('width', width).attr('height', height)
        .attr('role', 'img').attr('aria-label', label);
    return {svg, width, height, inner: width - kMargin.left - kMargin.right, left: kMargin.left,
            right: width - kMargin.right, top: kMargin.top, bottom: height - kMargin.bottom};
  }

  function axisTitle(its, below, beside) {
    if (below) {
      its.svg.append('text').attr('class', 'unit').attr('text-anchor', 'middle').attr('x', (its.left + its.right) / 2)
          .attr('y', its.bottom + 36).text(below);
    }
    if (beside) {
      its.svg.append('text').attr('class', 'unit').attr('text-anchor', 'middle')
          .attr('transform', `translate(14,${(its.top + its.bottom) / 2}) rotate(-90)`).text(beside);
    }
  }

  // A letter on the line, each policy's at a place of its own: what colours tell must be told without them.
  function lettered(its, shown, points) {
    shown.forEach((p, k) => {
      const line = points(p);
      if (line.length === 0) return;
      const [x, y] = line[Math.min(line.length - 1, Math.floor(line.length * (k + 1) / (shown.length + 1)))];
      its.svg.append('text').attr('class', 'letter').attr('x', x).attr('y', y - 4).text(letter(p));
    });
  }

  function timeAxis(its, x, charts) {
    axisTitle(its, clock(charts).axis);
    const words = clock(charts);
    const {step, ticks} = words.ticks(x.domain()[0], x.domain()[1], its.inner / 90);
    its.svg.append('g').attr('class', 'axis').attr('transform', `translate(0,${its.bottom})`)
        .call(d3.axisBottom(x).tickValues(ticks).tickFormat((t) => words.tick(t, step)).tickSizeOuter(0));
  }

  function gridY(its, y, ticks, format) {
    its.svg.append('g').attr('class', 'axis grid').attr('transform', `translate(${its.left},0)`)
        .call(d3.axisLeft(y).tickValues(ticks).tickFormat(format).tickSize(-its.inner).tickPadding(6));
  }

  // Fewer, wider slices, so that a line stays a line: about `most` means of neighbours.
  function thinned(values, most) {
    const each = Math.max(1, Math.ceil(values.length / most));
    const means = [];
    for (let i = 0; i < values.length; i += each) means.push(d3.mean(values.slice(i, i + each)));
    return means;
  }

  // Shows what say(x) gives beside the pointer, and a line through it.
  function readout(its, say) {
    const rule = its.svg.append('line').attr('class', 'rule').attr('y1', its.top).attr('y2', its.bottom)
        .style('display', 'none');
    const tip = document.getElementById('tip');
    its.svg.on('pointermove', () => {
      const [px] = d3.mouse(its.svg.node());
      if (px < its.left || px > its.right) return hide();
      rule.style('display', null).attr('x1', px).attr('x2', px);
      rota.showTip(d3.event, say(px));
    });
    const hide = () => { rule.style('display', 'none'); tip.hidden = true; };
    its.svg.on('pointerleave', hide);
  }

  function atTime(its, x, charts, shown, series, text) {
    const words = clock(charts);
    const slices = charts.policies[0][series].length;
    readout(its, (px) => {
      const t = x.invert(px);
      const slice = Math.min(slices - 1, Math.max(0, Math.floor(t / (charts.to - charts.from) * slices)));
      return [words.moment(t)].concat(shown.map((p) =>
          `${charts.policies[p].name}: ${text(charts.policies[p][series][slice])}`));
    });
  }

  function seriesRows(charts, shown, series, what) {
    const slices = charts.policies[0][series].length;
    const head = ['from (s)'].concat(shown.map((p) => `${what}, ${charts.policies[p].name}`));
    return [head].concat(d3.range(slices).map((i) =>
        [charts.from + (charts.to - charts.from) * i / slices].concat(shown.map((p) => charts.policies[p][series][i]))));
  }

  function busy(plot, charts, shown) {
    const strip = 58;
    const its = sheet(plot, kMargin.top + kMargin.bottom + shown.length * strip,
                      `Processors in use over time. ${shown.map((p) => `${charts.policies[p].name}: ` +
                      `${percent(charts.policies[p].utilization)} on average`).join('; ')}.`);
    const x = d3.scaleLinear().domain([0, charts.to - charts.from]).range([its.left, its.right]);
    shown.forEach((p, row) => {
      const policy = charts.policies[p];
      const base = its.top + (row + 1) * strip - 4;
      const y = d3.scaleLinear().domain([0, charts.processors]).range([base, base - strip + 20]);
      const values = thinned(policy.busy, its.inner / 2);
      const width = its.inner / values.length;
      const area = d3.area().x((d, i) => its.left + i * width).y0(base).y1((d) => y(d)).curve(d3.curveStepAfter);
      const frame = its.svg.append('g');
      frame.append('rect').attr('class', 'free').attr('x', its.left).attr('width', its.inner)
          .attr('y', y(charts.processors)).attr('height', base - y(charts.processors));
      frame.append('path').attr('class', 'area').attr('d', area(values.concat(values.slice(-1))))
          .style('fill', colour(p));
      frame.append('text').attr('class', 'name').attr('x', its.left).attr('y', base - strip + 15)
          .text(`${letter(p)}  ${policy.name}: ${percent(policy.utilization)} on average`);
      frame.append('g').attr('class', 'axis').attr('transform', `translate(${its.left},0)`)
          .call(d3.axisLeft(y).tickValues([0, charts.processors]).tickFormat(grouped).tickSize(3).tickSizeOuter(0));
    });
    axisTitle(its, '', 'processors');
    timeAxis(its, x, charts);
    plot.csv = () => seriesRows(charts, shown, 'busy', 'processors in use');
    atTime(its, x, charts, shown, 'busy', (value) => `${number(value)} processors`);
  }

  function countScale(most) {
    const scale = most > 30 ? d3.scaleSymlog() : d3.scaleLinear();
    const ticks = most > 30 ? [0, 1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7].filter((t) => t <= most * 1.5)
                            : d3.ticks(0, Math.max(1, most), 5);
    return {scale: scale.domain([0, Math.max(1, most * 1.1)]), ticks};
  }

  function waiting(plot, charts, shown) {
    const most = d3.max(shown, (p) => d3.max(charts.policies[p].waiting)) || 0;
    const its = sheet(plot, 240, `Jobs waiting over time. ${shown.map((p) => `${charts.policies[p].name}: ` +
                      `${number(d3.mean(charts.policies[p].waiting))} on average`).join('; ')}.`);
    const x = d3.scaleLinear().domain([0, charts.to - charts.from]).range([its.left, its.right]);
    const {scale, ticks} = countScale(most);
    const y = scale.range([its.bottom, its.top]);
    gridY(its, y, ticks.filter((t) => t <= y.domain()[1]), grouped);
    shown.forEach((p) => {
      const values = thinned(charts.policies[p].waiting, its.inner / 3);
      const width = its.inner / values.length;
      const line = d3.line().x((d, i) => its.left + i * width).y((d) => y(d)).curve(d3.curveStepAfter);
      its.svg.append('path').attr('class', 'line').attr('d', line(values.concat(values.slice(-1))))
          .style('stroke', colour(p)).attr('stroke-dasharray', dash(p));
    });
    lettered(its, shown, (p) => {
      const values = thinned(charts.policies[p].waiting, its.inner / 3);
      return values.map((value, i) => [its.left + i * its.inner / values.length, y(value)]);
    });
    axisTitle(its, '', most > 30 ? 'jobs (compressed scale)' : 'jobs');
    timeAxis(its, x, charts);
    plot.csv = () => seriesRows(charts, shown, 'waiting', 'jobs waiting');
    atTime(its, x, charts, shown, 'waiting', (value) => `${number(value)} waiting`);
  }

  function shares(plot, charts, shown) {
    const marks = charts.marks.slice(1);
    const at = (p, i) => charts.policies[p].shares[i + 1];
    const its = sheet(plot, 280, `Share of jobs by wait. ${shown.map((p) => `${charts.policies[p].name}: ` +
                      `${percent(charts.policies[p].shares[0])} did not wait at all`).join('; ')}.`);
    const last = marks.length > 1 ? marks[marks.length - 1] : 10;
    const x = d3.scaleLog().domain([1, last]).range([its.left, its.right]);
    const least = d3.min(shown, (p) => at(p, 0));
    const y = d3.scaleLinear().domain([Math.floor((least || 0) * 10) / 10, 1]).range([its.bottom, its.top]);
    gridY(its, y, y.ticks(5), d3.format('.0%'));
    const ticks = kWaitTicks.filter((t) => t <= last && x(t) < its.right - 10);
    its.svg.append('g').attr('class', 'axis').attr('transform', `translate(0,${its.bottom})`)
        .call(d3.axisBottom(x).tickValues(its.inner < 460 ? ticks.filter((t, i) => i % 2 === 0) : ticks)
                  .tickFormat(duration).tickSizeOuter(0));
    const line = (p) => d3.line().x((d) => x(d)).y((d, i) => y(at(p, i)))(marks);
    shown.forEach((p) => {
      its.svg.append('path').attr('class', 'line').attr('d', line(p)).style('stroke', colour(p))
          .attr('stroke-dasharray', dash(p));
    });
    lettered(its, shown, (p) => marks.map((mark, i) => [x(mark), y(at(p, i))]));
    const from = y.domain()[0];
    axisTitle(its, 'wait (log scale from 1 s)', `share of jobs (from ${d3.format('.0%')(from)})`);
    plot.csv = () => [['wait at most (s)'].concat(shown.map((p) => charts.policies[p].name))].concat(
        charts.marks.map((mark, i) => [mark].concat(shown.map((p) => charts.policies[p].shares[i]))));
    readout(its, (px) => {
      const i = Math.min(marks.length - 1, d3.bisectLeft(marks, x.invert(px)));
      return [`started within ${duration(marks[i])}`].concat(shown.map((p) =>
          `${charts.policies[p].name}: ${percent(at(p, i))}`));
    });
  }

  // "4,097–16,384" as "4k–16k": there is little room under a bar.
  const briefly = (label) => label.split('–').map((text) => {
    const value = Number(text.replace(/,/g, ''));
    return value < 1000 ? text : `${Math.round(value / 1000)}k`;
  }).join('–');

  function sizes(plot, charts, shown) {
    const used = charts.classes.map((label, c) => c).filter((c) => charts.policies.some((q) => q.sizes[c].jobs > 0));
    const value = (p, c) => charts.policies[p].sizes[c].slowdown;
    const of = (c) => shown.map((p) => `${charts.policies[p].name} ${number(value(p, c))}`).join(', ');
    const its = sheet(plot, 280, 'Mean bounded slowdown by job size. ' +
                      `${used.map((c) => `${charts.classes[c]} processors: ${of(c)}`).join('; ')}.`);
    const x = d3.scaleBand().domain(used).range([its.left, its.right]).paddingInner(0.25).paddingOuter(0.1);
    const inside = d3.scaleBand().domain(shown).range([0, x.bandwidth()]);
    const most = d3.max(shown, (p) => d3.max(used, (c) => value(p, c))) || 1;
    const y = d3.scaleLog().domain([1, Math.max(2, most)]).range([its.bottom, its.top + 10]).clamp(true);
    const ticks = [1, 2, 5, 10, 20, 50, 100, 1e3, 1e4, 1e5, 1e6, 1e7].filter((t) => t <= y.domain()[1]);
    gridY(its, y, ticks.filter((t) => most < 100 || Math.log10(t) % 1 === 0), grouped);
    used.forEach((c) => {
      const bars = its.svg.append('g').attr('transform', `translate(${x(c)},0)`);
      shown.filter((p) => charts.policies[p].sizes[c].jobs > 0).forEach((p) => {
        const top = Math.min(y(value(p, c)), its.bottom - 1);
        bars.append('rect').attr('class', 'bar').attr('x', inside(p))
            .attr('width', Math.max(1, inside.bandwidth() - 1)).attr('y', top).attr('height', its.bottom - top).style('fill', colour(p));
        if (inside.bandwidth() >= 5.5) {
          bars.append('text').attr('class', `letter${inside.bandwidth() < 9 ? ' small' : ''}`).attr('text-anchor', 'middle')
              .attr('x', inside(p) + inside.bandwidth() / 2).attr('y', top - 3).text(letter(p));
        }
      });
    });
    its.svg.append('g').attr('class', 'axis').attr('transform', `translate(0,${its.bottom})`)
        .call(d3.axisBottom(x).tickFormat((c) => briefly(charts.classes[c])).tickSize(0).tickPadding(8));
    axisTitle(its, 'processors of the job', 'mean slowdown (log scale from 1)');
    plot.csv = () => [['processors', 'policy', 'jobs', 'mean bounded slowdown', 'mean wait (s)']].concat(
        ...used.map((c) => shown.map((p) => [charts.classes[c], charts.policies[p].name, charts.policies[p].sizes[c].jobs,
                                             value(p, c), charts.policies[p].sizes[c].wait])));
    readout(its, (px) => {
      const c = used[Math.min(used.length - 1, Math.max(0, Math.floor((px - its.left) / its.inner * used.length)))];
      const jobs = d3.max(charts.policies, (q) => q.sizes[c].jobs);
      const wait = (p) => duration(charts.policies[p].sizes[c].wait);
      return [`${charts.classes[c]} processors: ${grouped(jobs)} jobs`].concat(shown.map((p) =>
          `${charts.policies[p].name}: ${number(value(p, c))} × (mean wait ${wait(p)})`));
    });
  }

  const nodes = (plot, charts, shown) => rota.nodeChart(plot, charts, shown, {sheet, timeAxis, readout, margin: kMargin.top + kMargin.bottom});
  const loads = (plot, charts, shown) => rota.loadChart(plot, charts, shown, {sheet, timeAxis, readout, margin: kMargin.top + kMargin.bottom});
  const parts = {sheet, gridY, axisTitle, colour};
  const pareto = (plot, charts, shown) => rota.paretoChart(plot, charts, shown, parts);
  const parties = (plot, charts, shown) => rota.partyChart(plot, charts, shown, parts);
  const kinds = {pareto, busy, waiting, nodes, loads, shares, sizes, parties};
  // At a site that a log does not name nothing can be drawn of it.
  const drawable = (charts, shown) => {
    const placed = (p) => !charts.policies[p].unplaced;
    const kept = shown.filter(placed);
    return kept.length > 0 ? kept : d3.range(charts.policies.length).filter(placed);
  };
  return (section, charts, wanted) => {
    const shown = drawable(charts, wanted);
    for (const [kind, draw] of Object.entries(kinds)) {
      const plot = section.querySelector(`[data-chart=${kind}] .plot`);
      if (plot) draw(plot, charts, shown);
    }
  };
})();
