// One job in a dialog: what it is, why it waits and what would change that, and what may be done to it.
rota.job = (() => {
  const {text, service} = rota;
  const {duration} = rota.words;
  const {element} = text;
  const kDone = {cancel: 'is being cancelled', hold: 'is held', release: 'may start again'};

  // What somebody may do, or why not.
  function rights(job, me) {
    if (me.read_only) {
      return {note: 'Your token is for reading only: it changes nothing.', cancel: false, hold: false, release: false};
    }
    const own = me.operator || job.uid === me.uid;
    const others = `It is ${job.user}'s job: only its user or an operator may change it.`;
    if (text.ended(job)) return {note: '', cancel: false, hold: false, release: false};
    return {note: own ? '' : others, cancel: own, hold: own && text.waits(job) && !text.held(job),
            release: own && text.held(job)};
  }

  // The last bid of each site that took part.
  function sale({bids, winner}) {
    const last = new Map(bids.map((bid) => [bid.site, bid.price]));
    const names = [...last].sort((a, b) => b[1] - a[1]).map(([site]) => site);
    return `${winner ? `to ${winner}` : 'not yet'}, ${names.length ? `bids of ${names.join(', ')}` : 'no bid'}`;
  }

  function facts(job, now) {
    const rows = [['User', job.user], ['Partition', job.partition], ['CPUs', job.processors],
                  ['Whole nodes', job.exclusive && 'yes'], ['Nodes', job.node_list],
                  ['Memory on each node', job.memory && text.memory(job.memory)],
                  ['Accelerators on each node', job.accelerators && [job.accelerators, job.accelerator_type].filter(Boolean).join(' ')],
                  ['Accelerators that it holds', text.accelerators(job.accelerators_held)],
                  ['Licences', job.licence && [`${job.licences} of ${job.licence}`, ...(job.more_licences || [])].join(', ')],
                  ['Priority', job.priority || undefined],
                  ['Site', job.site], ['Home', job.home], ['Sold', job.auction && job.auction.map(sale).join('; ')],
                  ['Submitted', text.exact(job.submit)],
                  ['Started', job.start && text.exact(job.start)],
                  ['Time', text.time(job, now)],
                  ['Ended', job.end && text.exact(job.end)],
                  ['Beyond its limit', job.over_limit &&
                   `${duration(Math.ceil(job.over_limit))} under overrun=${job.grace_rule}: ${job.grace_why}`],
                  ['Exit code', text.ended(job) ? job.exit_code : undefined], ['Signal', job.signal],
                  ['Started again', job.restarts && `${job.restarts} times`],
                  ['After', job.after && job.after.join(', ')], ['Comment', job.comment],
                  ['Command', job.command && job.command.join(' ')], ['Folder', job.folder], ['Output', job.output],
                  ['Said by the engine', job.message]];
    const list = element('dl', 'facts-of');
    for (const [name, value] of rows.filter(([, its]) => its !== undefined && its !== '' && its !== 0 || its === '0')) {
      list.append(element('dt', '', name), element('dd', '', String(value)));
    }
    return list;
  }

  const items = (lines) => element('ul', '', ...lines.map((line) => element('li', '', line)));

  function ahead(row) {
    const size = row.limit === undefined ? '' : ` for ${duration(row.limit)}`;
    const start = row.expected_start === undefined ? '' : `, promised ${text.moment(row.expected_start)}`;
    return `job ${row.id} of ${row.user}, ${text.many(row.processors, 'processor')}${size}${start}`;
  }

  const remedy = (row) => `It ${row.text}${row.text.startsWith('starts now') ? '' : `, at ${text.moment(row.start)}`}.`;

  function explained(told) {
    const parts = [];
    const section = (name, content) => parts.push(element('h3', '', name), content);
    if (told.promise !== undefined) section('Its start', element('p', '', `It is promised a start at ${text.exact(told.promise)}.`));
    else if (told.at_the_latest !== undefined) {
      section('Its start', element('p', '', 'If every job takes its whole limit and no other job comes before it, it starts at ' +
                                            `${text.exact(told.at_the_latest)}.`));
    }
    if (told.advice) {
      const at = (start) => start === undefined ? 'in four weeks or later' : `at ${text.exact(start)}`;
      section('Another order', element('p', '', `In the order ${told.advice.order}, which is ${told.advice.mode === 'act' ? 'followed here' : 'advised'}, ` +
                                                `it would start ${at(told.advice.start)}; in the manager's own ${at(told.advice.own_start)}.`));
    }
    if (told.start_unknown) section('Its start', element('p', '', `It is not known: ${told.start_unknown}.`));
    if (told.would_start && told.would_start.length > 0)
      section('What would change it, tried on a copy of the state', items(told.would_start.map(remedy)));
    if (told.ahead && told.ahead.length > 0) {
      const lines = told.ahead.map(ahead);
      if (told.more_ahead > 0) lines.push(`and ${text.many(told.more_ahead, 'more job')}`);
      section('Ahead of it', items(lines));
    }
    if (told.facts && told.facts.length > 0) section('What this rests on', items(told.facts));
    return parts;
  }

  class Jobs {
    // me(): who asks; told(sentence): an answer for who looks; changed(): the queue is to be asked for again.
    constructor({me, told, changed}) {
      Object.assign(this, {me, told, changed});
      this.dialog = document.getElementById('job');
      this.question = document.getElementById('question');
      this.shown = null;
      for (const action of ['cancel', 'hold', 'release']) {
        this.button(action).addEventListener('click', () => this.shown && this.act(action, this.shown));
      }
      this.dialog.querySelector('.close').addEventListener('click', () => this.dialog.close());
      this.dialog.addEventListener('close', () => { this.shown = null; });
    }

    button(action) { return this.dialog.querySelector(`[data-act=${action}]`); }

    // A row may stand for several tasks of an array: what is told then is of the first of them, what is done is done
    // to all.
    async open(row) {
      this.shown = row;
      this.tasks = row.tasks > 1 ? row : null;
      this.explained = null;
      this.dialog.querySelector('.why').replaceChildren();
      this.fill(row);
      if (!this.dialog.open) this.dialog.showModal();
      await this.look();
    }

    // Again, as it is now; explained anew only where it waits for something else than before.
    async look() {
      if (!this.shown) return;
      const {id} = this.shown;
      const one = this.tasks ? this.tasks.first : id;
      try {
        const job = await service.get(`v1/jobs/${encodeURIComponent(one)}`);
        if (!this.shown || this.shown.id !== id) return;
        if (this.tasks && !text.waits(job)) this.tasks = null;  // from now on it is that one
        this.fill(job);
        const shown = this.shown.id;
        const now = `${job.state} ${job.reason} ${job.why}`;
        if (now === this.explained) return;
        this.explained = now;
        const told = text.waits(job) ? await service.get(`v1/jobs/${encodeURIComponent(one)}/explain`) : {};
        if (this.shown && this.shown.id === shown) this.dialog.querySelector('.why').replaceChildren(...explained(told));
      } catch (refusal) {
        if (this.shown && this.shown.id === id) this.dialog.querySelector('.note').textContent = refusal.message;
      }
    }

    fill(job) {
      if (this.tasks) job = {...job, id: this.tasks.id, tasks: this.tasks.tasks};
      this.shown = job;
      const {dialog} = this;
      dialog.querySelector('h2').textContent = `Job ${job.id}: ${job.name}`;
      dialog.querySelector('.state').textContent = text.state(job);
      dialog.querySelector('.state').dataset.state = job.state;
      dialog.querySelector('.reason').textContent =
          (text.waits(job) ? `${job.reason}: ${job.why || ''}` : '') +
          (this.tasks ? ` This is told of ${this.tasks.first}, the first of ${text.many(this.tasks.tasks, 'task')}.` : '');
      dialog.querySelector('.known').replaceChildren(facts(job, Date.now() / 1000));
      const may = rights(job, this.me());
      dialog.querySelector('.note').textContent = may.note;
      for (const action of ['cancel', 'hold', 'release']) this.button(action).disabled = !may[action];
      this.button('release').hidden = !text.held(job);
      this.button('hold').hidden = text.held(job);
    }

    // Asks first where something ends by it. What the service says comes back as it is.
    async act(action, job) {
      const may = rights(job, this.me());
      if (!may[action]) return this.told(may.note || `Job ${job.id} ${text.state(job)}; that cannot be done to it.`, true);
      if (action === 'cancel' && !await this.sure(job)) return;
      try {
        const answer = await service.post(`v1/jobs/${action}`, {ids: job.id});
        const failed = answer.jobs.filter((row) => !row.done);
        this.told(failed.length > 0 ? failed.map((row) => row.detail).join(' ') : `Job ${job.id} ${kDone[action]}.`,
                  failed.length > 0);
      } catch (refusal) {
        this.told(refusal.message, true);
      }
      this.changed();
    }

    sure(job) {
      const {question} = this;
      const runs = job.start === undefined ? 'It has not started.' : 'What it has done so far may be lost.';
      question.querySelector('p').textContent = `Cancel job ${job.id} (${job.name}) of ${job.user}? ${runs}`;
      question.returnValue = '';
      question.showModal();
      // Who is asked twice in a row may hear of the first closing only when the second question stands.
      if (this.refuse) this.refuse();
      return new Promise((done) => {
        this.refuse = () => done(false);
        question.onclose = () => {
          if (!question.open) done(question.returnValue === 'yes');
        };
      });
    }
  }

  return {Jobs, rights};
})();
