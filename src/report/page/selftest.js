// The page examines itself when it is opened with #selftest: what the pictures are drawn from must agree with the table
// that C++ computed, and what is drawn must be there. Leaves <html data-selftest="passed"> (or "failed") and a list.
rota.selftest = () => {
  const lines = [];
  let failures = 0;
  const check = (truth, what) => {
    lines.push(`${truth ? 'ok' : 'not ok'} ${lines.length + 1} ${what}`);
    if (!truth) failures++;
  };
  const near = (a, b, what) => check(Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(b)), `${what}: ${a} is ${b}`);

  for (const {section, charts, gantt} of rota.sections) {
    for (const table of section.querySelectorAll('.scroll:not(.chosen):not(.longest) table:not(.grants):not(.sites)')) {
      const rows = table.querySelectorAll('tbody tr');
      check(rows.length === charts.policies.length, `${rows.length} rows for ${charts.policies.length} policies`);
    }
    if (charts.to > charts.from) {
      rota.selftest.exports(section, check);
      rota.selftest.charts(section, charts, check);
      rota.selftest.nodes(section, charts, check);
      rota.selftest.load(charts, check);
      rota.selftest.sites({section, charts}, check);
    }
    if (!gantt) continue;
    for (let p = 0; p < charts.drawn; p++) rota.selftest.data(gantt, p, charts, check, near);
    rota.selftest.picture(gantt, check);
    rota.selftest.jobs(gantt, check);
  }
  check(rota.errors.length === 0, `no script errors ${rota.errors.join('; ')}`);
  const list = document.createElement('pre');
  list.id = 'selftest';
  list.textContent = lines.join('\n');
  document.body.append(list);
  document.documentElement.dataset.selftest = failures === 0 ? 'passed' : 'failed';
};

rota.selftest.charts = (section, charts, check) => {
  for (const kind of ['pareto', 'busy', 'waiting', 'shares', 'sizes', 'parties']) {
    const svg = section.querySelector(`[data-chart=${kind}] svg`);
    if (kind === 'parties' && charts.parties.length === 0) {
      check(!section.querySelector('[data-chart=parties]'), 'nobody is compared where nobody is known');
      continue;
    }
    const marks = svg.querySelectorAll('.area, .bar, .spot, .line:not(.front)');
    check(marks.length >= (kind === 'sizes' ? 1 : charts.policies.length), `${kind}: ${marks.length} marks`);
    check(!svg.outerHTML.includes('NaN'), `${kind}: every place is a number`);
    const box = marks[0].getBBox();
    check(box.width > 0 && box.height >= 0, `${kind}: drawn ${box.width} x ${box.height}`);
  }
  const buttons = section.querySelectorAll('.legend button');
  const lines = () => section.querySelectorAll('[data-chart=waiting] .line').length;
  if (buttons.length < 2) return;
  buttons[1].click();
  check(lines() === charts.policies.length - 1, 'a policy can be hidden');
  buttons[1].click();
  check(lines() === charts.policies.length, 'and shown again');
};

// The means of what is drawn over time are those of the table: whatever ran is in use, and waits no more.
rota.selftest.load = (charts, check) => {
  for (const view of [charts].concat(charts.sites.map((site) => ({...charts, ...site})))) {
    for (const {name, busy, waiting, sizes, utilization, meanWait, makespan, unplaced} of view.policies) {
      const near = (a, b, what) => check(Math.abs(a - b) <= 2e-3 * Math.max(1, Math.abs(b)),
                                         `${view.name}, ${name}: ${what} over time: ${a} is ${b}`);
      if (unplaced) continue;
      const length = charts.to - charts.from, ended = d3.sum(sizes, (size) => size.jobs);
      near(d3.mean(busy) * length, utilization * makespan * view.processors, 'processors in use');
      // Of jobs that did not end no wait is in the mean.
      if (ended === charts.jobs) near(d3.mean(waiting) * length, meanWait * ended, 'jobs waiting');
    }
  }
};

