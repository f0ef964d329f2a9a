// Brings the page to life: charts first, then the picture of every job, which takes longest.
rota.start = () => {
  rota.sections = [...document.querySelectorAll('.workload')].map((section) => {
    const index = Number(section.dataset.workload);
    const charts = rota.charts(index);
    const its = {section, index, charts, seen: charts, shown: charts.policies.map((policy, p) => p), gantt: null};
    if (charts.to <= charts.from) {
      section.querySelector('.charts').remove();
    } else {
      its.shown = rota.shownAtFirst(index, its.shown);
      rota.legend(its);
      rota.siteButtons(its);
      rota.drawCharts(section, charts, its.shown);
      const kind = section.querySelector('.kind');
      if (kind) kind.addEventListener('change', () => { rota.state.set('by', kind.value); rota.redraw(its); });
    }
    return its;
  });
};

rota.redraw = ({section, seen, shown}) => rota.drawCharts(section, seen, shown);

// Policies that the address hides: "hidden=WORKLOAD.POLICY,..."
rota.shownAtFirst = (index, all) => {
  const hidden = (rota.state.get('hidden') || '').split(',');
  const shown = all.filter((p) => !hidden.includes(`${index}.${p}`));
  return shown.length > 0 ? shown : all;
};

rota.rememberHidden = () => {
  const hidden = rota.sections.flatMap(({index, charts, shown}) =>
      charts.policies.map((policy, p) => p).filter((p) => !shown.includes(p)).map((p) => `${index}.${p}`));
  rota.state.set('hidden', hidden.join(','));
};

rota.startGantts = () => {
  for (const its of rota.sections.filter(({charts}) => charts.to > charts.from)) {
    if (its.charts.drawn > 0) {
      its.gantt = rota.gantt(its.section, its.index, its.charts);
    } else {
      rota.withoutGantt(its.section, its.charts);
    }
  }
  rota.openAt();
  rota.sections.forEach(({section}) => rota.exports.offer(section));
  rota.follow();
  document.documentElement.dataset.readyMs = Math.round(performance.now());
};

// Draws everything again where the window, its colours or the paper call for it.
rota.follow = () => {
  const kQuiet = 120;  // milliseconds without a change before a new width is taken
  const redraw = () => rota.sections.forEach(({section, charts, seen, shown, gantt}) => {
    if (charts.to > charts.from) rota.drawCharts(section, seen, shown);
    if (gantt) gantt.resize();
  });
  const printing = (yes) => () => {
    document.documentElement.classList.toggle('printing', yes);  // paper is light
    redraw();
  };
  let width = window.innerWidth;
  let timer = 0;
  window.addEventListener('resize', () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(timer);
    timer = setTimeout(redraw, kQuiet);
  });
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  window.addEventListener('beforeprint', printing(true));
  window.addEventListener('afterprint', printing(false));
};

// A button for each policy, which takes it out of the charts and back in.
rota.legend = (its) => {
  const legend = its.section.querySelector('.legend');
  its.charts.policies.forEach(({name}, p) => {
    const button = document.createElement('button');
    const swatch = document.createElement('span');
    swatch.className = `swatch p${p % 8}`;
    swatch.textContent = rota.words.letter(p);
    button.type = 'button';
    button.append(swatch, name);
    button.setAttribute('aria-pressed', String(its.shown.includes(p)));
    button.addEventListener('click', () => {
      const shown = its.charts.policies.map((policy, q) => q).filter((q) => its.shown.includes(q) !== (q === p));
      if (shown.length === 0) return;  // an empty chart says nothing
      its.shown = shown;
      button.setAttribute('aria-pressed', String(shown.includes(p)));
      rota.redraw(its);
      rota.rememberHidden();
    });
    legend.append(button);
  });
  legend.hidden = its.charts.policies.length < 2;
};

// One of several sites is drawn as a cluster of its own, over the same time; at first all of them together are.
rota.siteButtons = (its) => {
  const places = its.section.querySelector('.places');
  if (!places) return;
  const views = [its.charts].concat(its.charts.sites.map((site) => ({...its.charts, ...site})));
  const note = document.createElement('span');
  note.className = 'unit';
  note.textContent = 'Where jobs really ran the log does not tell: that row is left out here.';
  note.hidden = true;
  const buttons = views.map((view, i) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = i === 0 ? 'All sites' : view.name;
    button.addEventListener('click', () => {
      its.seen = view;
      buttons.forEach((other) => other.setAttribute('aria-pressed', String(other === button)));
      rota.state.set('site', i > 0 ? i : null);
      note.hidden = !view.policies.some((policy) => policy.unplaced);
      rota.redraw(its);
    });
    button.setAttribute('aria-pressed', String(i === 0));
    return button;
  });
  places.append(...buttons, note);
  const wanted = Number(rota.state.get('site'));
  if (buttons[wanted] && wanted > 0) buttons[wanted].click();
};

rota.withoutGantt = (section, charts) => {
  const figure = section.querySelector('[data-chart=gantt]');
  const words = document.createElement('p');
  words.className = 'look';
  words.textContent = `${rota.words.grouped(charts.jobs)} jobs are too many to draw one by one in a page. ` +
      'Rehearse a part of the workload to see them.';
  figure.replaceChildren(figure.querySelector('h3'), words);
};

// What the address says of the pictures of jobs (page/state.js).
rota.openAt = () => {
  const view = rota.state.get('view');
  const [index, policy, t0, t1, p0, p1] = (view || '0').split(',').map(Number);
  const its = rota.sections[index];
  if (!its || !its.gantt) return;
  const {gantt} = its;
  const beside = Number(rota.state.get('beside') || -1), job = rota.state.get('job');
  if (rota.state.get('colour')) gantt.colourBy(rota.state.get('colour'));
  if (beside >= 0) gantt.showBeside(beside);
  if (view && [policy, t0, t1, p0, p1].every(Number.isFinite)) {
    gantt.show(policy);
    gantt.look_at({t0, t1, p0, p1});
    gantt.figure.scrollIntoView();
  }
  if (job) gantt.select(gantt.shared.number.indexOf(Number(job)));
};

rota.start();
if (location.hash === '#selftest') {
  rota.startGantts();
  rota.selftest();
} else {
  setTimeout(rota.startGantts, 0);  // what is drawn so far can be read meanwhile
}
