// Lines of text beside the pointer; the first one is the heading.
rota.showTip = (event, lines) => {
  const tip = document.getElementById('tip');
  tip.replaceChildren(...lines.map((text, i) => {
    const line = document.createElement(i === 0 ? 'strong' : 'span');
    line.textContent = text;
    return line;
  }));
  tip.hidden = false;
  const {width, height} = tip.getBoundingClientRect();
  const left = event.clientX + 16 + width > window.innerWidth ? event.clientX - 16 - width : event.clientX + 16;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, Math.min(event.clientY + 12, window.innerHeight - height - 4))}px`;
};
