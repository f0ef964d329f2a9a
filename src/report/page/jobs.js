// Single jobs in words: those that waited longest, and one job under every policy.
rota.jobTables = (() => {
  const {duration, grouped, letter} = rota.words;
  const kLongest = 10;

  function element(name, text, attributes = {}) {
    const its = document.createElement(name);
    if (text !== null) its.textContent = text;
    for (const [key, value] of Object.entries(attributes)) its.setAttribute(key, value);
    return its;
  }

  function table(caption, head, rows) {
    const its = element('table', null);
    its.append(element('caption', caption));
    const top = its.appendChild(element('thead', null)).appendChild(element('tr', null));
    head.forEach((text) => top.append(element('th', text, {scope: 'col'})));
    const body = its.appendChild(element('tbody', null));
    rows.forEach((cells) => {
      const row = body.appendChild(element('tr', null));
      cells.forEach((cell) => row.append(cell instanceof Node ? cell : element('td', cell)));
    });
    return its;
  }

  function policyCell(charts, p) {
    const cell = element('th', null, {scope: 'row'});
    cell.append(element('span', letter(p), {class: `swatch p${p % 8}`, 'aria-hidden': 'true'}), charts.policies[p].name);
    return cell;
  }

  // The jobs of the policy shown that waited longest, beside what they waited under the others.
  function longest(gantt) {
    const {charts, shared} = gantt;
    const made = gantt.made(gantt.policy);
    const order = d3.range(shared.n).filter((i) => !Number.isNaN(made.start[i]))
        .sort((a, b) => made.wait[b] - made.wait[a] || a - b).slice(0, kLongest);
    const policies = d3.range(charts.drawn);
    const rows = order.map((i) => {
      const button = element('button', grouped(shared.number[i]).replace(/,/g, ''), {type: 'button', 'data-job': i});
      const cell = element('td', null);
      cell.append(button);
      return [cell, shared.user[i] >= 0 ? rota.userName(charts, shared.user[i]) : '–', grouped(shared.processors[i]),
              rota.words.limit(shared.limit[i])].concat(policies.map((p) => duration(gantt.made(p).wait[i])));
    });
    const head = ['job', 'user', 'processors', 'limit'].concat(policies.map((p) => `wait under ${letter(p)}`));
    return table(`The jobs that waited longest under ${charts.policies[gantt.policy].name}`, head, rows);
  }

  function one(gantt, i) {
    const {charts, shared, words} = gantt;
    const rows = d3.range(charts.drawn).map((p) => {
      const made = gantt.made(p);
      if (Number.isNaN(made.start[i])) return [policyCell(charts, p), '–', rota.whyNotDrawn(charts, p, made.state[i]), '', '', '', ''];
      const late = made.start[i] - made.promise[i];
      const starts = gantt.starts(p);
      return [policyCell(charts, p), duration(made.wait[i]), words.moment(made.start[i]), words.moment(made.end[i]),
              Number.isNaN(late) ? '–' : late > 0 ? `${duration(late)} late` : late < 0 ? `${duration(-late)} early` : 'kept',
              gantt.nodesOf(p, i), rota.whyStarted(starts, i)];
    });
    const its = table(`Job ${shared.number[i]} under every policy: ${grouped(shared.processors[i])} processors, ` +
                      `limit ${rota.words.limit(shared.limit[i])}`,
                      ['policy', 'wait', 'start', 'end', 'first promise', 'nodes', 'why it started then'], rows);
    its.className = 'one-job';
    return its;
  }

  return {longest, one};
})();
