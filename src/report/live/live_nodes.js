// The nodes: how full each is, whether it is on, and why it may be out of use.
rota.nodes = (() => {
  const {text} = rota;
  const kMost = 64;  // drawn one by one
  const kPower = {on: '', off: 'asleep', booting: 'booting', shutting_down: 'going to sleep'};

  function reserved(node, now) {
    if (!node.reserved) return '';
    const {start, end} = node.reserved;
    return start > now ? `reserved from ${text.moment(start)} to ${text.moment(end)}` : `reserved until ${text.moment(end)}`;
  }

  function card(node, now) {
    const made = text.element('li', 'node');
    made.dataset.state = node.state;
    const bar = text.element('span', 'bar');
    const used = text.element('span', 'used');
    used.style.setProperty('width', `${node.processors ? 100 * node.allocated / node.processors : 0}%`);
    bar.append(used);
    const facts = [`${node.allocated} of ${node.processors} CPUs`];
    if (node.memory) facts.push(`${text.memory(node.memory_allocated)} of ${text.memory(node.memory)}`);
    const held = text.accelerators(node.accelerators_held);
    if (node.accelerators)
      facts.push(`${node.accelerators_allocated} of ${text.many(node.accelerators, 'accelerator')}${held && ` (${held})`}`);
    made.append(text.element('strong', '', node.name), ' ', text.element('span', 'word', node.state), bar,
                text.element('span', 'soft', facts.join(', ')));
    const more = [kPower[node.power] ?? node.power, node.health === 'up' ? '' : node.health, node.reason || '', reserved(node, now)]
        .filter((word) => word && word !== node.state);
    if (more.length > 0) made.append(text.element('span', 'soft', more.join(', ')));
    return made;
  }

  // Those that tell most come first where not all are drawn.
  function shown(nodes) {
    if (nodes.length <= kMost) return nodes;
    const rank = (node) => (node.health !== 'up' ? 0 : ['booting', 'reserved'].includes(node.state) ? 1 : node.allocated > 0 ? 2 : 3);
    return [...nodes].sort((a, b) => rank(a) - rank(b)).slice(0, kMost);
  }

  // now: the service's clock.
  function show(section, nodes, now) {
    const counts = new Map();
    for (const {state} of nodes) counts.set(state, (counts.get(state) || 0) + 1);
    section.querySelector('.sum').textContent =
        [...counts].map(([state, n]) => `${rota.words.grouped(n)} ${state}`).join(', ');
    section.querySelector('ul').replaceChildren(...shown(nodes).map((node) => card(node, now)));
    const more = section.querySelector('.more');
    more.hidden = nodes.length <= kMost;
    more.textContent = `and ${rota.words.grouped(nodes.length - kMost)} more`;
  }

  return {show};
})();
