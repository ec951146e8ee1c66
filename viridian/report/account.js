// The page of `viridian account`: energy distribution diagrams to zoom into, top consumers with whiskers, the books.
const boxes = result.diagram || [];
const lastPart = (name) => name.slice(name.lastIndexOf('/') + 1);
const energy = (value) => quantity(value, 'J');
const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 2 : 1)} %`;
const draw = (tag, attributes = {}, ...children) => {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};

byId('headline').textContent = `${energy(boxes.filter((box) => box.parent === '').reduce((sum, box) => sum + box.joules, 0))} in ${result.operations.length} operations`;
byId('conditions').textContent = `${result.trace} · ${result.power} · ${result.sharing} · ` +
  result.devices.map((d) => `${d.name}: ${d.method} from ${d.power}`).join(' · ');

// Who used the energy: modules, their classes or operators, as the command was asked for.
const footprint = result.footprint;
if (footprint) {
  const title = { module: 'module', type: 'class', operator: 'operator' }[footprint.by];
  const whole = footprint.rows.reduce((sum, row) => sum + row.joules, 0);
  const used = ['forward', 'backward', 'recompute', 'optimizer', 'no_pass'].filter((part) => footprint.rows.some((row) => row[part] > 0));
  byId('footprint').append(element('h2', {}, `Energy by ${title}`),
    element('p', { class: 'small soft' }, 'Each joule is in one row' + (footprint.by === 'module' ? '; “itself” is what a module does outside the modules in it.' : '.')),
    sortedTable([
      { title, cell: (row) => row.name + (row.itself ? ', itself' : ''), sort: (row) => row.name, name: true },
      ...(footprint.by === 'module' ? [{ title: 'class', cell: (row) => row.type, sort: (row) => row.type }] : []),
      { title: 'joules', cell: (row) => energy(row.joules), sort: (row) => row.joules, number: true },
      { title: 'interval', cell: (row) => `${energy(row.low)} to ${energy(row.high)}`, sort: (row) => row.high, number: true },
      { title: 'share', cell: (row) => percent(whole > 0 ? row.joules / whole : 0), sort: (row) => row.joules, number: true },
      ...used.map((part) => ({ title: part.replace('_', ' '), cell: (row) => energy(row[part]), sort: (row) => row[part], number: true })),
      ...(result.processes || []).slice(0, 8).map((process, i) => ({ title: process.name, cell: (row) => energy(row.processes[i].joules), sort: (row) => row.processes[i].joules, number: true })),
      { title: 'time', cell: (row) => seconds(row.seconds), sort: (row) => row.seconds, number: true },
      { title: 'calls', cell: (row) => String(row.calls), sort: (row) => row.calls, number: true },
    ], footprint.rows, (row) => `${row.name} ${row.itself}`));
}

// Energy of a box in the pass that is looked at.
const passes = result.passes || {};
const choices = passes.forward > 0 && passes.backward > 0 ? ['joules', 'forward', 'backward'] : ['joules'];
let pass = 'joules', shown = '';
const childrenOf = new Map();
for (const box of boxes) childrenOf.set(box.parent, [...(childrenOf.get(box.parent) || []), box]);
const byName = new Map(boxes.map((box) => [box.name, box]));
const edges = (result.edges || []).map((edge) => [edge.from, edge.to].map((name) => name.split('/').filter(Boolean)));

// The boxes of one level, largest first; what a layer spends itself, outside its parts, is a box too.
function level(parent) {
  const all = (childrenOf.get(parent) || []).filter((box) => box[pass] > 0)
    .map((box) => ({ name: box.name, label: lastPart(box.name), value: box[pass], composite: box.composite }));
  const whole = parent ? byName.get(parent)[pass] : 0;
  const own = whole - all.reduce((sum, box) => sum + box.value, 0);
  if (own > 1e-3 * whole) all.push({ name: `${parent} `, label: '(itself)', value: own, composite: false });
  all.sort((a, b) => b.value - a.value);
  const sum = all.reduce((total, box) => total + box.value, 0);
  for (const box of all) box.share = sum > 0 ? box.value / sum : 0;
  return all;
}

// Data flow between the boxes of one level: pairs of indices.
function arrowsBetween(parent, here) {
  const depth = parent.split('/').filter(Boolean).length;
  const place = new Map(here.map((box, i) => [box.name, i]));
  const box = (parts) => place.get(parts.slice(0, depth + 1).join('/'));
  const pairs = new Map();
  for (const [from, to] of edges) {
    const a = box(from), b = box(to);
    if (a !== undefined && b !== undefined && a !== b) pairs.set(`${a} ${b}`, [a, b]);
  }
  return [...pairs.values()];
}

// Rows from top to bottom along the data flow: each box below all that it reads; back edges do not count.
function rowsOf(here, arrows, columns) {
  const readers = here.map(() => []), state = here.map(() => 0), rank = here.map(() => 0), order = [];
  for (const [a, b] of arrows) readers[a].push(b);
  const forward = new Set();
  const visit = (root) => {
    const stack = [[root, 0]];
    state[root] = 1;
    while (stack.length) {
      const top = stack[stack.length - 1], [a] = top;
      if (top[1] === readers[a].length) { state[a] = 2; order.push(a); stack.pop(); continue; }
      const b = readers[a][top[1]++];
      if (state[b] !== 1) forward.add(`${a} ${b}`);
      if (state[b] === 0) { state[b] = 1; stack.push([b, 0]); }
    }
  };
  const fed = new Set(arrows.map(([, b]) => b));
  here.forEach((_, i) => { if (!fed.has(i) && state[i] === 0) visit(i); });
  here.forEach((_, i) => { if (state[i] === 0) visit(i); });
  for (const a of order.reverse()) for (const b of readers[a]) if (forward.has(`${a} ${b}`)) rank[b] = Math.max(rank[b], rank[a] + 1);
  const touched = new Set(arrows.flat());
  const layers = new Map();
  here.forEach((_, i) => { const key = touched.has(i) ? rank[i] : Infinity; layers.set(key, [...(layers.get(key) || []), i]); });
  const at = new Map(), rows = [];
  for (const key of [...layers.keys()].sort((a, b) => a - b)) {
    const middle = (i) => {  // of what it reads
      const above = arrows.filter(([a, b]) => b === i && at.has(a)).map(([a]) => at.get(a));
      return above.length ? above.reduce((x, y) => x + y, 0) / above.length : 0;
    };
    const layer = key === Infinity ? layers.get(key) : [...layers.get(key)].sort((a, b) => middle(a) - middle(b));
    for (let i = 0; i < layer.length; i += columns) {
      const row = layer.slice(i, i + columns);
      row.forEach((box, k) => at.set(box, k - (row.length - 1) / 2));
      rows.push(row);
    }
  }
  return rows;
}

// One level: composite layers round, tensors sharp, darker is more; arrows where data flow is known.
function drawLevel(parent, space) {
  const all = level(parent), here = all.slice(0, 24);
  const arrows = arrowsBetween(parent, here);
  const columns = Math.max(1, Math.min(4, Math.floor(space / 165))), gap = arrows.length ? 34 : 14, side = 16, height = 52;
  const width = Math.min(230, Math.floor(space / columns) - side);
  const rows = rowsOf(here, arrows, columns);
  const widest = Math.max(1, ...rows.map((row) => row.length)), total = widest * (width + side) + side;
  const place = [];
  rows.forEach((row, r) => row.forEach((i, k) => { place[i] = [total / 2 + (k - row.length / 2) * (width + side) + side / 2, 6 + r * (height + gap)]; }));
  const tall = Math.max(1, rows.length) * (height + gap) + 6;
  const svg = draw('svg', { viewBox: `0 0 ${total} ${tall}`, width: total, role: 'group', 'aria-label': `energy in ${parent || 'the whole program'}` });
  for (const [a, b] of arrows) {
    const down = place[b][1] > place[a][1];
    const x1 = place[a][0] + width / 2, x2 = place[b][0] + width / 2;
    const y1 = place[a][1] + (down ? height : 0), y2 = place[b][1] - (down ? 7 : -height - 7), bend = Math.min(gap, Math.abs(y2 - y1) / 2) * (down ? 1 : -1);
    svg.append(draw('path', { d: `M${x1} ${y1} C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`, fill: 'none', stroke: 'var(--soft)', 'stroke-dasharray': down ? 'none' : '4 3' }),
      draw('path', { d: down ? `M${x2} ${y2 + 7} l-4 -8 h8 z` : `M${x2} ${y2 - 7} l-4 8 h8 z`, fill: 'var(--soft)', class: 'arrow' }));
  }
  const letters = Math.floor(width / 6.6);
  here.forEach((box, i) => {
    const [x, y] = place[i];
    const group = draw('g', box.composite ? { tabindex: 0, role: 'button' } : {}, draw('title', {}, `${box.name.trim()}: ${energy(box.value)}`),
      draw('rect', { x, y, width, height, rx: box.composite ? 14 : 0, fill: 'var(--paper)' }),
      draw('rect', { x, y, width, height, rx: box.composite ? 14 : 0, fill: 'var(--green)', 'fill-opacity': 0.06 + 0.6 * box.share, stroke: 'var(--soft)', class: 'box' }),
      draw('text', { x: x + 10, y: y + 21 }, box.label.length > letters ? `${box.label.slice(0, letters - 1)}…` : box.label),
      draw('text', { x: x + 10, y: y + 40 }, `${percent(box.share)} · ${energy(box.value)}`));
    if (box.composite) {
      group.addEventListener('click', () => show(box.name));
      group.addEventListener('keydown', (event) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); show(box.name); } });
    }
    svg.append(group);
  });
  return [svg, arrows.length, all.length - here.length];
}

function show(parent) {
  shown = parent;
  const [svg, arrows, hidden] = drawLevel(parent, Math.max(300, byId('diagram').clientWidth - 4));
  byId('diagram').replaceChildren(svg);
  const steps = ['', ...parent.split('/').filter(Boolean).map((_, i, parts) => parts.slice(0, i + 1).join('/'))];
  byId('where').replaceChildren(...steps.flatMap((step, i) => {
    const link = element('a', { href: '#', style: 'color:inherit' }, step ? lastPart(step) : 'program');
    link.addEventListener('click', (event) => { event.preventDefault(); show(step); });
    return i ? [' / ', link] : [link];
  }));
  byId('diagram-note').textContent = 'Shares of the boxes here; round boxes open. ' +
    (arrows ? 'Arrows: data flow.' : edges.length ? 'No data flows between these.' : 'No data flow is known for this trace: boxes only (give --model M.onnx).') +
    (hidden > 0 ? ` ${hidden} smaller boxes are not drawn.` : '');
}
function choose() {
  byId('passes').replaceChildren(...(choices.length > 1 ? choices : []).map((choice) => {
    const button = element('button', { type: 'button', 'aria-pressed': choice === pass }, choice === 'joules' ? 'all passes' : `${choice} (${energy(passes[choice])})`);
    button.addEventListener('click', () => { pass = choice; choose(); show(''); });
    return button;
  }));
}
choose();
// Opens where the address says (#bert/encoder), else at the first level that has something to compare.
let first = decodeURIComponent(location.hash.slice(1));
if (!byName.has(first)) for (first = ''; level(first).length === 1 && level(first)[0].composite;) first = level(first)[0].name;
show(first);
let width = window.innerWidth;
window.addEventListener('resize', () => { if (window.innerWidth !== width) { width = window.innerWidth; show(shown); } });

// Bars with whiskers: the interval of each figure.
const largest = (result.summary || []).slice(0, 15);
const most = Math.max(...largest.map((entry) => Math.min(entry.high, 2 * entry.joules)), 1e-30);
const bounds = result.devices.some((device) => device.method !== 'deconvolve');
byId('top-note').textContent = 'Repeated blocks are one; whiskers are the interval of each figure' +
  (bounds ? ', of overlap and recency the bounds that no attribution can leave; without an end they go on.' : '.');
byId('top').append(...largest.map((entry) => {
  const at = (joule) => `${Math.max(0, Math.min(100, 100 * joule / most))}%`;
  return element('div', {}, element('div', { class: 'small name' }, breakable(entry.name)),
    draw('svg', {}, draw('rect', { x: 0, y: 1, width: at(entry.joules), height: 14, fill: 'var(--green)' }),
      draw('line', { x1: at(entry.low), x2: at(entry.high), y1: 8, y2: 8, stroke: 'currentColor' }),
      ...['low', 'high'].filter((end) => entry[end] <= most).map((end) => draw('line', { x1: at(entry[end]), x2: at(entry[end]), y1: 4, y2: 12, stroke: 'currentColor' }))),
    element('div', { class: 'small soft' }, `${energy(entry.joules)} [${energy(entry.low)}, ${energy(entry.high)}] · ${quantity(entry.watts, 'W')} · ${entry.count} times`));
}));

if (result.precision) byId('precision').append(element('h2', {}, 'Precision'),
  element('p', { class: 'small soft' }, 'ASSS: the correlation of this account with the same made from fewer readings.'),
  sortedTable([
    { title: 'readings kept', cell: (p) => p.readings, sort: (p) => p.period_ms },
    { title: 'sampling period', cell: (p) => quantity(p.period_ms / 1e3, 's'), sort: (p) => p.period_ms, number: true },
    { title: 'ASSS', cell: (p) => p.asss.toFixed(4), sort: (p) => p.asss, number: true },
  ], result.precision, (p) => p.readings));

byId('devices').append(sortedTable([
  { title: 'device', cell: (d) => d.name, sort: (d) => d.name },
  { title: 'meter', cell: (d) => joules(d.meter_total), sort: (d) => d.meter_total.value, number: true },
  ...['idle', 'unattributed', 'residual'].map((part) => ({ title: part, number: true, sort: (d) => d[part].value,
    cell: (d) => `${joules(d[part])} [${energy(d[part].low)}, ${energy(d[part].high)}]` })),
  { title: 'method', cell: (d) => `${d.method}: ${d.verdict}`, sort: (d) => d.method, name: true },
  { title: 'provenance', cell: (d) => d.power, sort: (d) => d.power, name: true },
], result.devices, (d) => d.name));
byId('warnings').append(...(result.warnings || []).map((warning) => element('li', {}, warning)));

byId('operations').append(sortedTable([
  { title: 'operation', cell: (o) => o.name, sort: (o) => o.name, name: true },
  { title: 'device', cell: (o) => o.device, sort: (o) => o.device },
  { title: 'pass', cell: (o) => o.pass, sort: (o) => o.pass },
  { title: 'count', cell: (o) => String(o.count), sort: (o) => o.count, number: true },
  { title: 'time', cell: (o) => seconds(o.seconds), sort: (o) => o.seconds, number: true },
  { title: 'joules', cell: (o) => joules(o.joules), sort: (o) => (o.joules ? o.joules.value : -1), number: true },
  { title: 'interval', cell: (o) => (o.joules ? `${energy(o.joules.low)} to ${energy(o.joules.high)}` : '–'), sort: (o) => (o.joules ? o.joules.high : -1), number: true },
  { title: 'watts', cell: (o) => quantity(o.watts, 'W'), sort: (o) => o.watts || 0, number: true },
], result.operations, (o) => o.name));