// Figures and pictures to take away: the rows have one width, and a picture is one.
rota.selftest.exports = (section, check) => {
  for (const kind of ['pareto', 'busy', 'waiting', 'nodes', 'shares', 'sizes', 'parties', 'gantt']) {
    const figure = section.querySelector(`[data-chart=${kind}]`);
    if (!figure) continue;
    const rows = rota.exports.rowsOf(figure);
    if (!rows) {
      check(kind === 'gantt' || kind === 'nodes', `${kind}: has figures to take away`);
      continue;
    }
    const widths = new Set(rows.map((row) => row.length));
    check(rows.length > 1 && widths.size === 1, `${kind}: ${rows.length} rows of CSV, ${[...widths]} cells each`);
    check(!rota.exports.csv(rows).includes('NaN'), `${kind}: every cell is a number or a name`);
    check(figure.querySelectorAll('.exports button').length === 2, `${kind}: PNG and CSV can be saved`);
  }
};

// What is told of a job is told of the policy that is shown.
rota.selftest.jobs = (gantt, check) => {
  const {charts, figure, status} = gantt;
  const made = d3.range(charts.drawn).map((p) => gantt.made(p));
  const i = d3.range(gantt.shared.n).find((job) => made.every((its) => !Number.isNaN(its.start[job])) &&
      made.some((its) => its.start[job] !== made[0].start[job]));
  gantt.show(0);
  const longest = [...figure.querySelectorAll('.longest tbody tr')];
  const waits = made[0].wait.filter((wait) => !Number.isNaN(wait));
  if (waits.length > 0) {
    const first = longest[0].querySelectorAll('td')[4].textContent;
    check(first === rota.words.duration(d3.max(waits)), `the longest wait is listed: ${first}`);
  }
  if (i === undefined) return;
  gantt.select(i);
  const other = made.findIndex((its) => its.start[i] !== made[0].start[i]);
  const before = status.textContent;
  gantt.show(other);
  check(status.textContent !== before && status.textContent === `${gantt.about(i, other).join(', ')}.`,
        'another policy tells its own story of the job');
  const rows = [...figure.querySelectorAll('.one-job tbody tr')];
  check(rows.length === charts.drawn, `one job under ${rows.length} policies`);
  check(rows.every((row, p) => row.querySelector('td').textContent ===
      rota.words.duration(made[p].wait[i])), 'with what it waited under each');
  gantt.showBeside(0);
  check(!gantt.second.hidden && gantt.besideWork.most === gantt.paintwork.most, 'two policies have one scale of colours');
  gantt.showBeside(-1);
  gantt.select(-1);
  check(figure.querySelector('.chosen').children.length === 0, 'a job that is not chosen is not told');
};

// What is drawn of nodes must come to what the meter says in the table, all nodes at all times.
rota.selftest.nodes = (section, charts, check) => {
  for (const view of [charts].concat(charts.sites.map((site) => ({...charts, ...site})))) {
    for (const {name, states} of view.policies.filter((policy) => policy.states)) {
      const sum = (values) => values.reduce((all, value, i) =>
          all + value * Math.min(states.width, states.length - i * states.width), 0);
      const near = (a, b, what) => check(Math.abs(a - b) <= 1e-3 * Math.max(1, Math.abs(b)),
                                         `${view.name}, ${name}: ${what}: ${a} is ${b}`);
      near(states.uses.reduce((all, use) => all + sum(use), 0), states.nodes * states.length, 'seconds of all nodes');
      if (states.draw) near(sum(states.draw) / 3600, states.energy, 'kilowatt-hours');
    }
  }
  const drawn = charts.policies.filter((policy) => policy.states);
  const svg = section.querySelector('[data-chart=nodes] svg');
  check(Boolean(svg) === drawn.length > 0, `nodes of ${drawn.length} policies are drawn`);
  if (!svg) return;
  check(!svg.outerHTML.includes('NaN'), 'nodes: every place is a number');
  for (const use of ['busy', 'idle', 'booting', 'shutting', 'off']) {
    check(svg.querySelectorAll(`.area.${use}`).length === drawn.length, `nodes: ${use} is drawn for each policy`);
  }
  const {width, height} = svg.querySelector('.area.busy').getBBox();
  check(width > 100 && height > 0, `nodes: drawn ${width} x ${height}`);
};

