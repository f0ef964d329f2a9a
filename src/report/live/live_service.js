'use strict';
// What the page asks of the service: requests, and the stream of what happens. Paths are relative, so that the page
// also works behind a proxy that puts a folder before them.
const rota = {errors: []};
window.addEventListener('error', (event) => rota.errors.push(event.message));

rota.service = (() => {
  const kKey = 'rota-token';
  const kSession = 'rota-session';  // there: the token is that of a session, which ends with the service
  const kPauses = [500, 1000, 2000, 4000, 8000];  // milliseconds before the next try

  // What was refused or did not come: status 0 where nobody answered.
  class Refusal extends Error {
    constructor(status, sentence) {
      super(sentence);
      this.status = status;
    }
  }

  const token = () => sessionStorage.getItem(kKey) || '';
  const inSession = () => sessionStorage.getItem(kSession) !== null;

  function keepToken(text, session) {
    if (text) sessionStorage.setItem(kKey, text);
    else sessionStorage.removeItem(kKey);
    if (session) sessionStorage.setItem(kSession, 'yes');
    else sessionStorage.removeItem(kSession);
  }

  function headers(more) {
    const all = new Headers(more);
    if (token()) all.set('Authorization', `Bearer ${token()}`);
    return all;
  }

  async function sentence(answer) {
    const problem = await answer.json().catch(() => ({}));
    return problem.detail || `The service answered with ${answer.status} and no reason.`;
  }

  // An address that `rota page` printed has a code, which counts once: it leaves the address bar, and a session comes for
  // it. Gives why there is none, if there is none.
  async function enter() {
    const code = (location.hash.match(/^#code=(.+)$/) || [])[1];
    if (!code) return '';
    history.replaceState(null, '', location.pathname + location.search);
    keepToken('');  // the page says what became of the code, and not how things are by an earlier one
    const answer = await fetch('v1/page-sessions', {method: 'POST', cache: 'no-store',
                                                    headers: {Authorization: `Bearer ${code}`}}).catch(() => null);
    if (!answer) return 'The service does not answer; type rota page again.';
    if (answer.status === 401) return 'This address was used already or is older than 60 s; type rota page again.';
    if (!answer.ok) return sentence(answer);
    keepToken((await answer.json()).token, true);
    return '';
  }
  const entered = enter();
  window.addEventListener('hashchange', () => { if (location.hash.startsWith('#code=')) location.reload(); });

  async function send(path, options) {
    await entered;
    const asked = token();
    const answer = await fetch(path, {cache: 'no-store', ...options, headers: headers(options.headers)}).catch((error) => {
      if (error.name === 'AbortError') throw error;
      throw new Refusal(0, 'The service does not answer.');
    });
    // What is said of a token that was replaced meanwhile says nothing of the new one.
    if (answer.status === 401 && token() !== asked) throw new Refusal(0, 'Asked with a token of before.');
    if (!answer.ok) throw new Refusal(answer.status, await sentence(answer));
    return answer;
  }

  async function get(path) {
    const answer = await send(path, {signal: AbortSignal.timeout(30000)});
    return answer.json().catch(() => { throw new Refusal(0, 'The service broke off before it had answered.'); });
  }

  async function post(path, body) {
    const answer = await send(path, {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body)});
    return answer.json();
  }

  // One connection to the stream, until it ends or is stopped. hear.opened(), hear.event(kind).
  async function listen(seen, hear, signal) {
    const after = seen.number === null ? {} : {'Last-Event-ID': String(seen.number)};
    const answer = await send('v1/events', {headers: after, signal});
    hear.opened();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const {value, done} = await reader.read();
      if (done) return;
      text += value;
      const parts = text.split('\n\n');
      text = parts.pop();
      for (const part of parts) {
        const field = (name) => (part.match(new RegExp(`^${name}: (.*)$`, 'm')) || [])[1];
        if (field('id')) seen.number = Number(field('id'));
        if (field('event')) hear.event(field('event'), seen);
      }
    }
  }

  // Listens for ever, and goes on after the last event that was seen. hear.lost(milliseconds until the next try),
  // hear.refused(refusal): not tried again until again() is called.
  function follow(hear) {
    const seen = {number: null};
    let stop = null;
    let wake = () => {};
    let failures = 0;
    const pause = (milliseconds) => new Promise((done) => {
      const timer = setTimeout(done, milliseconds);
      wake = () => { clearTimeout(timer); done(); };
    });
    const once = async () => {
      stop = new AbortController();
      try {
        await listen(seen, {...hear, opened: () => { failures = 0; hear.opened(); }}, stop.signal);
      } catch (error) {
        if (error instanceof Refusal && error.status !== 0) {
          hear.refused(error);
          return Infinity;
        }
      }
      return kPauses[Math.min(failures++, kPauses.length - 1)];
    };
    const forever = async () => {
      for (;;) {
        const milliseconds = await once();
        if (Number.isFinite(milliseconds)) hear.lost(milliseconds);
        await (Number.isFinite(milliseconds) ? pause(milliseconds) : new Promise((done) => { wake = done; }));
      }
    };
    forever();
    window.addEventListener('online', () => wake());
    return {
      seen,
      again: () => wake(),
      drop: () => stop.abort(),  // what says nothing any more may be dead
    };
  }

  return {get, post, follow, Refusal, token, keepToken, inSession, entered};
})();
