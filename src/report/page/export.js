// Each chart as a picture (PNG) and as figures (CSV), made in the browser from what is drawn.
rota.exports = (() => {
  const kScale = 2;
  const kStyles = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linejoin', 'opacity',
                   'font-family', 'font-size', 'font-weight', 'text-anchor', 'paint-order', 'display'];

  const cell = (value) => {
    const text = value === null || value === undefined ? '' : String(value);
    return /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const csv = (rows) => `${rows.map((row) => row.map(cell).join(',')).join('\n')}\n`;

  function save(blob, name) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // A copy that looks the same without the page's style sheet.
  function standing(svg) {
    const copy = svg.cloneNode(true);
    const from = [svg, ...svg.querySelectorAll('*')], to = [copy, ...copy.querySelectorAll('*')];
    from.forEach((element, i) => {
      const style = getComputedStyle(element);
      to[i].setAttribute('style', kStyles.map((name) => `${name}:${style.getPropertyValue(name)}`).join(';'));
    });
    copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    return new XMLSerializer().serializeToString(copy);
  }

  const imageOf = (svg) => new Promise((done, failed) => {
    const image = new Image();
    image.onload = () => done(image);
    image.onerror = () => failed(new Error('the chart cannot be drawn as a picture'));
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standing(svg))}`;
  });

  // All drawings of the figure as they stand, below its title, on the card's colour.
  async function png(figure) {
    const drawings = [...figure.querySelectorAll('.plot svg, .picture canvas')].filter((its) => its.clientWidth > 0);
    const boxes = drawings.map((its) => its.getBoundingClientRect());
    const left = Math.min(...boxes.map((box) => box.left)), top = Math.min(...boxes.map((box) => box.top)) - 30;
    const width = Math.max(...boxes.map((box) => box.right)) - left;
    const height = Math.max(...boxes.map((box) => box.bottom)) - top;
    const canvas = document.createElement('canvas');
    canvas.width = Math.ceil(width * kScale);
    canvas.height = Math.ceil(height * kScale);
    const context = canvas.getContext('2d');
    context.scale(kScale, kScale);
    context.fillStyle = getComputedStyle(figure).backgroundColor;
    context.fillRect(0, 0, width, height);
    context.fillStyle = getComputedStyle(figure).color;
    context.font = '600 15px system-ui, sans-serif';
    context.fillText(figure.querySelector('h3').textContent, 4, 19);
    const images = await Promise.all(drawings.map((its) => (its.tagName === 'CANVAS' ? its : imageOf(its))));
    images.forEach((image, i) => context.drawImage(image, boxes[i].left - left, boxes[i].top - top, boxes[i].width,
                                                   boxes[i].height));
    return new Promise((done) => { canvas.toBlob(done, 'image/png'); });
  }

  const rowsOf = (figure) => {
    const plot = figure.querySelector('.plot, .picture');
    return plot && plot.csv ? plot.csv() : null;
  };

  // Two buttons at the head of each figure that has something to save.
  function offer(section) {
    for (const figure of section.querySelectorAll('figure')) {
      const holder = figure.querySelector('figcaption');
      if (!holder || !rowsOf(figure)) continue;
      const name = `${document.title}-${figure.dataset.chart}`.replace(/[^A-Za-z0-9._-]+/g, '-');
      const buttons = document.createElement('span');
      buttons.className = 'exports';
      const button = (text, act) => {
        const its = document.createElement('button');
        its.type = 'button';
        its.textContent = text;
        its.title = `Save this chart as ${text}`;
        its.addEventListener('click', act);
        buttons.append(its);
      };
      button('PNG', async () => save(await png(figure), `${name}.png`));
      button('CSV', () => save(new Blob([csv(rowsOf(figure))], {type: 'text/csv'}), `${name}.csv`));
      holder.prepend(buttons);
    }
  }

  return {offer, png, csv, rowsOf};
})();
