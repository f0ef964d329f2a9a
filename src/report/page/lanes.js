// Which processors a job is drawn on. Rota counts processors and does not name them, so the picture gives each job the
// narrowest gap that is wide enough, or failing that the widest gaps: deterministic, and never two jobs on one.
rota.lanes = (() => {
  // Indices of the jobs that ran, by time and then by order of submission. Times are multiples of unit.
  function byTime(times, unit) {
    const n = times.length;
    const ran = new Uint32Array(n);
    let count = 0;
    let latest = 0;
    for (let i = 0; i < n; i++) {
      if (Number.isNaN(times[i])) continue;
      ran[count++] = i;
      latest = Math.max(latest, times[i]);
    }
    const order = ran.subarray(0, count);
    if (latest / unit * n > Number.MAX_SAFE_INTEGER) return order.sort((a, b) => times[a] - times[b] || a - b);
    // Time and index as one number: sorting plain numbers is many times faster than asking a function.
    const keys = new Float64Array(count);
    for (let k = 0; k < count; k++) keys[k] = Math.round(times[order[k]] / unit) * n + order[k];
    keys.sort();
    for (let k = 0; k < count; k++) order[k] = keys[k] - Math.floor(keys[k] / n) * n;
    return order;
  }

  // Free processors as sorted, separate intervals [low[i], high[i]).
  class Gaps {
    constructor(total, from = 0) {
      this.low = [from];
      this.high = [from + total];
    }
    // Takes n processors; give(from, to) for each piece. Returns how many could not be found.
    take(n, give) {
      const fit = this.narrowest(n);
      if (fit >= 0) {
        this.takeFrom(fit, n, give);
        return 0;
      }
      while (n > 0 && this.low.length > 0) {
        const i = this.widest();
        const piece = Math.min(n, this.high[i] - this.low[i]);
        this.takeFrom(i, piece, give);
        n -= piece;
      }
      return n;
    }
    // The lowest of the narrowest gaps with room for n; -1: none has.
    narrowest(n) {
      const {low, high} = this;
      let best = -1;
      for (let i = 0, width = Infinity; i < low.length && width > n; i++) {
        const its = high[i] - low[i];
        if (its >= n && its < width) {
          best = i;
          width = its;
        }
      }
      return best;
    }
    widest() {
      let best = 0;
      for (let i = 1; i < this.low.length; i++) {
        if (this.high[i] - this.low[i] > this.high[best] - this.low[best]) best = i;
      }
      return best;
    }
    takeFrom(i, n, give) {
      give(this.low[i], this.low[i] + n);
      this.low[i] += n;
      if (this.low[i] === this.high[i]) {
        this.low.splice(i, 1);
        this.high.splice(i, 1);
      }
    }
    release(from, to) {
      const {low, high} = this;
      const i = d3.bisectLeft(low, from);
      const joinsLeft = i > 0 && high[i - 1] === from;
      const joinsRight = i < low.length && low[i] === to;
      if (joinsLeft && joinsRight) {
        high[i - 1] = high[i];
        low.splice(i, 1);
        high.splice(i, 1);
      } else if (joinsLeft) {
        high[i - 1] = to;
      } else if (joinsRight) {
        low[i] = from;
      } else {
        low.splice(i, 0, from);
        high.splice(i, 0, to);
      }
    }
  }

  // The same where it is known on which nodes each job ran: each node has its own stretch, in the order of the file.
  class NodeGaps {
    constructor(places) {
      this.places = places;
      this.from = [0];
      places.sizes.forEach((size) => this.from.push(this.from[this.from.length - 1] + size));
      this.gaps = places.sizes.map((size, node) => new Gaps(size, this.from[node]));
    }
    takeFor(i, processors, give) {
      const {first, node, held} = this.places;
      if (first[i] === first[i + 1]) return processors;  // wherever it was drawn, it would stand in another's place
      const shares = d3.range(first[i], first[i + 1]).sort((a, b) => node[a] - node[b]);
      let missing = 0;
      let last = null;  // stretches that touch are one box
      for (const share of shares) {
        missing += this.gaps[node[share]].take(held[share], (low, high) => {
          if (last && last[1] === low) {
            last[1] = high;
          } else {
            if (last) give(...last);
            last = [low, high];
          }
        });
      }
      if (last) give(...last);
      return missing;
    }
    release(from, to) {
      for (let node = d3.bisectRight(this.from, from) - 1; from < to; node++) {
        const end = Math.min(to, this.from[node + 1]);
        this.gaps[node].release(from, end);
        from = end;
      }
    }
  }

  const kBlock = 512;

  // For every block of boxes the latest end, so that boxes long past are skipped together.
  function blockEnds(job, end) {
    const latest = new Float64Array(Math.ceil(job.length / kBlock)).fill(-Infinity);
    for (let b = 0; b < job.length; b++) {
      const block = Math.floor(b / kBlock);
      latest[block] = Math.max(latest[block], end[job[b]]);
    }
    return latest;
  }

  // Boxes in order of start: box b is job[b] on processors [from[b], to[b]).
  function place(made, total, unit, places = null) {
    const starts = byTime(made.start, unit);
    const ends = byTime(made.end, unit);
    const gaps = places ? new NodeGaps(places) : new Gaps(total);
    const job = [], from = [], to = [];
    const first = new Uint32Array(made.shared.n + 1);
    const count = new Uint32Array(made.shared.n);
    let missing = 0;
    let e = 0;
    for (const i of starts) {
      for (; e < ends.length && made.end[ends[e]] <= made.start[i]; e++) {
        const gone = ends[e];
        for (let b = first[gone]; b < first[gone] + count[gone]; b++) gaps.release(from[b], to[b]);
      }
      first[i] = job.length;
      const give = (low, high) => {
        job.push(i);
        from.push(low);
        to.push(high);
      };
      missing += places ? gaps.takeFor(i, made.shared.processors[i], give) : gaps.take(made.shared.processors[i], give);
      count[i] = job.length - first[i];
    }
    const boxes = {job: Uint32Array.from(job), from: Float64Array.from(from), to: Float64Array.from(to), first, count,
                   missing, total, onNodes: Boolean(places)};
    boxes.latest = blockEnds(boxes.job, made.end);
    return boxes;
  }

  // visit(box, job) for each box that may touch the time between t0 and t1, until it returns false.
  function eachBox(boxes, made, t0, t1, visit) {
    const {job, latest} = boxes;
    for (let block = 0; block < latest.length; block++) {
      const b0 = block * kBlock;
      if (made.start[job[b0]] >= t1) return;
      if (latest[block] <= t0) continue;
      const b1 = Math.min(job.length, b0 + kBlock);
      for (let b = b0; b < b1; b++) {
        const i = job[b];
        if (made.start[i] < t1 && made.end[i] > t0 && visit(b, i) === false) return;
      }
    }
  }

  // The box at this moment on this processor, or -1.
  function boxAt(boxes, made, t, processor) {
    let found = -1;
    eachBox(boxes, made, t, t + 1e-3, (b) => {
      if (boxes.from[b] <= processor && processor < boxes.to[b]) found = b;
      return found < 0;
    });
    return found;
  }

  return {place, eachBox, boxAt};
})();
