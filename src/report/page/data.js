'use strict';
// Reads what the page carries: charts as JSON, jobs as the columns that src/report/columns.h describes.
const rota = {errors: []};
window.addEventListener('error', (event) => rota.errors.push(event.message));

rota.charts = (index) => JSON.parse(document.getElementById(`charts-${index}`).textContent);

rota.bytes = (id) => {
  const text = atob(document.getElementById(id).textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
};

// A reader of columns: each call of next() gives a Float64Array of `rows` numbers.
rota.columns = (bytes, rows) => {
  let at = 0;
  const varint = () => {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = bytes[at++];
      if (byte < 128) return value + byte * scale;
      value += (byte - 128) * scale;
      scale *= 128;
    }
  };
  const next = (length = rows) => {
    const column = new Float64Array(length);
    for (let row = 0; row < length; row++) {
      const value = varint();
      if (value === 0) {
        row += varint();
      } else {
        column[row] = value;
      }
    }
    return column;
  };
  return {next, rest: () => bytes.length - at};
};

rota.signed = (value) => (value % 2 === 0 ? value / 2 : -(value + 1) / 2);

// The columns that all policies share; times in seconds since charts.from.
rota.sharedJobs = (index, charts) => {
  const columns = rota.columns(rota.bytes(`jobs-${index}`), charts.jobs);
  const running = (column, scale) => {
    let sum = 0;
    return column.map((value) => (sum += rota.signed(value)) * scale);
  };
  const times = (column) => column.map((value) => value * charts.unit);
  return {
    n: charts.jobs,
    number: running(columns.next(), 1),
    submit: running(columns.next(), charts.unit),
    processors: columns.next(),
    user: columns.next().map((value) => value - 1),
    limit: times(columns.next()),
    run: times(columns.next()),
  };
};

// Why each job started when it did, and on which nodes; null where that was not kept.
rota.starts = (index, p, charts, shared) => {
  const id = `starts-${index}-${p}`;
  if (!document.getElementById(id)) return null;
  const columns = rota.columns(rota.bytes(id), shared.n);
  const lacked = ['', ...JSON.parse(document.getElementById(`lacked-${index}-${p}`).textContent)];
  const rule = columns.next(), promised = columns.next(), lacks = columns.next(), count = columns.next();
  const first = new Uint32Array(shared.n + 1);
  for (let i = 0; i < shared.n; i++) first[i + 1] = first[i] + count[i];
  const all = first[shared.n];
  return {rule, promised, first, lacked: (i) => lacked[lacks[i]], node: columns.next(all), held: columns.next(all),
          rest: columns.rest()};
};

// In the words of src/report/start_reason.cc, by model/action.h's Rule.
rota.whyStarted = (starts, i) => {
  if (!starts || !starts.rule[i]) return '';
  const other = starts.promised[i] > 0 ? `job ${starts.promised[i] - 1}` : 'others';
  const lacks = starts.lacked(i), counted = !lacks && starts.first[i] === starts.first[i + 1];
  return ['', 'it was its turn, and there was room',
          'there was room for it and not for those before it, to whom nothing was promised',
          `backfilled: it is expected to end before ${other} is to start`,
          starts.promised[i] === 0 ? 'backfilled beside what others are promised' :
            `backfilled on ${counted ? 'processors that' : 'what'} ${other} leaves over` +
            (lacks ? `, which needs ${lacks}` : ''),
          'its promised start had come'][starts.rule[i]] || 'there was room for it';
};

rota.userName = (charts, user) => charts.users[user] || `user ${user}`;

// By model/job.h's JobState.
rota.kStates = ['waiting', 'running', 'completed', 'stopped at its limit', 'rejected', 'cancelled', 'held', 'failed',
                'failed with its node', 'out of memory'];

// Of a job that is not drawn: why.
rota.whyNotDrawn = (charts, p, state) => charts.policies[p].recorded && state === 0 ?
    'when it started is not told' : `did not run (${rota.kStates[state]})`;

// What policy p made of them. start and end are NaN for jobs that did not end, promise where there was none. wait and ran
// are those of the tables: what was kept of earlier runs is run time and no wait, and who stood still did not run.
rota.outcome = (index, p, charts, shared) => {
  const columns = rota.columns(rota.bytes(`jobs-${index}-${p}`), shared.n);
  const until = columns.next(), kept = columns.next();
  const run = columns.next(), stood = columns.next();
  const late = columns.next();
  const word = columns.next();
  const made = {shared, start: until, end: run, wait: kept, ran: stood, promise: late, backfilled: new Uint8Array(shared.n),
                state: new Uint8Array(shared.n), kills: new Uint16Array(shared.n), rest: columns.rest()};
  for (let i = 0; i < shared.n; i++) {
    // Whole units until the last moment: what is one instant must be one number.
    const units = (time) => Math.round(time / charts.unit);
    const start = units(shared.submit[i]) + until[i] - 1;
    const ended = until[i] > 0;
    const ran = units(shared.run[i]) + rota.signed(run[i]);
    made.ran[i] = ended ? (ran - stood[i] + kept[i]) * charts.unit : NaN;
    made.wait[i] = ended ? (until[i] - 1 - kept[i]) * charts.unit : NaN;
    made.promise[i] = late[i] > 0 ? (start - rota.signed(late[i] - 1)) * charts.unit : NaN;
    made.end[i] = ended ? (start + ran) * charts.unit : NaN;
    made.start[i] = ended ? start * charts.unit : NaN;
    made.backfilled[i] = word[i] & 1;
    made.state[i] = ((word[i] >> 1) & 15) ^ 2;
    made.kills[i] = word[i] >> 5;
  }
  return made;
};
