// The load that a power rule saw at each look: a strip for each policy, a line for each partition.
rota.loadChart = (() => {
  const {number, clock} = rota.words;
  const kTitle = 18, kHeight = 90, kBelow = 18;

  const label = (name, row) => (row.partition ? `${name}, ${row.partition}` : name);

  function strip(its, policy, top, x, most) {
    const y = d3.scaleLinear().domain([0, most]).range([top + kTitle + kHeight, top + kTitle]).clamp(true);
    const loads = policy.loads.map((row) => `${row.partition ? `${row.partition} ` : ''}${number(d3.mean(row.load))}`);
    its.svg.append('text').attr('class', 'name').attr('x', its.left).attr('y', top + 13)
        .text(`${policy.name}: mean load ${loads.join(', ')}`);
    its.svg.append('line').attr('class', 'front').attr('x1', its.left).attr('x2', its.right).attr('y1', y(1)).attr('y2', y(1));
    policy.loads.forEach((row, p) => {
      its.svg.append('path').attr('class', 'line').style('stroke', `var(--p${p % 8})`)
          .attr('d', d3.line().x((i) => x(row.at[i])).y((i) => y(row.load[i])).curve(d3.curveStepAfter)(d3.range(row.at.length)));
    });
    its.svg.append('g').attr('class', 'axis').attr('transform', `translate(${its.left},0)`)
        .call(d3.axisLeft(y).tickValues([0, 1, most]).tickFormat(number).tickSize(3).tickSizeOuter(0));
  }

  return (plot, charts, shown, parts) => {
    const kept = shown.filter((p) => charts.policies[p].loads);
    if (kept.length === 0) {
      plot.textContent = 'These policies reckon no load.';
      return;
    }
    const height = kTitle + kHeight + kBelow;
    const most = Math.max(1.5, d3.max(kept, (p) => d3.max(charts.policies[p].loads, (row) => d3.max(row.load))));
    const told = (policy) => policy.loads.map((row) => `${label(policy.name, row)}: mean ${number(d3.mean(row.load))}, at most ${number(d3.max(row.load))}`);
    const its = parts.sheet(plot, kept.length * height + parts.margin,
                            `The load over time. ${kept.flatMap((p) => told(charts.policies[p])).join('. ')}.`);
    const x = d3.scaleLinear().domain([0, charts.to - charts.from]).range([its.left, its.right]).clamp(true);
    kept.forEach((p, row) => strip(its, charts.policies[p], its.top + row * height, x, most));
    parts.timeAxis(its, x, charts);
    plot.csv = () => [['policy', 'partition', 'at (s)', 'load', 'node-hours at least', 'node-hours at most']].concat(
        ...kept.flatMap((p) => charts.policies[p].loads.map((row) => row.at.map((at, i) =>
            [charts.policies[p].name, row.partition, charts.from + at, row.load[i], row.least[i], row.most[i]]))));
    const words = clock(charts);
    parts.readout(its, (px) => {
      const t = x.invert(px);
      return [words.moment(t)].concat(kept.flatMap((p) => charts.policies[p].loads.map((row) => {
        const i = Math.max(0, d3.bisectRight(row.at, t) - 1);
        return `${label(charts.policies[p].name, row)}: load ${number(row.load[i])}, ${number(row.least[i])} to ${number(row.most[i])} node-hours`;
      })));
    });
  };
})();