rota.selftest.sites = ({section, charts}, check) => {
  const buttons = [...section.querySelectorAll('.places button')];
  check(buttons.length === (charts.sites.length > 0 ? charts.sites.length + 1 : 0), `${buttons.length} sites to choose from`);
  if (buttons.length === 0) return;
  const all = section.querySelector('[data-chart=busy] svg').outerHTML;
  charts.sites.forEach((site, s) => {
    buttons[s + 1].click();
    const busy = section.querySelector('[data-chart=busy] svg').outerHTML;
    check(busy !== all && !busy.includes('NaN'), `${site.name} is drawn by itself`);
    const placed = site.policies.filter((policy) => !policy.unplaced).length;
    const drawn = section.querySelectorAll('[data-chart=busy] svg path.area').length;
    check(drawn === placed, `${site.name}: ${drawn} of ${placed} policies whose site is known are drawn`);
    rota.selftest.nodes(section, {...charts, ...site, sites: []}, check);
  });
  const placed = (p) => !charts.sites[0].policies[p].unplaced;
  charts.policies.forEach(({name, busy}, p) => placed(p) && busy.forEach((value, i) => {
    const there = d3.sum(charts.sites, (site) => site.policies[p].busy[i]);
    if (Math.abs(there - value) > 2e-3 * Math.max(1, value)) check(false, `${name}: sites have ${there} of ${value} busy`);
  }));
  buttons[0].click();
  check(section.querySelector('[data-chart=busy] svg').outerHTML === all, 'all sites are drawn together again');
};

rota.selftest.data = (gantt, p, charts, check, near) => {
  const {name, utilization, meanWait, makespan, meanSlowdown} = charts.policies[p];
  gantt.show(p);
  const {made, boxes} = gantt.run();
  let ended = 0, wait = 0, area = 0, slowdown = 0;
  for (let i = 0; i < made.shared.n; i++) {
    if (Number.isNaN(made.start[i])) continue;
    const waited = made.wait[i], run = made.ran[i];
    ended++;
    wait += waited;
    area += run * made.shared.processors[i];
    slowdown += Math.max(1, (waited + run) / Math.max(10, run));
  }
  check(made.rest === 0, `${name}: columns are read to their end`);
  if (ended > 0) {
    near(wait / ended, meanWait, `${name}: mean wait`);
    near(slowdown / ended, meanSlowdown, `${name}: mean bounded slowdown`);
    near(area / makespan / charts.processors, utilization, `${name}: utilization`);
  }
  if (charts.policies[p].recorded) {  // the cluster of a log may have been another one
    rota.selftest.realNodes(gantt, p, check);
    return;
  }
  check(boxes.missing === 0, `${name}: every job has its processors (${boxes.missing} missing)`);
  const until = new Float64Array(charts.processors);
  const width = new Float64Array(made.shared.n);
  let clashes = 0;
  boxes.job.forEach((i, b) => {
    for (let q = boxes.from[b]; q < boxes.to[b]; q++) {
      if (until[q] > made.start[i]) clashes++;
      until[q] = made.end[i];
    }
    width[i] += boxes.to[b] - boxes.from[b];
  });
  check(clashes === 0, `${name}: no two jobs on one processor (${clashes} clashes)`);
  const starts = gantt.starts(p);
  if (starts) check(starts.rest === 0, `${name}: why jobs started is read to its end`);
  const muddled = starts ? d3.range(made.shared.n).find((i) => {
    const why = rota.whyStarted(starts, i), lacks = starts.lacked(i);
    return why.includes('undefined') || (lacks && !why.endsWith(`leaves over, which needs ${lacks}`));
  }) : undefined;
  check(muddled === undefined, `${name}: what was lacked is told as it was: ${muddled}`);
  const whole = width.every((w, i) => Number.isNaN(made.start[i]) || w === made.shared.processors[i]);
  check(whole, `${name}: each job is drawn as wide as it is`);
};

