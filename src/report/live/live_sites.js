// The sites that share jobs with this one: how full each is, and what it has of the others' jobs.
rota.sites = (() => {
  const {text} = rota;

  function card(site) {
    const made = text.element('li', 'node');
    const state = !site.alive ? 'gone' : site.self ? 'this site' : 'alive';
    made.dataset.state = site.alive ? 'idle' : 'down';
    made.append(text.element('strong', '', site.name), ' ', text.element('span', 'word', state));
    if (site.processors !== undefined) {
      const bar = text.element('span', 'bar');
      const used = text.element('span', 'used');
      used.style.setProperty('width', `${site.processors ? 100 * site.used / site.processors : 0}%`);
      bar.append(used);
      made.append(bar, text.element('span', 'soft', `${rota.words.grouped(site.used)} of ${text.many(site.processors, 'processor')}, ` +
                                                    `${rota.words.grouped(site.asked)} asked for`));
    }
    made.append(text.element('span', 'soft', `offers ${text.many(site.offered, 'job')}, has ${rota.words.grouped(site.jobs)} of the federation's`));
    return made;
  }

  // of: what the service says of them; a service that is alone has none.
  function show(section, of) {
    section.hidden = of.sites.length === 0;
    section.querySelector('.sum').textContent = of.trouble || '';
    section.querySelector('ul').replaceChildren(...of.sites.map(card));
  }

  return {show};
})();
