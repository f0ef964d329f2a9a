// Mean wait against longest wait, and against energy or cost where these were metered: who is beaten in both is no choice.
rota.paretoChart = (() => {
  const {duration, number, letter} = rota.words;

  // Those that no other is at least as good as in both, and better in one.
  const front = (points) => points.filter((a) => !points.some((b) => b !== a && b.x <= a.x && b.y <= a.y &&
                                                                      (b.x < a.x || b.y < a.y)));

  const kSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400].concat(
      [2, 5, 10, 20, 50, 100, 200, 500, 1000].map((days) => days * 86400));

  // Round times, where an axis tells time; else round numbers.
  function roundTicks(scale, timed) {
    const [from, to] = scale.domain();
    const step = timed && kSteps.find((its) => (to - from) / its <= 5);
    return step ? d3.range(Math.ceil(from / step) * step, to, step) : scale.ticks(5);
  }

  function axis(values, range, text, mayBegin) {
    const [least, most] = d3.extent(values);
    if (least > 0 && most / least > 12) {
      const scale = d3.scaleLog().domain([least / 1.3, most * 1.3]).range(range);
      const round = kSteps.filter((step) => step >= least / 1.3 && step <= most * 1.3);
      const every = Math.ceil(round.length / 6);
      return {scale, ticks: text === duration ? round.filter((step, i) => i % every === 0) : scale.ticks(3),
              note: `log scale from ${text(least / 1.3)}`};
    }
    const from = mayBegin && most > 0 && (most - least) / most < 0.3 ? Math.max(0, least - (most - least || most * 0.1)) : 0;
    const scale = d3.scaleLinear().domain([from, most + (most - from) * 0.08 || 1]).range(range);
    return {scale, ticks: roundTicks(scale, text === duration), note: `axis from ${text(from)}`};
  }

  const spot = (x, y, wide, high) => ({x0: x - wide, x1: x + wide, y0: y - high, y1: y + high});

  // The name beside its mark, where there is room for it; else the letter within the mark has to do.
  function label(mark, its, taken, {cx, cy, name}) {
    const text = mark.append('text').attr('class', 'name').text(name);
    const half = text.node().getComputedTextLength() / 2 + 2;
    for (const [dx, dy] of [[half + 11, 0], [-half - 11, 0], [0, -17], [0, 17], [half + 8, -15], [half + 8, 15], [-half - 8, -15],
                            [-half - 8, 15]]) {
      const box = spot(cx + dx, cy + dy, half, 7);
      const inside = box.x0 > its.left && box.x1 < its.width && box.y0 > 0 && box.y1 < its.bottom;
      if (!inside || taken.some((o) => o.x0 < box.x1 && box.x0 < o.x1 && o.y0 < box.y1 && box.y0 < o.y1)) continue;
      taken.push(box);
      text.attr('text-anchor', 'middle').attr('x', cx + dx).attr('y', cy + dy + 4);
      return;
    }
    text.remove();
  }

  function panel(holder, charts, points, {title, value, text}, parts) {
    points = points.map((point) => ({...point, y: value(charts.policies[point.p])}));
    const sheet = parts.sheet(holder, 320, `Mean wait against ${title}. ${points.map(({p, x, y}) =>
        `${charts.policies[p].name}: ${duration(x)}, ${text(y)}`).join('; ')}.`);
    const its = {...sheet, left: sheet.left + 18, inner: sheet.inner - 18};  // "4 h 40 min" beside the axis' title
    const x = axis(points.map((point) => point.x), [its.left, its.right - 14], duration, false);
    const y = axis(points.map((point) => point.y), [its.bottom, its.top + 14], text, true);
    parts.gridY(its, y.scale, y.ticks, text);
    const room = Math.max(1, Math.ceil(x.ticks.length / (its.inner / 80)));
    its.svg.append('g').attr('class', 'axis').attr('transform', `translate(0,${its.bottom})`)
        .call(d3.axisBottom(x.scale).tickValues(x.ticks.filter((tick, i) => i % room === 0)).tickFormat(duration)
                  .tickSizeOuter(0));
    parts.axisTitle(its, `mean wait (${x.note})`, `${title} (${y.note})`);
    const best = front(points.filter(({p}) => !charts.policies[p].recorded)).sort((a, b) => a.x - b.x || a.y - b.y);
    its.svg.append('path').attr('class', 'line front')
        .attr('d', d3.line().x((d) => x.scale(d.x)).y((d) => y.scale(d.y)).curve(d3.curveStepAfter)(best));
    const taken = points.map(({x: mean, y: other}) => spot(x.scale(mean), y.scale(other), 9, 9));
    points.forEach(({p, x: mean, y: other}) => {
      const cx = x.scale(mean), cy = y.scale(other);
      const mark = its.svg.append('g').attr('class', 'spot');
      mark.append(charts.policies[p].recorded ? 'rect' : 'circle').attr('r', 9).attr('x', cx - 8).attr('y', cy - 8)
          .attr('width', 16).attr('height', 16).attr('cx', cx).attr('cy', cy).style('fill', parts.colour(p));
      mark.append('text').attr('class', `within p${p % 8}`).attr('text-anchor', 'middle').attr('x', cx).attr('y', cy + 3.5)
          .text(letter(p));
      mark.append('title').text(`${charts.policies[p].name}: mean wait ${duration(mean)}, ${title} ${text(other)}`);
      const name = charts.policies[p].name;
      label(mark, its, taken, {cx, cy, name: name.length > 30 ? `${name.slice(0, 29)}…` : name});
    });
    return points;
  }

  return (plot, charts, shown, parts) => {
    const points = shown.filter((p) => charts.policies[p].waitMax !== null)
        .map((p) => ({p, x: charts.policies[p].meanWait}));
    plot.replaceChildren();
    plot.classList.add('side-by-side');
    const panels = [{title: 'longest wait', value: (policy) => policy.waitMax, text: duration}];
    const all = (member) => points.filter(({p}) => !charts.policies[p].recorded)
        .every(({p}) => charts.policies[p][member] !== null);
    if (all('cost')) panels.push({title: 'cost of electricity', value: (policy) => policy.cost, text: number});
    if (all('energy')) panels.push({title: 'energy in kWh', value: (policy) => policy.energy, text: number});
    if (points.length === 0) return;
    const holders = panels.map(() => plot.appendChild(document.createElement('div')));  // all of them, then widths
    panels.forEach((its, k) => panel(holders[k], charts, points.filter(({p}) =>
        its.value(charts.policies[p]) !== null), its, parts));
    plot.csv = () => [['policy', 'mean wait (s)', 'longest wait (s)', '95 % wait (s)', 'energy (kWh)', 'cost']].concat(
        shown.map((p) => charts.policies[p]).map((its) => [its.name, its.meanWait, its.waitMax, its.waitP95, its.energy,
                                                           its.cost]));
  };
})();
