// Brings the page to life: asks for everything once, and again whenever the service tells that something has happened.
(() => {
  const {service, text, words} = rota;
  const kLeast = 400;        // milliseconds between two looks
  const kShare = 4;          // and so many times as long as one takes
  const kSilence = 15000;    // without an event: is it still there?
  const kStep = 200;         // rows
  const kRanJobs = 500;      // of the past, in the picture
  const at = (id) => document.getElementById(id);

  const state = {me: {operator: false, uid: -1}, plan: null, status: null, past: new Map(), pastTo: 0, limit: kStep,
                 find: '', wanted: false, busy: false, ended: true, fold: true};
  const jobs = new rota.job.Jobs({me: () => state.me, told: tell, changed: () => soon()});
  const queue = new rota.queue.Queue(at('queue'), (job) => jobs.open(job));
  const chart = new rota.chart.Chart(at('chart'), (job) => jobs.open(job));

  function tell(sentence, refused) {
    const line = at('told');
    line.textContent = sentence;
    line.classList.toggle('refused', Boolean(refused));
    line.hidden = false;
    // A modal dialog covers the page: what is said while one is open is said in it.
    const note = document.querySelector('dialog[open] .note');
    if (note) note.textContent = sentence;
    clearTimeout(tell.timer);
    tell.timer = setTimeout(() => { line.hidden = true; }, refused ? 20000 : 6000);
  }

  // ---- what is shown

  function showStatus(status, plan, reservations) {
    const later = status.not_eligible || 0;  // of those that are held back: nobody holds these
    at('machine').textContent = status.machine;
    const figures = [[`${words.grouped(status.busy)} of ${words.grouped(status.processors)}`, 'processors busy'],
                     ...[[status.out_of_service, 'out of service'], [status.asleep, 'asleep']]
                         .filter(([n]) => n > 0).map(([n, what]) => [words.grouped(n), `processors ${what}`]),
                     [words.grouped(status.running), 'running'], [words.grouped(status.waiting), 'waiting'],
                     [words.grouped(status.held - later), 'held'],
                     ...(later ? [[words.grouped(later), 'that may not start yet']] : []), [status.policy, 'policy']];
    at('figures').replaceChildren(...figures.map(([value, name]) => text.element('li', '', text.element('strong', '', value),
                                                                                 ` ${name}`)));
    const warnings = [...status.warnings];
    if (status.plain) warnings.unshift(`A plan was refused, and jobs start in order of the queue alone: ${status.last_refusal || ''}`);
    at('warnings').hidden = warnings.length === 0;
    at('warnings').replaceChildren(...warnings.map((line) => text.element('p', '', line)));
    document.title = `${status.running} run, ${status.waiting} wait – ${status.machine}`;
    at('who').textContent = `You are ${status.user}${status.operator ? ', an operator' : ''}. Rota ${status.version}.`;
    chart.show([...state.past.values(), ...plan.running, ...plan.waiting], plan.now, status.processors, reservations);
  }

  // What has ended since the last time; at first the latest that there are.
  async function lookBack() {
    if (!state.ended) return;
    state.ended = false;
    const from = state.pastTo > 0 ? `&from=${Math.floor(state.pastTo) - 5}` : '';
    const {jobs: rows} = await service.get(`v1/history?ran=yes&limit=${kRanJobs}${from}`);
    for (const row of rows) {
      if (row.start !== undefined) state.past.set(row.id, row);
      state.pastTo = Math.max(state.pastTo, row.end);
    }
    const beyond = [...state.past.values()].sort((a, b) => b.end - a.end).slice(kRanJobs);
    for (const row of beyond) state.past.delete(row.id);
  }

  async function look() {
    const find = state.find ? `&find=${encodeURIComponent(state.find)}` : '';
    const [plan, status, nodes, {reservations}, sites] = await Promise.all([service.get(`v1/plan?limit=${state.limit}${find}${state.fold ? '&fold=yes' : ''}`),
                                                     service.get('v1/status'), service.get('v1/nodes'),
                                                     service.get('v1/reservations'), service.get('v1/sites')]);
    await lookBack();
    state.me = status;
    state.plan = plan;
    state.status = status;
    if (stream.seen.number === null) stream.seen.number = plan.sequence;
    queue.show(plan, state.find ? status.running + status.waiting + status.held : 0);
    showStatus(status, plan, reservations);
    rota.nodes.show(at('nodes'), nodes.nodes, plan.now);
    rota.sites.show(at('sites'), sites);
    await jobs.look();
    document.documentElement.dataset.looks = Number(document.documentElement.dataset.looks || 0) + 1;
    if (!plan.current) setTimeout(soon, 2000);
  }

  // ---- when to look

  function soon() {
    state.wanted = true;
    if (state.busy || document.hidden) return;
    state.busy = true;
    setTimeout(async () => {
      const begin = performance.now();
      state.wanted = false;
      try {
        await look();
        state.heard = performance.now();
      } catch (refusal) {
        if (!(refusal instanceof service.Refusal)) throw refusal;
        if (refusal.status === 401) askForToken();
        else if (refusal.status === 0) stream.drop();
        else tell(refusal.message, true);
      } finally {
        const rest = Math.max(kLeast, (performance.now() - begin) * kShare);
        setTimeout(() => { state.busy = false; if (state.wanted) soon(); }, rest);
      }
    }, 0);
  }

  function linked(kind, sentence) {
    const link = at('link');
    link.dataset.state = kind;
    link.textContent = sentence;
  }

  const stream = service.follow({
    opened() { linked('live', 'live'); state.ended = true; soon(); },
    event(kind, seen) {
      if (kind === 'reset') seen.number = null;
      state.ended = true;
      soon();
    },
    lost(milliseconds) {
      const ended = service.inSession() ? '; if the service was started again, type rota page' : '';
      linked('lost', `disconnected, retrying in ${milliseconds / 1000} s${ended}`);
    },
    refused(refusal) {
      linked('lost', 'not connected');
      if (refusal.status === 401) askForToken();
      else tell(refusal.message, true);
    },
  });

  setInterval(() => {
    if (document.hidden || performance.now() - (state.heard || 0) < kSilence) return;
    soon();
  }, 1000);
  document.addEventListener('visibilitychange', () => { if (!document.hidden) soon(); });

  // ---- who asks

  // Who has given none yet has done nothing wrong.
  async function askForToken() {
    const dialog = at('token');
    const refused = await service.entered;  // which a token that was given since has made good
    const note = service.inSession() ? 'This session is over: it ends with the service, and after 12 hours. Type rota page again.'
      : service.token() !== '' ? 'The service does not know this token, or not any more.' : refused;
    if (note || !dialog.open) dialog.querySelector('.note').textContent = note;
    linked('lost', 'waits for a token');
    if (!dialog.open) dialog.showModal();
  }
  at('token').querySelector('form').addEventListener('submit', () => {
    service.keepToken(at('token').querySelector('input').value.trim());
    at('token').querySelector('input').value = '';
    stream.again();
    soon();
  });

  // ---- keys

  const filter = at('filter');
  filter.addEventListener('input', () => {
    clearTimeout(filter.timer);
    filter.timer = setTimeout(() => { state.find = filter.value.trim(); state.limit = kStep; soon(); }, 150);
  });
  at('queue').querySelector('.more button').addEventListener('click', () => {
    state.limit = Math.min(1000, state.limit + kStep);
    soon();
  });
  const fold = (on) => {
    state.fold = on;
    at('fold').checked = on;
    soon();
  };
  at('fold').addEventListener('change', () => fold(at('fold').checked));
  at('keys').addEventListener('click', () => at('help').showModal());

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === filter && event.key === 'Escape') {
      filter.value = '';
      state.find = '';
      soon();
      queue.move(0);
    }
    if (event.target === filter && event.key === 'ArrowDown') queue.move(0);
    if (event.target.closest('input, select, textarea')) return;
    const open = document.querySelector('dialog[open]');
    const job = jobs.shown || queue.focused();
    const acts = {c: 'cancel', h: job && text.held(job) ? 'release' : 'hold', r: 'release'};
    if (acts[event.key] && (!open || open === jobs.dialog)) {
      if (job) jobs.act(acts[event.key], job);
      else tell('Choose a job first: j and k go from row to row.', true);
    } else if (!open && event.key === '/') filter.focus();
    else if (!open && event.key === 'a') fold(!state.fold);
    else if (!open && event.key === '?') at('help').showModal();
    else if (!open && event.key === 'j') queue.move(1);
    else if (!open && event.key === 'k') queue.move(-1);
    else return;
    event.preventDefault();
  });
})();
