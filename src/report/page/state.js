// What is chosen on the page stands in its address, so that it can be kept and passed on:
// #view=WORKLOAD,POLICY,FROM,TO,LOW,HIGH&beside=POLICY&colour=slowdown&job=17&hidden=0.2,0.3&site=1&by=1
rota.state = (() => {
  const kKeys = ['view', 'beside', 'colour', 'job', 'hidden', 'site', 'by'];
  const values = new Map();
  const decoded = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return '';  // an address that was cut off
    }
  };
  for (const part of location.hash.slice(1).split('&')) {
    const at = part.indexOf('=');
    if (at > 0 && kKeys.includes(part.slice(0, at))) values.set(part.slice(0, at), decoded(part.slice(at + 1)));
  }
  let timer = 0;
  const write = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const parts = kKeys.filter((key) => values.has(key)).map((key) =>
          `${key}=${encodeURIComponent(values.get(key)).replace(/%2C/g, ',')}`);
      if (location.hash !== '#selftest') history.replaceState(null, '', `#${parts.join('&')}`);
    }, 200);
  };
  const set = (key, value) => {
    if (value === null || value === undefined || value === '') {
      values.delete(key);
    } else {
      values.set(key, String(value));
    }
    write();
  };
  return {get: (key) => values.get(key), set};
})();
