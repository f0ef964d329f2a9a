// Draws jobs onto a canvas: exact coverage of each pixel while they are many, single boxes once they are few.
rota.picture = (() => {
  const kMostBoxes = 4000;
  const kStrip = 34;  // height of each strip above the picture
  const kMargin = {top: 6, right: 12, bottom: 38, left: 70};

  // What a colour can tell of a job. low and high end the ramp; values are shown by words().
  const {duration, number} = rota.words;
  const slowdown = (made, i) => Math.max(1, (made.wait[i] + made.ran[i]) / Math.max(made.ran[i], 10));
  const kMeanings = {
    wait: {name: 'wait before the start', value: (made, i) => made.wait[i], least: 60,
           words: duration},
    slowdown: {name: 'slowdown', value: slowdown, least: 1, words: (v) => `${number(v)} ×`},
    processors: {name: 'processors', value: (made, i) => made.shared.processors[i], least: 1, words: number},
    run: {name: 'run time', value: (made, i) => made.ran[i], least: 60, words: duration},
    backfill: {name: 'backfilled or in order', kind: (made, i) => made.backfilled[i]},
    user: {name: 'user', kind: (made, i) => made.shared.user[i]},
  };

  function theme() {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(name).trim();
    return {paper: get('--picture'), ink: get('--ink'), faint: get('--faint'), accent: get('--accent'),
            busy: get('--p0'), waiting: get('--p1'), ramp: get('--ramp').split(/\s+/),
            inOrder: get('--in-order'), backfilled: get('--backfilled'), light: get('--lightness')};
  }

  const rgb = (text) => {
    const {r, g, b} = d3.rgb(text);
    return [r, g, b];
  };

  function userColour(user, look) {
    return user < 0 ? rgb(look.faint) : rgb(d3.hsl((user * 137.508) % 360, 0.55, Number(look.light)).toString());
  }

  // Three bytes for each job, and what the legend needs to explain them.
  // atLeast: what the colours reach to anyway, so that two pictures have one scale.
  function paint(made, meaning, look, atLeast = 0) {
    const its = kMeanings[meaning];
    const bytes = new Uint8Array(made.shared.n * 3);
    const ran = (i) => !Number.isNaN(made.start[i]);
    if (its.kind) {
      const known = new Map();
      const pick = meaning === 'user' ? (kind) => userColour(kind, look)
                                      : (kind) => rgb(kind ? look.backfilled : look.inOrder);
      for (let i = 0; i < made.shared.n; i++) {
        const kind = its.kind(made, i);
        if (!known.has(kind)) known.set(kind, pick(kind));
        bytes.set(known.get(kind), i * 3);
      }
      return {bytes, meaning};
    }
    let most = Math.max(its.least * 2, atLeast);
    for (let i = 0; i < made.shared.n; i++) if (ran(i)) most = Math.max(most, its.value(made, i));
    const steps = d3.quantize(d3.interpolateRgbBasis(look.ramp), 256).map(rgb);
    const scale = 255 / Math.log(most / its.least);
    for (let i = 0; i < made.shared.n; i++) {
      const level = ran(i) ? Math.log(Math.max(its.value(made, i), its.least) / its.least) * scale : 0;
      bytes.set(steps[Math.min(255, Math.floor(level))], i * 3);
    }
    return {bytes, meaning, least: its.least, most, words: its.words};
  }

  // The places of things on a canvas of this size.
  function layout(width, height) {
    const top = kMargin.top + 2 * (kStrip + 14);
    return {width, height, left: kMargin.left, top, plotWidth: width - kMargin.left - kMargin.right,
            plotHeight: height - top - kMargin.bottom, bottom: height - kMargin.bottom};
  }

  function scales(place, view) {
    const sx = place.plotWidth / (view.t1 - view.t0);
    const sy = place.plotHeight / (view.p1 - view.p0);
    return {x: (t) => place.left + (t - view.t0) * sx, y: (p) => place.bottom - (p - view.p0) * sy,
            t: (x) => view.t0 + (x - place.left) / sx, p: (y) => view.p0 + (place.bottom - y) / sy, sx, sy};
  }

  // Adds a box to the cells it covers, each by the share of the cell that it covers.
  function cover(grid, x0, x1, y0, y1, r, g, b) {
    const {cells, columns, rows} = grid;
    x0 = Math.max(0, x0); x1 = Math.min(columns, x1); y0 = Math.max(0, y0); y1 = Math.min(rows, y1);
    if (x1 <= x0 || y1 <= y0) return;
    const lastX = Math.min(columns - 1, Math.floor(x1)), lastY = Math.min(rows - 1, Math.floor(y1));
    if (lastX === Math.floor(x0) && lastY === Math.floor(y0)) {  // most boxes of a large workload
      const at = (lastY * columns + lastX) * 4, share = (x1 - x0) * (y1 - y0);
      cells[at] += r * share; cells[at + 1] += g * share; cells[at + 2] += b * share; cells[at + 3] += share;
      return;
    }
    for (let row = Math.floor(y0); row <= lastY; row++) {
      const high = Math.min(row + 1, y1) - Math.max(row, y0);
      for (let column = Math.floor(x0); column <= lastX; column++) {
        const share = high * (Math.min(column + 1, x1) - Math.max(column, x0));
        const at = (row * columns + column) * 4;
        cells[at] += r * share; cells[at + 1] += g * share; cells[at + 2] += b * share; cells[at + 3] += share;
      }
    }
  }

  // Cells to pixels over the colour of free processors.
  function develop(grid, paper) {
    const {cells, columns, rows} = grid;
    const image = new ImageData(columns, rows);
    const pixels = image.data;
    for (let at = 0; at < cells.length; at += 4) {
      const bare = Math.max(0, 1 - cells[at + 3]);
      pixels[at] = cells[at] + paper[0] * bare;
      pixels[at + 1] = cells[at + 1] + paper[1] * bare;
      pixels[at + 2] = cells[at + 2] + paper[2] * bare;
      pixels[at + 3] = 255;
    }
    return image;
  }

  let spare = null;  // cells of the last picture, kept because they are many

  function drawDensity(context, its) {
    const {place, view, boxes, made, paintwork, look} = its;
    const columns = Math.floor(place.plotWidth), rows = Math.floor(place.plotHeight);
    if (!spare || spare.length !== columns * rows * 4) spare = new Float32Array(columns * rows * 4);
    spare.fill(0);
    const grid = {cells: spare, columns, rows};
    const sx = columns / (view.t1 - view.t0), sy = rows / (view.p1 - view.p0);
    const {bytes} = paintwork;
    rota.lanes.eachBox(boxes, made, view.t0, view.t1, (b, i) => {
      cover(grid, (made.start[i] - view.t0) * sx, (made.end[i] - view.t0) * sx, (view.p1 - boxes.to[b]) * sy,
            (view.p1 - boxes.from[b]) * sy, bytes[i * 3], bytes[i * 3 + 1], bytes[i * 3 + 2]);
    });
    const canvas = document.createElement('canvas');
    canvas.width = columns;
    canvas.height = rows;
    canvas.getContext('2d').putImageData(develop(grid, rgb(look.paper)), 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(canvas, place.left, place.top, place.plotWidth, place.plotHeight);
  }

  function drawBoxes(context, its) {
    const {place, view, boxes, made, paintwork, look, marked} = its;
    const at = scales(place, view);
    const {bytes} = paintwork;
    context.textBaseline = 'middle';
    context.font = '11px system-ui, sans-serif';
    rota.lanes.eachBox(boxes, made, view.t0, view.t1, (b, i) => {
      if (boxes.to[b] <= view.p0 || boxes.from[b] >= view.p1) return;
      const x0 = Math.max(place.left - 2, at.x(made.start[i])), x1 = Math.min(place.width, at.x(made.end[i]));
      const y0 = at.y(boxes.to[b]), y1 = at.y(boxes.from[b]);
      const gap = x1 - x0 > 4 && y1 - y0 > 4 ? 0.75 : 0;
      const colour = `rgb(${bytes[i * 3]},${bytes[i * 3 + 1]},${bytes[i * 3 + 2]})`;
      context.fillStyle = colour;
      context.fillRect(x0 + gap / 2, y0 + gap / 2, x1 - x0 - gap, y1 - y0 - gap);
      const from = Math.max(x0, place.left), room = Math.min(x1, place.width) - from;
      const middle = (Math.max(y0, place.top) + Math.min(y1, place.bottom)) / 2;
      if (room > 30 && y1 - y0 > 12) label(context, its, i, {from, room, middle});
      if (marked.includes(i)) {
        context.strokeStyle = look.accent;
        context.lineWidth = 2;
        context.strokeRect(x0 + 1, y0 + 1, Math.max(2, x1 - x0 - 2), Math.max(2, y1 - y0 - 2));
      }
    });
  }

  // A box's job number, if there is room for it.
  function label(context, its, i, {from, room, middle}) {
    const {bytes} = its.paintwork;
    const dark = bytes[i * 3] * 0.299 + bytes[i * 3 + 1] * 0.587 + bytes[i * 3 + 2] * 0.114 < 140;
    context.fillStyle = dark ? '#fff' : '#000';
    const mark = its.made.backfilled[i] ? '\u25b8 ' : '';
    const text = mark + its.made.shared.number[i];
    if (context.measureText(text).width + 9 < room) context.fillText(text, from + 5, middle + 0.5);
  }

  // Means over equal slices of the view of what is busy and what waits.
  function loadOf(its, slices) {
    const {view, made, boxes} = its;
    const busy = {part: new Float64Array(slices + 1), whole: new Float64Array(slices + 1)};
    const waiting = {part: new Float64Array(slices + 1), whole: new Float64Array(slices + 1)};
    const scale = slices / (view.t1 - view.t0);
    const add = (sum, from, to, weight) => {
      const a = Math.max(0, (from - view.t0) * scale), b = Math.min(slices, (to - view.t0) * scale);
      if (b <= a) return;
      const first = Math.floor(a), last = Math.floor(b);
      if (first === last) {
        sum.part[first] += weight * (b - a);
      } else {
        sum.part[first] += weight * (first + 1 - a);
        sum.part[last] += weight * (b - last);
        sum.whole[first + 1] += weight;
        sum.whole[last] -= weight;
      }
    };
    rota.lanes.eachBox(boxes, made, view.t0, view.t1,
                       (b, i) => add(busy, made.start[i], made.end[i], boxes.to[b] - boxes.from[b]));
    const {submit} = made.shared;
    const until = made.waits || made.start;  // when each waits no more
    for (let i = 0; i < submit.length && submit[i] < view.t1; i++) {
      if (until[i] > view.t0) add(waiting, submit[i], until[i], 1);
    }
    const means = ({part, whole}) => {
      let level = 0;
      return part.subarray(0, slices).map((value, k) => Math.max(0, (level += whole[k]) + value));
    };
    return {busy: means(busy), waiting: means(waiting)};
  }

  function drawStrip(context, its, strip) {
    const {place, look} = its;
    const base = strip.top + kStrip;
    const width = place.plotWidth / strip.values.length;
    context.fillStyle = look.paper;
    context.fillRect(place.left, strip.top, place.plotWidth, kStrip);
    context.fillStyle = strip.colour;
    strip.values.forEach((value, k) => {
      const high = Math.min(1, value / strip.most) * kStrip;
      context.fillRect(place.left + k * width, base - high, width + 0.4, high);
    });
    context.fillStyle = look.ink;
    context.font = '11px system-ui, sans-serif';
    context.textAlign = 'left';
    context.textBaseline = 'alphabetic';
    context.fillText(strip.name, place.left, strip.top - 3);
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    context.fillText(number(strip.most), place.left - 6, strip.top + 4);
    context.textAlign = 'left';
  }

  function drawStrips(context, its) {
    const {busy, waiting} = loadOf(its, Math.max(1, Math.floor(its.place.plotWidth / 2)));
    const top = kMargin.top + 8;
    drawStrip(context, its, {name: 'processors in use', values: busy, most: its.boxes.total, top,
                             colour: its.look.busy});
    drawStrip(context, its, {name: 'jobs waiting', values: waiting, most: Math.max(1, d3.max(waiting)),
                             top: top + kStrip + 15, colour: its.look.waiting});
  }

  // Names of nodes instead of numbers of processors, as many as there is room for.
  function nodeTicks(its, at) {
    const {place, view, nodes} = its;
    const ticks = [];
    let from = 0, last = Infinity;
    for (const [name, processors] of nodes) {
      const middle = from + processors / 2;
      from += processors;
      if (middle < view.p0 || middle > view.p1 || last - at.y(middle) < 13) continue;
      last = at.y(middle);
      ticks.push([Math.max(place.top + 5, last), name.length > 9 ? `${name.slice(0, 8)}…` : name]);
    }
    return ticks;
  }

  function drawAxes(context, its) {
    const {place, view, look, charts} = its;
    const at = scales(place, view);
    const words = rota.words.clock(charts);
    const {step, ticks} = words.ticks(view.t0, view.t1, place.plotWidth / 90);
    context.fillStyle = look.ink;
    context.strokeStyle = look.faint;
    context.lineWidth = 1;
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'top';
    context.textAlign = 'center';
    for (const t of ticks) {
      const x = Math.round(at.x(t)) + 0.5;
      context.beginPath();
      context.moveTo(x, place.bottom);
      context.lineTo(x, place.bottom + 5);
      context.stroke();
      context.textAlign = x > place.width - 24 ? 'right' : 'center';
      context.fillText(words.tick(t, step), Math.min(x, place.width - 2), place.bottom + 7);
    }
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    const named = (its.nodes || []).length > 0;
    const beside = named ? nodeTicks(its, at) : d3.ticks(view.p0, view.p1, 6).filter(Number.isInteger)
        .map((p) => [Math.max(place.top + 5, at.y(p)), rota.words.grouped(p)]);
    for (const [y, text] of beside) context.fillText(text, place.left - 6, y);
    context.textAlign = 'center';
    context.textBaseline = 'alphabetic';
    context.fillStyle = look.ink;
    context.fillText(words.axis, place.left + place.plotWidth / 2, place.height - 3);
    context.save();
    context.translate(10, (place.top + place.bottom) / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(named ? 'nodes' : 'processors', 0, 0);
    context.restore();
    if (its.title) {
      context.textAlign = 'right';
      context.font = '600 12px system-ui, sans-serif';
      context.fillText(its.title, place.width - 12, kMargin.top + 5);
    }
    context.strokeRect(place.left - 0.5, place.top - 0.5, place.plotWidth + 1, place.plotHeight + 1);
    context.textAlign = 'left';
  }

  // Boxes in the view, counted up to one more than can be drawn one by one.
  function visible(its) {
    let n = 0;
    rota.lanes.eachBox(its.boxes, its.made, its.view.t0, its.view.t1, (b) => {
      if (its.boxes.to[b] > its.view.p0 && its.boxes.from[b] < its.view.p1) n++;
      return n <= kMostBoxes;
    });
    return n;
  }

  // its: {charts, made, boxes, view, paintwork, look, marked jobs, width, height}. Says what it drew.
  function draw(context, its) {
    its.place = layout(its.width, its.height);
    context.clearRect(0, 0, its.width, its.height);
    const n = visible(its);
    context.save();
    context.beginPath();
    context.rect(its.place.left, its.place.top, its.place.plotWidth, its.place.plotHeight);
    context.clip();
    context.fillStyle = its.look.paper;
    context.fillRect(its.place.left, its.place.top, its.place.plotWidth, its.place.plotHeight);
    if (n > kMostBoxes) {
      drawDensity(context, its);
    } else {
      drawBoxes(context, its);
    }
    context.restore();
    drawStrips(context, its);
    drawAxes(context, its);
    return {boxes: n, single: n <= kMostBoxes};
  }

  return {draw, paint, theme, layout, scales, meanings: kMeanings};
})();
