// Jobs in words, and elements made of text alone: nothing that a user has named is ever read as HTML.
rota.text = (() => {
  const {duration, grouped} = rota.words;

  // element('p', 'class', 'text', child, ...)
  function element(tag, kind, ...content) {
    const made = document.createElement(tag);
    if (kind) made.className = kind;
    made.append(...content);
    return made;
  }

  const kStates = {PENDING: 'waits', CONFIGURING: 'starts', RUNNING: 'runs', SUSPENDED: 'suspended', COMPLETING: 'ends',
                   COMPLETED: 'completed', FAILED: 'failed', CANCELLED: 'cancelled', TIMEOUT: 'at its limit',
                   NODE_FAIL: 'node failed', OUT_OF_MEMORY: 'out of memory'};
  const held = (job) => String(job.reason).startsWith('JobHeld');
  const state = (job) => (held(job) ? 'held' : kStates[job.state] || String(job.state));
  const waits = (job) => job.state === 'PENDING';
  const ended = (job) => job.end !== undefined;

  const two = (n) => String(n).padStart(2, '0');
  // "14:10", or "tomorrow 14:10", or with the date, in the time zone of who looks.
  function moment(seconds) {
    const at = new Date(seconds * 1000);
    const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
    const day = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
    const days = Math.round((day(at) - day(new Date())) / 86400000);
    if (days === 0) return `${time}:${two(at.getSeconds())}`;
    if (days === 1) return `tomorrow ${time}`;
    if (days === -1) return `yesterday ${time}`;
    return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
  }

  function exact(seconds) {
    const at = new Date(seconds * 1000);
    return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ` +
        `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  }

  function memory(bytes) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let u = 0;
    for (; bytes >= 1024 && u < units.length - 1; u++) bytes /= 1024;
    return `${Math.round(bytes * 10) / 10} ${units[u]}`;
  }

  // Which accelerators a job holds on each node, or each job of a node; '': none.
  const accelerators = (held) => Object.entries(held || {}).map(([whose, numbers]) => `${whose}: ${numbers.join(',')}`).join('; ');

  const many = (n, one) => `${grouped(n)} ${one}${n === 1 ? '' : 's'}`;

  const kUntil = {JobHeldUser: 'once released', JobHeldAdmin: 'once released', Dependency: 'after others',
                  JobArrayTaskLimit: 'after others', OverLimit: 'after others', DependencyNeverSatisfied: 'never'};

  // When it starts, ends or has ended: [text, what that means].
  function when(job) {
    if (ended(job)) return [moment(job.end), `It ended at ${exact(job.end)}.`];
    if (job.start !== undefined) {
      if (job.ends_by === undefined) return ['no limit', 'It may run as long as it likes.'];
      if (job.grace)
        return ['past its limit', `It runs beyond its limit under overrun=${job.grace_rule}: ${job.grace_why}.`];
      return [`ends by ${moment(job.ends_by)}`, `Its time limit is over at ${exact(job.ends_by)}.`];
    }
    if (job.expected_start !== undefined) {
      return [moment(job.expected_start), `The latest plan promises it a start at ${exact(job.expected_start)}.`];
    }
    if (job.starts_by !== undefined) {
      return [`by ${moment(job.starts_by)}`, 'If every job takes its whole limit and no other job comes before it, it starts ' +
              `at ${exact(job.starts_by)}.`];
    }
    if (job.begin !== undefined) return [`not before ${moment(job.begin)}`, `It may start from ${exact(job.begin)} on.`];
    return [kUntil[job.reason] || 'not known', 'Nobody can tell when it starts.'];
  }

  // "3 min of 1 h"
  function time(job, now) {
    const limit = job.limit === undefined ? 'no limit' : duration(job.limit);
    if (job.start === undefined) return limit;
    const stands = (ended(job) || job.suspended_since !== undefined) && job.elapsed !== undefined;
    const since = (ended(job) ? job.end : now) - job.start - (job.suspended || 0);
    const ran = duration(Math.max(0, Math.floor(stands ? job.elapsed : since)));
    return ended(job) || job.limit === undefined ? ran : `${ran} of ${limit}`;
  }

  return {element, state, held, waits, ended, moment, exact, memory, accelerators, many, when, time};
})();