// Where a log tells on which nodes jobs ran, they are drawn on no others.
rota.selftest.realNodes = (gantt, p, check) => {
  const places = gantt.nodePlaces(p);
  if (!places) return;
  const {boxes} = gantt.run(p);
  const from = d3.cumsum([0, ...places.sizes]);
  const astray = d3.range(boxes.job.length).filter((b) => {
    const i = boxes.job[b], nodes = [...places.node.subarray(places.first[i], places.first[i + 1])];
    const touched = d3.range(places.sizes.length).filter((node) => boxes.from[b] < from[node + 1] && boxes.to[b] > from[node]);
    return nodes.length > 0 && !touched.every((node) => nodes.includes(node));
  });
  const known = d3.range(gantt.shared.n).filter((i) => places.first[i + 1] > places.first[i]).length;
  const width = new Float64Array(gantt.shared.n);
  boxes.job.forEach((i, b) => width[i] += boxes.to[b] - boxes.from[b]);
  const held = (i) => d3.sum(places.held.subarray(places.first[i], places.first[i + 1]));
  const narrow = d3.range(gantt.shared.n).filter((i) => width[i] !== held(i));
  check(narrow.length === 0, `each job is as wide as it is known where it ran (${narrow.length} are not)`);
  check(boxes.onNodes && astray.length === 0, `${known} jobs are drawn on the nodes on which they really ran (${astray.length} astray)`);
};

rota.selftest.picture = (gantt, check) => {
  const {canvas} = gantt;
  const pixels = () => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const shades = (data) => {
    const seen = new Set();
    for (let at = 0; at < data.length; at += 4 * 97) seen.add(data[at] << 16 | data[at + 1] << 8 | data[at + 2]);
    return seen.size;
  };
  const differing = (a, b) => {
    let n = 0;
    for (let at = 0; at < a.length; at += 4) n += a[at] !== b[at] || a[at + 1] !== b[at + 1] ? 1 : 0;
    return n;
  };
  const drawn = () => { gantt.draw(); return pixels(); };
  gantt.press('all');
  const began = performance.now();
  const all = drawn();
  document.documentElement.dataset.drawMs = Math.round(performance.now() - began);
  check(shades(all) > 3, `the whole picture has ${shades(all)} shades`);
  const {made} = gantt.run();
  const i = made.start.findIndex((start) => !Number.isNaN(start));
  if (i < 0) return;
  gantt.find(String(made.shared.number[i]));
  const near = drawn();
  check(canvas.dataset.single === 'true', `near job ${made.shared.number[i]} single boxes are drawn`);
  check(gantt.status.textContent.startsWith(`Job ${made.shared.number[i]}`), 'its story is told');
  const zoomed = gantt.view.t1 - gantt.view.t0 < gantt.whole.t1;
  if (zoomed) check(differing(all, near) > 100, 'zooming in changes the picture');
  rota.selftest.hands(gantt, made, i, check);
  gantt.find('no such job');
  check(gantt.status.textContent.startsWith('There is no job'), 'a job that is not there is told');
  gantt.select(-1);
  gantt.press('all');
  check(differing(all, drawn()) === 0, 'zooming out brings the same picture back');
};

// Keys and pointer, as a person would use them.
rota.selftest.hands = (gantt, made, i, check) => {
  const place = rota.picture.layout(gantt.width, gantt.height);
  const at = rota.picture.scales(place, gantt.view);
  const box = gantt.canvas.getBoundingClientRect();
  const {boxes} = gantt.run();
  const b = boxes.first[i];
  const t = (Math.max(made.start[i], gantt.view.t0) + Math.min(made.end[i], gantt.view.t1)) / 2;
  const point = {clientX: box.left + at.x(t) * box.width / gantt.width,
                 clientY: box.top + at.y((boxes.from[b] + boxes.to[b]) / 2) * box.height / gantt.height};
  gantt.canvas.dispatchEvent(new PointerEvent('pointermove', point));
  const tip = document.getElementById('tip');
  const named = tip.textContent.startsWith(`Job ${made.shared.number[i]}`);
  check(!tip.hidden && named, `pointing tells: ${tip.textContent}`);
  gantt.canvas.dispatchEvent(new PointerEvent('pointerleave'));
  const press = (key) => gantt.canvas.dispatchEvent(new KeyboardEvent('keydown', {key, cancelable: true}));
  const width = gantt.view.t1 - gantt.view.t0;
  press('-');
  check(gantt.view.t1 - gantt.view.t0 > width || width === gantt.whole.t1, 'the key - zooms out');
  press('0');
  check(gantt.view.t1 - gantt.view.t0 === gantt.whole.t1, 'the key 0 shows everything');
  press('+');
  const from = gantt.view.t0;
  press('ArrowRight');
  check(gantt.view.t0 > from || gantt.whole.t1 <= 10, 'an arrow key moves');
};
