// What nodes did over time: stacked, a strip for each policy, and below it what they drew. Bins as they were metered:
// each holds means over its own time, the last one may be short.
rota.nodeChart = (() => {
  const {number, percent, grouped, clock} = rota.words;
  const kUses = ['busy', 'idle', 'booting', 'shutting', 'off'];
  const kNames = ['busy', 'idle', 'booting', 'shutting down', 'off'];
  const kTitle = 18, kStack = 96, kGap = 13, kDraw = 44, kBelow = 16;

  const seconds = (states, i) => Math.min(states.width, states.length - i * states.width);

  // Sums of means x seconds.
  const total = (states, values) => values.reduce((sum, value, i) => sum + value * seconds(states, i), 0);

  // Runs of `each` bins together: {t0, t1, uses, draw}, seconds since charts.from.
  function thinned(states, each) {
    const runs = [];
    for (let first = 0; first < states.uses[0].length; first += each) {
      const run = {t0: states.from + first * states.width, uses: kUses.map(() => 0), draw: 0};
      const end = Math.min(first + each, states.uses[0].length);
      let time = 0;
      for (let i = first; i < end; i++) {
        const its = seconds(states, i);
        time += its;
        kUses.forEach((use, u) => { run.uses[u] += states.uses[u][i] * its; });
        if (states.draw) run.draw += states.draw[i] * its;
      }
      run.t1 = run.t0 + time;
      run.uses = run.uses.map((sum) => sum / time);
      run.draw /= time;
      runs.push(run);
    }
    return runs;
  }

  // In little room only how much of the time nodes were off.
  function story({name, states}, brief) {
    const all = states.nodes * states.length;
    const shares = kNames.map((word, u) => [word, total(states, states.uses[u]) / all]);
    const told = shares.filter(([word, share]) => (brief ? word === 'off' : share >= 0.0005))
        .map(([word, share]) => `${percent(share)} ${word}`);
    const draw = states.draw ? `; ${number(total(states, states.draw) / states.length)} kW on average` : '';
    return `${name}: ${told.join(', ')}${draw}`;
  }

  // Steps between the values `low` and `high` of each run.
  const steps = (x, y, low, high) => d3.area().x(([t]) => x(t)).y0(([, run]) => y(low(run))).y1(([, run]) => y(high(run)))
      .curve(d3.curveStepAfter);
  const corners = (runs) => runs.map((run) => [run.t0, run]).concat([[runs[runs.length - 1].t1, runs[runs.length - 1]]]);

  function axis(its, y, ticks, format, unit) {
    const group = its.svg.append('g').attr('class', 'axis').attr('transform', `translate(${its.left},0)`)
        .call(d3.axisLeft(y).tickValues(ticks).tickFormat(format).tickSize(3).tickSizeOuter(0));
    const [low, high] = y.range();
    group.append('text').attr('class', 'unit').attr('transform', `translate(-44,${(low + high) / 2}) rotate(-90)`)
        .attr('text-anchor', 'middle').text(unit);
  }

  function strip(its, policy, top, x, mostDraw) {
    const {states} = policy;
    const runs = thinned(states, Math.ceil(states.uses[0].length / (its.inner / 2)));
    its.svg.append('text').attr('class', 'name').attr('x', its.left).attr('y', top + 13)
        .text(story(policy, its.inner < 600));
    const y = d3.scaleLinear().domain([0, states.nodes]).range([top + kTitle + kStack, top + kTitle]);
    kUses.forEach((use, u) => {
      const below = (run) => d3.sum(run.uses.slice(0, u));
      its.svg.append('path').attr('class', `area ${use}`).attr('d', steps(x, y, below, (run) =>
          Math.min(states.nodes, below(run) + run.uses[u]))(corners(runs)));
    });
    axis(its, y, [0, states.nodes], grouped, 'nodes');
    if (!states.draw) return runs;
    const base = top + kTitle + kStack + kGap + kDraw;
    const kilowatts = d3.scaleLinear().domain([0, mostDraw]).range([base, base - kDraw]);
    its.svg.append('path').attr('class', 'area draw')
        .attr('d', steps(x, kilowatts, () => 0, (run) => run.draw)(corners(runs)));
    axis(its, kilowatts, [0, mostDraw], number, 'kW');
    return runs;
  }

  // Draws the policies of which there is something to draw; says so where there is nothing.
  return (plot, charts, shown, parts) => {
    const kept = shown.filter((p) => charts.policies[p].states);
    if (kept.length === 0) {
      plot.textContent = 'Nothing was metered here.';
      return;
    }
    const draws = kept.some((p) => charts.policies[p].states.draw);
    const height = kTitle + kStack + kBelow + (draws ? kGap + kDraw : 0);
    const its = parts.sheet(plot, kept.length * height + parts.margin,
                            `What nodes did over time. ${kept.map((p) => story(charts.policies[p])).join('. ')}.`);
    const x = d3.scaleLinear().domain([0, charts.to - charts.from]).range([its.left, its.right]).clamp(true);
    const mostDraw = d3.max(kept, (p) => d3.max(charts.policies[p].states.draw || [0])) || 1;
    const drawn = kept.map((p, row) => strip(its, charts.policies[p], its.top + row * height, x, mostDraw));
    parts.timeAxis(its, x, charts);
    plot.csv = () => [['policy', 'from (s)', ...kNames.map((word) => `nodes ${word}`), 'kW']].concat(...kept.map((p) => {
      const {states, name} = charts.policies[p];
      return states.uses[0].map((value, i) => [name, charts.from + states.from + i * states.width,
                                               ...states.uses.map((use) => use[i]), states.draw ? states.draw[i] : '']);
    }));
    const words = clock(charts);
    parts.readout(its, (px) => {
      const t = x.invert(px);
      return [words.moment(t)].concat(kept.map((p, row) => {
        const runs = drawn[row];
        const run = runs[Math.max(0, d3.bisector(({t0}) => t0).right(runs, t) - 1)];
        const told = kNames.map((word, u) => [word, run.uses[u]]).filter(([, nodes]) => nodes >= 0.005);
        const draw = charts.policies[p].states.draw ? `; ${number(run.draw)} kW` : '';
        return `${charts.policies[p].name}: ${told.map(([word, nodes]) => `${number(nodes)} ${word}`).join(', ')}${draw}`;
      }));
    });
  };
})();
