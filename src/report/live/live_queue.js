// The queue as a table: what runs, what waits in its order, what is held. A row stays the same element for as long as
// its job is listed, so that the keyboard's place is kept while everything changes.
rota.queue = (() => {
  const {text} = rota;
  const kColumns = ['Job', 'Name', 'User', 'State', 'CPUs', 'Time', 'Starts or ends', 'Where, or why it waits'];

  const kLongName = 100;

  class Queue {
    // open(job): what Enter and clicks ask for.
    constructor(section, open) {
      this.section = section;
      this.open = open;
      this.body = section.querySelector('tbody');
      this.rows = new Map();  // by id: {row, cells, job}
      const heads = kColumns.map((name) => {
        const head = text.element('th', '', name);
        head.setAttribute('role', 'columnheader');
        return head;
      });
      section.querySelector('thead tr').append(...heads);
      this.body.addEventListener('click', (event) => this.clicked(event));
      this.body.addEventListener('keydown', (event) => this.key(event));
      this.body.addEventListener('focusin', (event) => this.stand(event.target.closest('tr')));
    }

    // all: how many jobs there are without the filter; 0 without one.
    show(plan, all) {
      this.now = plan.now;
      const jobs = [...plan.running, ...plan.waiting, ...plan.held];
      // What stands for several tasks stays the same row while some of them start.
      this.key_of = new Map(plan.running.concat(plan.waiting, plan.held).map((job) => [job, job.id]));
      for (const job of plan.waiting) if (job.tasks > 1) this.key_of.set(job, `${job.array}_*`);
      for (const job of plan.held) if (job.tasks > 1) this.key_of.set(job, `${job.array}_* ${job.reason}`);
      const had = document.activeElement && document.activeElement.closest('#queue tbody tr');
      const place = had ? [...this.body.children].indexOf(had) : -1;
      const listed = new Set(this.key_of.values());
      for (const [id, its] of this.rows) {
        if (listed.has(id)) continue;
        its.row.remove();
        this.rows.delete(id);
      }
      let before = this.body.firstElementChild;
      for (const job of jobs) {
        const its = this.rows.get(this.key_of.get(job)) || this.make(this.key_of.get(job));
        this.fill(its, job);
        if (its.row === before) before = before.nextElementSibling;
        else this.body.insertBefore(its.row, before);
      }
      if (had && had.isConnected && document.activeElement !== had) had.focus();  // it was moved
      if (had && !had.isConnected) this.goto(Math.min(place, this.body.children.length - 1));
      if (!this.body.querySelector('[tabindex="0"]') && this.body.firstElementChild) this.stand(this.body.firstElementChild);
      this.tellMore(plan, jobs.length, all);
    }

    tellMore(plan, listed, all) {
      const more = [['more', 'running', plan.more_running], ['more', 'waiting', plan.more_waiting],
                    ['more', 'held, or that may not start yet', plan.more_held]]
          .filter(([, , n]) => n > 0).map(([, what, n]) => `${rota.words.grouped(n)} ${what}`);
      this.section.querySelector('.empty').hidden = listed > 0;
      this.section.querySelector('.empty').textContent = all === 0 ? 'Nothing runs or waits.'
        : `No job meets the filter; without it there ${all === 1 ? 'is 1' : `are ${rota.words.grouped(all)}`}.`;
      this.section.querySelector('.more').hidden = more.length === 0;
      this.section.querySelector('.more span').textContent = `and ${more.join(', ')}`;
    }

    make(key) {
      const row = text.element('tr', '');
      row.dataset.job = key;
      row.tabIndex = -1;
      row.setAttribute('role', 'row');
      const cells = kColumns.map((name) => {
        const cell = text.element('td', '');
        cell.dataset.name = name;
        cell.setAttribute('role', 'gridcell');
        row.append(cell);
        return cell;
      });
      const its = {row, cells, job: null};
      this.rows.set(key, its);
      return its;
    }

    fill(its, job) {
      its.job = job;
      its.row.dataset.id = job.id;
      const state = text.state(job);
      const [when, meaning] = text.when(job);
      const held = text.accelerators(job.accelerators_held);
      const where = text.waits(job) ? `${job.reason}: ${job.why || ''}`
        : (job.node_list || '') + (held && ` (accelerators ${held})`);
      const name = job.name.length > kLongName ? `${job.name.slice(0, kLongName)}…` : job.name;
      const words = [job.id, name, job.user, state, String(job.processors), text.time(job, this.now), when, where];
      words.forEach((word, i) => {
        if (its.cells[i].textContent !== word) its.cells[i].textContent = word;
      });
      its.cells[1].title = job.name;
      its.cells[6].title = meaning;
      its.row.dataset.state = rota.chart.kindOf(job) === 'planned' && text.held(job) ? 'held' : job.state;
    }

    // The one row that Tab comes to.
    stand(row) {
      if (!row) return;
      for (const other of this.body.querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
      row.tabIndex = 0;
    }

    goto(place) {
      const row = this.body.children[Math.max(0, Math.min(place, this.body.children.length - 1))];
      if (!row) return;
      this.stand(row);
      row.focus();
      row.scrollIntoView({block: 'nearest'});
    }

    // By so many rows from where the keyboard is.
    move(by) {
      const at = document.activeElement && document.activeElement.closest('#queue tbody tr');
      this.goto(at ? [...this.body.children].indexOf(at) + by : 0);
    }

    jobOf(element) {
      const row = element && element.closest && element.closest('#queue tbody tr');
      const its = row && this.rows.get(row.dataset.job);
      return its ? its.job : null;
    }
    focused() { return this.jobOf(document.activeElement); }

    clicked(event) {
      const job = this.jobOf(event.target);
      if (job && !String(getSelection())) this.open(job);
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const moves = {ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e6, End: 1e6};
      const job = this.jobOf(event.target);
      if (event.key in moves) this.move(moves[event.key]);
      else if (event.key === 'Enter' && job) this.open(job);
      else return;
      event.preventDefault();
    }
  }

  return {Queue};
})();
