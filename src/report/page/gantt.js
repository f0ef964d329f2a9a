// The picture of every job as something to explore: pointer, wheel, keys, and finding a job by its number.
rota.gantt = (() => {
  const kLeastSeconds = 10;   // that the view may show
  const kLeastProcessors = 4;
  const {duration, grouped, clock} = rota.words;

  class Gantt {
    constructor(section, index, charts) {
      this.figure = section.querySelector('[data-chart=gantt]');
      this.canvas = this.figure.querySelector('canvas');
      this.status = this.figure.querySelector('.status');
      this.index = index;
      this.charts = charts;
      this.words = clock(charts);
      this.runs = new Map();  // by policy: what became of each job, and where it is drawn
      this.shared = rota.sharedJobs(index, charts);
      this.policy = d3.scan(charts.policies.slice(0, charts.drawn), (a, b) => a.meanWait - b.meanWait);
      this.meaning = 'wait';
      this.selected = -1;  // job that was clicked or found
      this.hovered = -1;
      this.whole = {t0: 0, t1: Math.max(kLeastSeconds, charts.to - charts.from), p0: 0, p1: charts.processors};
      this.view = {...this.whole};
      this.fillControls();
      this.listen();
      this.resize();
    }

    fillControls() {
      const select = this.figure.querySelector('.policy');
      this.charts.policies.slice(0, this.charts.drawn).forEach((policy, p) => select.add(new Option(policy.name, p)));
      select.value = this.policy;
      const colour = this.figure.querySelector('.colour');
      for (const [key, {name}] of Object.entries(rota.picture.meanings)) colour.add(new Option(name, key));
    }

    run() {
      if (!this.runs.has(this.policy)) {
        const made = rota.outcome(this.index, this.policy, this.charts, this.shared);
        this.runs.set(this.policy, {made, boxes: rota.lanes.place(made, this.charts.processors, this.charts.unit)});
      }
      return this.runs.get(this.policy);
    }

    listen() {
      const on = (selector, event, act) => this.figure.querySelector(selector).addEventListener(event, act);
      on('.policy', 'change', (e) => this.show(Number(e.target.value)));
      on('.colour', 'change', (e) => { this.meaning = e.target.value; this.repaint(); });
      on('.buttons', 'click', (e) => this.press(e.target.dataset.do));
      on('.find', 'submit', (e) => { e.preventDefault(); this.find(e.target.querySelector('input').value); });
      this.canvas.addEventListener('keydown', (e) => this.key(e));
      this.canvas.addEventListener('wheel', (e) => this.wheel(e), {passive: false});
      this.canvas.addEventListener('pointerdown', (e) => this.grab(e));
      this.canvas.addEventListener('pointermove', (e) => this.point(e));
      this.canvas.addEventListener('pointerup', (e) => this.drop(e));
      this.canvas.addEventListener('pointercancel', () => { this.held = null; });
      this.canvas.addEventListener('pointerleave', () => this.hover(-1));
      this.canvas.addEventListener('dblclick', (e) => this.zoom(4, 4, this.under(e)));
    }

    resize() {
      const ratio = window.devicePixelRatio || 1;
      this.width = Math.max(320, this.canvas.parentElement.clientWidth);
      this.height = Math.max(380, Math.min(620, Math.round(this.width * 0.52)));
      this.canvas.width = this.width * ratio;
      this.canvas.height = this.height * ratio;
      this.canvas.style.height = `${this.height}px`;
      this.repaint();
    }

    show(policy) {
      if (!(policy >= 0 && policy < this.charts.drawn)) return;
      this.policy = policy;
      this.figure.querySelector('.policy').value = policy;
      this.repaint();
    }

    // After a change of what the colours mean, of the policy or of light and dark.
    repaint() {
      const {made} = this.run();
      this.look = rota.picture.theme();
      this.paintwork = rota.picture.paint(made, this.meaning, this.look);
      this.explainColours();
      this.draw();
    }

    explainColours() {
      const ramp = this.figure.querySelector('.ramp');
      const {least, most, words} = this.paintwork;
      const patch = (colour, text) => {
        const span = document.createElement('span');
        span.style.setProperty('--patch', colour);
        span.className = 'patch';
        span.textContent = text;
        return span;
      };
      if (words) {
        ramp.replaceChildren(`≤ ${words(least)}`, patch(`linear-gradient(90deg, ${this.look.ramp.join(', ')})`, ''),
                             words(most));
        ramp.firstChild.nextSibling.classList.add('wide');
      } else if (this.meaning === 'backfill') {
        ramp.replaceChildren(patch(this.look.inOrder, 'in order'), patch(this.look.backfilled, 'backfilled'));
      } else {
        ramp.replaceChildren('each user has a colour');
      }
    }

    draw() {
      const {made, boxes} = this.run();
      const context = this.canvas.getContext('2d');
      const ratio = window.devicePixelRatio || 1;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      const drawn = rota.picture.draw(context, {charts: this.charts, made, boxes, view: this.view, look: this.look,
                                                paintwork: this.paintwork, marked: [this.selected, this.hovered],
                                                width: this.width, height: this.height});
      this.describe(drawn);
      return drawn;
    }

    // Drawing follows the last of many quick changes.
    later() {
      if (this.waiting) return;
      this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.draw(); this.remember(); });
    }

    // The address leads back to this view, so that it can be kept and passed on.
    remember() {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => {
        const {t0, t1, p0, p1} = this.view;
        const view = [t0, t1, p0, p1].map((value) => Math.round(value * 1000) / 1000);
        history.replaceState(null, '', `#view=${[this.index, this.policy, ...view].join(',')}`);
      }, 300);
    }

    describe({boxes, single}) {
      const {t0, t1, p0, p1} = this.view;
      const name = this.charts.policies[this.policy].name;
      this.canvas.dataset.single = single;
      this.canvas.dataset.boxes = boxes;
      this.canvas.setAttribute('role', 'application');
      this.canvas.setAttribute('aria-label', `Every job under ${name}, from ${this.words.moment(t0)} to ` +
          `${this.words.moment(t1)}, processors ${grouped(Math.floor(p0))} to ${grouped(Math.ceil(p1))}. ` +
          'Arrow keys move, plus and minus zoom, 0 shows everything.');
      if (this.selected >= 0) return;
      this.status.textContent = `${this.words.moment(t0)} to ${this.words.moment(t1)}: ` +
          (single ? `${grouped(boxes)} boxes, drawn one by one.` : 'many jobs, drawn as how full each spot is.');
    }

    // Sets the view, kept inside the whole.
    look_at({t0, t1, p0, p1}) {
      const fit = (from, to, most, least) => {
        const size = Math.min(most, Math.max(Math.min(least, most), to - from));
        const start = Math.min(most - size, Math.max(0, (from + to) / 2 - size / 2));
        return [start, start + size];
      };
      [this.view.t0, this.view.t1] = fit(t0, t1, this.whole.t1, kLeastSeconds);
      [this.view.p0, this.view.p1] = fit(p0, p1, this.whole.p1, kLeastProcessors);
      this.later();
    }

    // Zooms by these factors around a point {t, p}, or the middle.
    zoom(byTime, byProcessors, at) {
      const {t0, t1, p0, p1} = this.view;
      const {t, p} = at || {t: (t0 + t1) / 2, p: (p0 + p1) / 2};
      this.look_at({t0: t - (t - t0) / byTime, t1: t + (t1 - t) / byTime,
                    p0: p - (p - p0) / byProcessors, p1: p + (p1 - p) / byProcessors});
    }

    move(byTime, byProcessors) {
      const {t0, t1, p0, p1} = this.view;
      const dt = byTime * (t1 - t0), dp = byProcessors * (p1 - p0);
      const inside = (d, from, to, most) => Math.min(most - to, Math.max(-from, d));
      const it = inside(dt, t0, t1, this.whole.t1), ip = inside(dp, p0, p1, this.whole.p1);
      this.look_at({t0: t0 + it, t1: t1 + it, p0: p0 + ip, p1: p1 + ip});
    }

    press(what) {
      if (what === 'in') this.zoom(2, 2);
      if (what === 'out') this.zoom(0.5, 0.5);
      if (what === 'all') this.look_at(this.whole);
    }

    key(event) {
      const acts = {ArrowLeft: () => this.move(-0.2, 0), ArrowRight: () => this.move(0.2, 0),
                    ArrowUp: () => this.move(0, 0.2), ArrowDown: () => this.move(0, -0.2),
                    '+': () => this.press('in'), '=': () => this.press('in'), '-': () => this.press('out'),
                    '0': () => this.press('all'), Home: () => this.press('all'), Escape: () => this.select(-1)};
      if (!acts[event.key] || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      acts[event.key]();
    }

    wheel(event) {
      if (document.activeElement !== this.canvas && !event.ctrlKey) return;
      event.preventDefault();
      const amount = event.deltaY || event.deltaX;  // Shift turns the wheel sideways in some browsers
      const by = Math.exp(-amount * (event.deltaMode === 1 ? 0.06 : 0.002));
      this.zoom(event.altKey ? 1 : by, event.shiftKey ? 1 : by, this.under(event));
    }

    // The moment and processor under the pointer.
    under(event) {
      const box = this.canvas.getBoundingClientRect();
      const place = rota.picture.layout(this.width, this.height);
      const at = rota.picture.scales(place, this.view);
      const x = (event.clientX - box.left) * this.width / box.width;
      const y = (event.clientY - box.top) * this.height / box.height;
      const inside = x >= place.left && x <= this.width && y >= place.top && y <= place.bottom;
      return {t: at.t(x), p: at.p(y), inside};
    }

    jobUnder(event) {
      const {t, p, inside} = this.under(event);
      if (!inside) return -1;
      const {made, boxes} = this.run();
      const box = rota.lanes.boxAt(boxes, made, t, p);
      return box < 0 ? -1 : boxes.job[box];
    }

    hover(i, event) {
      if (i < 0) document.getElementById('tip').hidden = true;
      if (i >= 0) rota.showTip(event, this.about(i));
      if (i !== this.hovered && this.canvas.dataset.single === 'true') this.later();
      this.hovered = i;
    }

    grab(event) {
      this.held = {x: event.clientX, y: event.clientY, moved: false};
      if (this.canvas.setPointerCapture && event.isTrusted) this.canvas.setPointerCapture(event.pointerId);
    }

    point(event) {
      if (!this.held) {
        this.hover(this.jobUnder(event), event);
        return;
      }
      const dx = event.clientX - this.held.x, dy = event.clientY - this.held.y;
      if (!this.held.moved && Math.hypot(dx, dy) < 4) return;
      const place = rota.picture.layout(this.width, this.height);
      document.getElementById('tip').hidden = true;
      this.held = {x: event.clientX, y: event.clientY, moved: true};
      this.move(-dx / place.plotWidth, dy / place.plotHeight);
    }

    drop(event) {
      const clicked = this.held && !this.held.moved;
      this.held = null;
      if (clicked) this.select(this.jobUnder(event));
    }

    // What there is to say about job i, line by line.
    about(i) {
      const {made} = this.run();
      const {shared} = this;
      const run = made.end[i] - made.start[i];
      const lines = [`Job ${shared.number[i]}${shared.user[i] >= 0 ? ` of user ${shared.user[i]}` : ''}`,
                     `submitted ${this.words.moment(shared.submit[i])}`,
                     `waited ${duration(made.start[i] - shared.submit[i])}`,
                     `started ${this.words.moment(made.start[i])}${made.backfilled[i] ? ', backfilled' : ''}`,
                     `ran ${duration(run)} of ${duration(shared.limit[i])} asked, ${rota.kStates[made.state[i]]}`,
                     `on ${grouped(shared.processors[i])} processor${shared.processors[i] === 1 ? '' : 's'}`];
      const late = made.start[i] - made.promise[i];
      if (!Number.isNaN(late)) {
        lines.push(late > 0 ? `${duration(late)} later than first promised` :
                   late < 0 ? `${duration(-late)} earlier than first promised` : 'at the moment first promised');
      }
      const kills = made.kills[i];
      if (kills > 0) lines.push(`after having been killed ${kills === 1 ? 'once' : `${grouped(kills)} times`}`);
      return lines;
    }

    select(i) {
      this.selected = i;
      if (i >= 0) this.status.textContent = `${this.about(i).join(', ')}.`;
      this.later();
    }

    // Shows the job with this number in the middle of the picture.
    find(text) {
      const i = this.shared.number.indexOf(Number(text.trim() || NaN));
      const {made, boxes} = this.run();
      if (i < 0 || Number.isNaN(made.start[i])) {
        this.status.textContent = i < 0 ? `There is no job ${text}.` :
            `Job ${text} did not run: ${rota.kStates[made.state[i]]}.`;
        return;
      }
      const run = made.end[i] - made.start[i];
      const box = boxes.first[i];
      const margin = Math.max(kLeastProcessors, boxes.to[box] - boxes.from[box]);
      this.look_at({t0: made.start[i] - run, t1: made.end[i] + run, p0: boxes.from[box] - margin,
                    p1: boxes.to[box] + margin});
      this.select(i);
    }
  }

  return (section, index, charts) => new Gantt(section, index, charts);
})();
