// The picture of every job as something to explore: pointer, wheel, keys, and finding a job by its number.
rota.gantt = (() => {
  const kLeastSeconds = 10;   // that the view may show
  const kLeastProcessors = 4;
  const {duration, grouped, clock} = rota.words;

  class Gantt {
    constructor(section, index, charts) {
      this.figure = section.querySelector('[data-chart=gantt]');
      this.canvas = this.figure.querySelector('canvas');
      this.second = this.figure.querySelector('canvas.second');  // another policy, over the same time
      this.beside = -1;  // which; -1: none
      this.status = this.figure.querySelector('.status');
      this.index = index;
      this.charts = charts;
      this.words = clock(charts);
      this.runs = new Map();  // by policy: what became of each job, and where it is drawn
      this.shared = rota.sharedJobs(index, charts);
      this.places = new Map();
      this.policy = charts.chosen >= 0 && charts.chosen < charts.drawn ? charts.chosen : 0;
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
      const beside = this.figure.querySelector('.second-policy');
      beside.add(new Option('no other', -1));
      this.charts.policies.slice(0, this.charts.drawn).forEach((policy, p) => beside.add(new Option(policy.name, p)));
      beside.parentElement.hidden = this.charts.drawn < 2;
      const colour = this.figure.querySelector('.colour');
      for (const [key, {name}] of Object.entries(rota.picture.meanings)) colour.add(new Option(name, key));
    }

    // What became of each job under a policy, without the work of placing them.
    made(policy) {
      if (!this.runs.has(policy)) {
        this.runs.set(policy, {made: rota.outcome(this.index, policy, this.charts, this.shared), boxes: null});
      }
      return this.runs.get(policy).made;
    }

    run(policy = this.policy) {
      const made = this.made(policy);
      const run = this.runs.get(policy);
      run.boxes = run.boxes || rota.lanes.place(made, this.charts.processors, this.charts.unit, this.nodePlaces(policy));
      return run;
    }

    // Why jobs started and on which nodes; null where that is not known.
    starts(policy) {
      if (!this.places.has(policy)) {
        this.places.set(policy, rota.starts(this.index, policy, this.charts, this.shared));
      }
      return this.places.get(policy);
    }

    // Where each job ran, for the picture; null: the picture chooses.
    nodePlaces(policy) {
      const starts = this.starts(policy);
      const total = d3.sum(this.charts.nodes, ([, processors]) => processors);
      if (!starts || starts.node.length === 0 || total !== this.charts.processors) return null;
      return {...starts, sizes: this.charts.nodes.map(([, processors]) => processors)};
    }

    nodesOf(policy, i) {
      const starts = this.starts(policy);
      if (!starts || starts.first[i + 1] === starts.first[i]) return '';
      const names = [...starts.node.subarray(starts.first[i], starts.first[i + 1])].sort((a, b) => a - b)
          .map((node) => this.charts.nodes[node][0]);
      return names.length > 6 ? `${names.slice(0, 5).join(' ')} and ${names.length - 5} more` : names.join(' ');
    }

    // What the node at this height of the picture is called.
    nodeAt(p) {
      let from = 0;
      for (const [name, processors] of this.charts.nodes) {
        if (p < from + processors) return name;
        from += processors;
      }
      return '';
    }

    listen() {
      const on = (selector, event, act) => this.figure.querySelector(selector).addEventListener(event, act);
      on('.policy', 'change', (e) => this.show(Number(e.target.value)));
      on('.second-policy', 'change', (e) => this.showBeside(Number(e.target.value)));
      on('.colour', 'change', (e) => this.colourBy(e.target.value));
      on('.buttons', 'click', (e) => this.press(e.target.dataset.do));
      on('.find', 'submit', (e) => { e.preventDefault(); this.find(e.target.querySelector('input').value); });
      on('.longest', 'click', (e) => { if (e.target.dataset.job) this.show_job(Number(e.target.dataset.job)); });
      for (const canvas of [this.canvas, this.second]) {
        canvas.addEventListener('keydown', (e) => this.key(e));
        canvas.addEventListener('wheel', (e) => this.wheel(e), {passive: false});
        canvas.addEventListener('pointerdown', (e) => this.grab(e));
        canvas.addEventListener('pointermove', (e) => this.point(e));
        canvas.addEventListener('pointerup', (e) => this.drop(e));
        canvas.addEventListener('pointercancel', () => { this.held = null; });
        canvas.addEventListener('pointerleave', () => this.hover(-1));
        canvas.addEventListener('dblclick', (e) => this.zoom(4, 4, this.under(e)));
      }
    }

    resize() {
      const ratio = window.devicePixelRatio || 1;
      this.width = Math.max(320, this.canvas.parentElement.clientWidth);
      this.height = Math.max(380, Math.min(620, Math.round(this.width * 0.52)));
      for (const canvas of [this.canvas, this.second]) {
        canvas.width = this.width * ratio;
        canvas.height = this.height * ratio;
        canvas.style.height = `${this.height}px`;
      }
      this.repaint();
    }

    show(policy) {
      if (!(policy >= 0 && policy < this.charts.drawn)) return;
      this.policy = policy;
      this.figure.querySelector('.policy').value = policy;
      this.repaint();
      this.remember();
    }

    showBeside(policy) {
      if (!(policy >= -1 && policy < this.charts.drawn)) return;
      this.beside = policy;
      this.figure.querySelector('.second-policy').value = policy;
      rota.state.set('beside', policy >= 0 ? policy : null);
      this.repaint();
    }

    colourBy(meaning) {
      if (!rota.picture.meanings[meaning]) return;
      this.meaning = meaning;
      this.figure.querySelector('.colour').value = meaning;
      rota.state.set('colour', meaning === 'wait' ? null : meaning);
      this.repaint();
    }

    // After a change of what the colours mean, of the policy or of light and dark.
    repaint() {
      const {made} = this.run();
      this.look = rota.picture.theme();
      this.paintwork = rota.picture.paint(made, this.meaning, this.look);
      this.second.hidden = this.beside < 0;
      if (this.beside >= 0) {  // one scale of colours for both
        const other = this.run(this.beside).made;
        this.besideWork = rota.picture.paint(other, this.meaning, this.look, this.paintwork.most);
        this.paintwork = rota.picture.paint(made, this.meaning, this.look, this.besideWork.most);
      }
      this.figure.querySelector('.longest').replaceChildren(rota.jobTables.longest(this));
      this.explainColours();
      this.tellSelected();
      this.draw();
    }

    // Of the policy that is shown now, whichever it was when the job was chosen.
    tellSelected() {
      const place = this.figure.querySelector('.chosen');
      place.replaceChildren(...(this.selected >= 0 ? [rota.jobTables.one(this, this.selected)] : []));
      if (this.selected >= 0) this.status.textContent = `${this.about(this.selected).join(', ')}.`;
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
      const drawn = this.drawOn(this.canvas, this.policy, this.paintwork);
      if (this.beside >= 0) this.drawOn(this.second, this.beside, this.besideWork);
      this.describe(drawn);
      return drawn;
    }

    drawOn(canvas, policy, paintwork) {
      const {made, boxes} = this.run(policy);
      const context = canvas.getContext('2d');
      const ratio = window.devicePixelRatio || 1;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      const title = this.charts.drawn < 2 ? '' : `${rota.words.letter(policy)}  ${this.charts.policies[policy].name}`;
      return rota.picture.draw(context, {charts: this.charts, made, boxes, view: this.view, look: this.look, paintwork,
                                         title, nodes: boxes.onNodes ? this.charts.nodes : [],
                                         marked: [this.selected, this.hovered], width: this.width,
                                         height: this.height});
    }

    // Drawing follows the last of many quick changes.
    later() {
      if (this.waiting) return;
      this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.draw(); this.remember(); });
    }

    // The address leads back to this view, so that it can be kept and passed on.
    remember() {
      const {t0, t1, p0, p1} = this.view;
      const view = [t0, t1, p0, p1].map((value) => Math.round(value * 1000) / 1000);
      rota.state.set('view', [this.index, this.policy, ...view].join(','));
    }

    describe({boxes, single}) {
      const {t0, t1, p0, p1} = this.view;
      const name = this.charts.policies[this.policy].name;
      this.canvas.dataset.single = single;
      this.canvas.dataset.boxes = boxes;
      this.canvas.parentElement.csv = () => this.csv();
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
      const canvas = event.target === this.second ? this.second : this.canvas;
      const box = canvas.getBoundingClientRect();
      const place = rota.picture.layout(this.width, this.height);
      const at = rota.picture.scales(place, this.view);
      const x = (event.clientX - box.left) * this.width / box.width;
      const y = (event.clientY - box.top) * this.height / box.height;
      const inside = x >= place.left && x <= this.width && y >= place.top && y <= place.bottom;
      return {t: at.t(x), p: at.p(y), inside, policy: canvas === this.second ? this.beside : this.policy};
    }

    jobUnder(event) {
      const {t, p, inside, policy} = this.under(event);
      if (!inside) return -1;
      const {made, boxes} = this.run(policy);
      const box = rota.lanes.boxAt(boxes, made, t, p);
      return box < 0 ? -1 : boxes.job[box];
    }

    hover(i, event) {
      if (i < 0) document.getElementById('tip').hidden = true;
      if (i >= 0) rota.showTip(event, this.about(i, event.target === this.second ? this.beside : this.policy));
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
    about(i, policy = this.policy) {
      const {made} = this.run(policy);
      const {shared} = this;
      if (Number.isNaN(made.start[i])) {
        return [`Job ${shared.number[i]}`, `${rota.whyNotDrawn(this.charts, policy, made.state[i])}, under ` +
                this.charts.policies[policy].name];
      }
      const nodes = this.nodesOf(policy, i), why = rota.whyStarted(this.starts(policy), i);
      const lines = [`Job ${shared.number[i]}${shared.user[i] >= 0 ? ` of ${rota.userName(this.charts, shared.user[i])}` : ''}`,
                     `submitted ${this.words.moment(shared.submit[i])}`,
                     `waited ${duration(made.wait[i])}`,
                     `started ${this.words.moment(made.start[i])}${made.backfilled[i] ? ', backfilled' : ''}`,
                     `ran ${duration(made.ran[i])}, limit ${rota.words.limit(shared.limit[i])}, ${rota.kStates[made.state[i]]}`,
                     `on ${grouped(shared.processors[i])} processor${shared.processors[i] === 1 ? '' : 's'}`];
      const late = made.start[i] - made.promise[i];
      if (!Number.isNaN(late)) {
        lines.push(late > 0 ? `${duration(late)} later than first promised` :
                   late < 0 ? `${duration(-late)} earlier than first promised` : 'at the moment first promised');
      }
      if (nodes) lines.push(`nodes ${nodes}`);
      if (why) lines.push(why);
      const kills = made.kills[i];
      if (kills > 0) lines.push(`after having been killed ${kills === 1 ? 'once' : `${grouped(kills)} times`}`);
      return lines;
    }

    select(i) {
      this.selected = i;
      this.tellSelected();
      rota.state.set('job', i >= 0 ? this.shared.number[i] : null);
      this.later();
    }

    // The jobs in view, for other programs.
    csv() {
      const {t0, t1} = this.view;
      const policies = [this.policy].concat(this.beside >= 0 ? [this.beside] : []);
      const rows = [['policy', 'job', 'user', 'processors', 'submit (s)', 'start (s)', 'end (s)', 'backfilled', 'nodes']];
      const from = this.charts.from;
      for (const p of policies) {
        const {made} = this.run(p);
        for (let i = 0; i < this.shared.n; i++) {
          if (!(made.start[i] < t1 && made.end[i] > t0)) continue;
          rows.push([this.charts.policies[p].name, this.shared.number[i], this.shared.user[i] < 0 ? '' : this.charts.users[this.shared.user[i]] || this.shared.user[i],
                     this.shared.processors[i], from + this.shared.submit[i], from + made.start[i], from + made.end[i],
                     made.backfilled[i], this.nodesOf(p, i)]);
        }
      }
      return rows;
    }

    // Shows the job with this number in the middle of the picture.
    find(text) {
      const i = this.shared.number.indexOf(Number(text.trim() || NaN));
      const {made} = this.run();
      if (i < 0 || Number.isNaN(made.start[i])) {
        this.status.textContent = i < 0 ? `There is no job ${text}.` :
            `Job ${text}: ${rota.whyNotDrawn(this.charts, this.policy, made.state[i])}.`;
        return;
      }
      this.show_job(i);
    }

    show_job(i) {
      const {made, boxes} = this.run();
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
