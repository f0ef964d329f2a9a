// Figures in words, as src/report/readable.h has them.
rota.words = (() => {
  const grouped = d3.format(',');
  const kUnits = [[86400, 'd', 3600, 'h'], [3600, 'h', 60, 'min'], [60, 'min', 1, 's']];

  function duration(seconds) {
    if (!Number.isFinite(seconds)) return '–';
    if (seconds < 0) return `−${duration(-seconds)}`;
    if (seconds > 0 && seconds < 0.05) return '< 0.1 s';
    if (Math.round(seconds * 10) < 600) return `${Math.round(seconds * 10) / 10} s`;
    if (seconds >= 1000 * 86400) return `${grouped(Math.round(seconds / 86400))} d`;
    for (const [unit, large, part, small] of kUnits) {
      const parts = Math.round(seconds / part);
      const each = unit / part;
      if (parts >= each) {
        return `${grouped(Math.floor(parts / each))} ${large}${parts % each ? ` ${parts % each} ${small}` : ''}`;
      }
    }
    return `${Math.round(seconds)} s`;
  }

  // What jobs without a limit have (kLongest).
  const kNoLimit = 1e11;
  const limit = (seconds) => seconds >= kNoLimit ? 'none' : duration(seconds);

  // A number with as many digits as people take in.
  function number(value) {
    if (value >= 100 || Number.isInteger(value)) return grouped(Math.round(value));
    return d3.format(value >= 10 ? '.1f' : '.2f')(value);
  }

  // Words for moments, given in seconds since charts.from.
  function clock(charts) {
    const dated = charts.unixStart !== 0;
    const zero = charts.from + charts.unixStart;  // seconds since 1970, or since second 0 of the workload
    const two = (n) => String(n).padStart(2, '0');
    const time = (s) => `${two(Math.floor(s / 3600) % 24)}:${two(Math.floor(s / 60) % 60)}:${two(Math.floor(s) % 60)}`;
    const day = (s) => Math.floor(s / 86400);
    const moment = (t) => {
      const s = zero + t;
      if (dated) return `${new Date(s * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
      return `day ${grouped(day(s))}, ${time(s - day(s) * 86400)}`;
    };
    const tick = (t, step) => {
      const s = Math.round((zero + t) * 1000) / 1000;
      const into = s - day(s) * 86400;
      const head = dated ? d3.utcFormat('%-d %b %Y')(new Date(s * 1000)) : `day ${grouped(day(s))}`;
      if (step >= 86400) return dated && step >= 300 * 86400 ? moment(t).slice(0, 4) : head;
      if (into === 0) return head;
      const text = time(into);
      return step >= 60 ? text.slice(0, 5) : text;
    };
    const axis = dated ? 'time (UTC)' : 'time (day 0 begins at second 0 of the log)';
    return {moment, tick, axis, ticks: (from, to, most) => timeTicks(from, to, most, zero)};
  }

  const kSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200].concat(
      [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 100000].map((d) => d * 86400));

  // Round moments between from and to, at most about `most` of them.
  function timeTicks(from, to, most, zero) {
    const step = kSteps.find((s) => (to - from) / s <= most) || (to - from) / most;
    const ticks = [];
    for (let s = Math.ceil((zero + from) / step) * step; s <= zero + to; s += step) ticks.push(s - zero);
    return {step, ticks};
  }

  // A policy in a letter, for what must be told apart without colours: A, B, ... Z, AA, ...
  const letter = (p) => (p < 26 ? '' : letter(Math.floor(p / 26) - 1)) + String.fromCharCode(65 + p % 26);

  return {grouped, duration, limit, letter, number, clock, percent: (share) => `${d3.format('.1f')(share * 100)} %`};
})();
