// What ran, what runs, and what is planned: the report's picture of jobs, over a window of time that moves with now.
rota.chart = (() => {
  const {picture, lanes, text} = rota;
  const {duration, grouped, clock} = rota.words;
  const kSpans = [900, 3600, 6 * 3600, 86400, 7 * 86400];
  const kPast = 0.6;          // of the window lies before now
  const kForever = 1e8;       // seconds: a box without a limit ends out of sight
  const kNamed = 5;           // reservations in the sentence below the picture
  const kKinds = ['ran', 'failed', 'cancelled', 'runs', 'planned'];

  function kindOf(job) {
    if (job.state === 'COMPLETED') return 'ran';
    if (job.state === 'CANCELLED') return 'cancelled';
    if (text.ended(job)) return 'failed';
    return text.waits(job) ? 'planned' : 'runs';
  }

  const startOf = (job) => job.start ?? job.expected_start ?? job.starts_by ?? NaN;

  function endOf(job, now) {
    if (Number.isNaN(startOf(job))) return NaN;
    if (text.ended(job)) return Math.max(job.end, job.start + 0.001);
    const limit = job.ends_by ?? startOf(job) + (job.limit ?? kForever);
    return job.start === undefined ? limit : Math.max(limit, now + 1);
  }

  // Rows as the picture wants them: columns, by submission, in seconds since `from`.
  function columns(jobs, from, now) {
    const n = jobs.length;
    const made = {start: new Float64Array(n), end: new Float64Array(n), waits: new Float64Array(n),
                  backfilled: new Uint8Array(n),
                  shared: {n, number: jobs.map((job) => job.id), submit: Float64Array.from(jobs, (job) => job.submit - from),
                           processors: Float64Array.from(jobs, (job) => job.processors)}};
    jobs.forEach((job, i) => {
      made.start[i] = startOf(job) - from;
      made.end[i] = endOf(job, now) - from;
      made.waits[i] = Number.isNaN(made.start[i]) ? Infinity : made.start[i];
    });
    return made;
  }

  class Chart {
    constructor(figure, open) {
      this.figure = figure;
      this.canvas = figure.querySelector('canvas');
      this.open = open;
      this.span = 3600;
      this.shift = 0;  // seconds from where the window usually is
      this.jobs = [];
      this.reservations = [];
      this.hovered = -1;
      this.fillControls();
      this.listen();
    }

    fillControls() {
      const spans = this.figure.querySelector('.spans');
      this.buttons = kSpans.map((span) => {
        const button = text.element('button', '', duration(span));
        button.type = 'button';
        button.addEventListener('click', () => this.choose(span, 0));
        spans.append(button);
        return button;
      });
      this.look(this.span, 0);
    }

    listen() {
      const {canvas} = this;
      canvas.addEventListener('keydown', (event) => this.key(event));
      canvas.addEventListener('pointermove', (event) => this.hover(this.jobUnder(event), event));
      canvas.addEventListener('pointerleave', () => this.hover(-1));
      canvas.addEventListener('click', (event) => {
        const i = this.jobUnder(event);
        if (i >= 0) this.open(this.jobs[i]);
      });
      window.addEventListener('resize', () => this.later());
      window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.later());
    }

    // The least span in which the first planned start is to be seen.
    fitting() {
      const first = Math.min(...this.jobs.filter((job) => kindOf(job) === 'planned').map(startOf).filter((at) => at > this.now));
      if (!Number.isFinite(first)) return 3600;
      return kSpans.slice(1, -1).find((span) => first < this.now + span * (1 - kPast) * 0.8) || kSpans[kSpans.length - 2];
    }

    look(span, shift) {
      this.span = Math.min(kSpans[kSpans.length - 1], Math.max(60, span));
      this.shift = shift;
      this.buttons.forEach((button, i) => button.setAttribute('aria-pressed', String(kSpans[i] === this.span)));
      this.later();
    }

    // As somebody wants it: from then on it stays so.
    choose(span, shift) {
      this.chosen = true;
      this.look(span, shift);
    }

    key(event) {
      const {span, shift} = this;
      const closer = () => this.choose(span / 2, shift / 2);
      const acts = {ArrowLeft: () => this.choose(span, shift - span / 5), ArrowRight: () => this.choose(span, shift + span / 5),
                    '+': closer, '=': closer, '-': () => this.choose(span * 2, shift),
                    '0': () => { this.chosen = false; this.look(this.fitting(), 0); }};
      if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      acts[event.key]();
    }

    // jobs, reservations: rows of the service; now: the service's clock.
    show(jobs, now, processors, reservations) {
      this.jobs = jobs.filter((job) => job.submit !== undefined).sort((a, b) => a.submit - b.submit);
      this.now = now;
      this.processors = processors;
      this.reservations = reservations;
      this.hovered = -1;
      if (!this.chosen) this.look(this.fitting(), 0);
      this.later();
    }

    later() {
      if (this.waiting) return;
      this.waiting = requestAnimationFrame(() => { this.waiting = 0; if (this.processors) this.draw(); });
    }

    draw() {
      const {canvas} = this;
      const ratio = window.devicePixelRatio || 1;
      const width = Math.max(240, canvas.parentElement.clientWidth);
      const height = Math.max(300, Math.min(420, Math.round(width * 0.42)));
      canvas.width = width * ratio;
      canvas.height = height * ratio;
      canvas.style.height = `${height}px`;
      const t0 = this.now - this.span * kPast + this.shift;
      const context = canvas.getContext('2d');
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      const made = columns(this.jobs, t0, this.now);
      const boxes = lanes.place(made, this.processors, 0.001);
      const look = picture.theme();
      // The picture tells the time of day as UTC; with the zone's offset it is that of who looks.
      const zone = new Date(this.now * 1000).getTimezoneOffset() * 60;
      this.drawn = {charts: {unixStart: t0 - zone, from: 0}, made, boxes, look, width, height,
                    view: {t0: 0, t1: this.span, p0: 0, p1: this.processors}, paintwork: {bytes: this.paint()},
                    marked: [this.hovered]};
      picture.draw(context, this.drawn);
      this.drawReservations(context, t0);
      this.drawNow(context, this.now - t0);
      this.describe(t0);
    }

    paint() {
      const style = getComputedStyle(document.documentElement);
      const colours = new Map(kKinds.map((kind) => {
        const {r, g, b} = d3.rgb(style.getPropertyValue(`--${kind}`).trim());
        return [kind, [r, g, b]];
      }));
      const bytes = new Uint8Array(this.jobs.length * 3);
      this.jobs.forEach((job, i) => bytes.set(colours.get(kindOf(job)), i * 3));
      return bytes;
    }

    // What is reserved, hatched from above: so many processors, wherever they are.
    drawReservations(context, t0) {
      const {place, view, look} = this.drawn;
      const at = picture.scales(place, view);
      context.save();
      context.strokeStyle = context.fillStyle = look.ink;
      context.textAlign = 'left';
      context.textBaseline = 'top';
      for (const each of this.inSight(t0)) {
        const x0 = Math.max(place.left, at.x(each.start - t0)), x1 = Math.min(place.left + place.plotWidth, at.x(each.end - t0));
        const y1 = at.y(this.processors - Math.min(each.processors, this.processors));
        context.save();
        context.beginPath();
        context.rect(x0, place.top, x1 - x0, y1 - place.top);
        context.clip();
        context.globalAlpha = 0.4;
        context.stroke();
        for (let x = x0 - (y1 - place.top); x < x1; x += 9) {
          context.beginPath();
          context.moveTo(x, y1);
          context.lineTo(x + y1 - place.top, place.top);
          context.stroke();
        }
        context.restore();
        if (x1 - x0 > 60) context.fillText('reserved', x0 + 4, place.top + 4);
      }
      context.restore();
    }

    inSight(t0) {
      return this.reservations.filter(({start, end}) => start < t0 + this.span && end > t0);
    }

    // A line at now; what lies behind it has not happened yet.
    drawNow(context, now) {
      const {place, look} = this.drawn;
      const x = Math.min(place.width - 12, Math.max(place.left, picture.scales(place, this.drawn.view).x(now)));
      context.globalAlpha = 0.35;
      context.fillStyle = look.paper;
      context.fillRect(x, place.top, place.left + place.plotWidth - x, place.plotHeight);
      context.globalAlpha = 1;
      if (now < 0 || now > this.span) return;
      context.fillStyle = look.accent;
      context.fillRect(x - 1, place.top, 2, place.plotHeight);
    }

    describe(t0) {
      const count = (kind) => this.jobs.filter((job) => kindOf(job) === kind && startOf(job) < t0 + this.span &&
                                                        endOf(job, this.now) > t0).length;
      const over = count('ran') + count('failed') + count('cancelled');
      const planned = count('planned');
      const label = `From ${text.moment(t0)} to ${text.moment(t0 + this.span)}: ${text.many(over, 'job')} ran, ` +
          `${grouped(count('runs'))} run, ${grouped(planned)} ${planned === 1 ? 'is' : 'are'} planned.`;
      const reserved = this.inSight(t0);
      const kept = reserved.slice(0, kNamed).map((each) => ` Reserved from ${text.moment(each.start)} to ` +
          `${text.moment(each.end)}: ${each.nodes || text.many(each.processors, 'processor')}.`).join('') +
          (reserved.length > kNamed ? ` And ${grouped(reserved.length - kNamed)} more.` : '');
      this.figure.querySelector('.status').textContent = label + kept;
      this.canvas.setAttribute('aria-label', `${label}${kept} Left and right move, plus and minus zoom, 0 goes back to now.`);
      this.canvas.dataset.boxes = this.drawn.boxes.job.length;
    }

    jobUnder(event) {
      if (!this.drawn) return -1;
      const box = this.canvas.getBoundingClientRect();
      const {place, view, boxes, made, width, height} = this.drawn;
      const at = picture.scales(place, view);
      const x = (event.clientX - box.left) * width / box.width, y = (event.clientY - box.top) * height / box.height;
      if (x < place.left || y < place.top || y > place.bottom) return -1;
      const found = lanes.boxAt(boxes, made, at.t(x), at.p(y));
      return found < 0 ? -1 : boxes.job[found];
    }

    hover(i, event) {
      if (i < 0) document.getElementById('tip').hidden = true;
      if (i >= 0) {
        const job = this.jobs[i];
        rota.showTip(event, [`Job ${job.id}`, job.name, `of ${job.user}, ${text.many(job.processors, 'processor')}`,
                             `${text.state(job)}, ${text.time(job, this.now)}`, text.when(job)[1]]);
      }
      if (i !== this.hovered) this.later();
      this.hovered = i;
    }
  }

  return {Chart, kindOf};
})();
