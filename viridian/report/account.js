// The page of `viridian account`: energy distribution diagrams to zoom into, top consumers with whiskers, the books.
const boxes = result.diagram || [];
const lastPart = (name) => name.slice(name.lastIndexOf('/') + 1);
const energy = (value) => quantity(value, 'J');
const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 2 : 1)} %`;

byId('headline').textContent = `${energy(boxes.filter((box) => box.parent === '').reduce((sum, box) => sum + box.joules, 0))} in ${result.operations.length} operations`;
byId('conditions').textContent = `${result.trace} · ${result.power} · ${result.sharing} · ` +
  result.devices.map((d) => `${d.name}: ${d.method} from ${d.power}`).join(' · ');

// One level: composite layers round, tensors sharp, darker is more; arrows where data flow is known.
function drawLevel(parent) {
  const here = boxes.filter((box) => box.parent === parent).sort((a, b) => b.joules - a.joules).slice(0, 24);
  const columns = 4, width = 210, height = 64, gap = 34;
  const rows = Math.ceil(here.length / columns);
  const svg = element('svg', { viewBox: `0 0 ${columns * (width + gap)} ${Math.max(rows, 1) * (height + gap)}`, role: 'img', width: columns * (width + gap) });
  svg.append(element('title', {}, `energy in ${parent || 'the whole program'}`));
  const place = new Map(here.map((box, i) => [box.name, [(i % columns) * (width + gap) + 8, Math.floor(i / columns) * (height + gap) + 8]]));
  const owner = (name) => here.find((box) => name === box.name || name.startsWith(`${box.name}/`));
  const drawn = new Set();
  for (const edge of result.edges || []) {
    const from = owner(edge.from), to = owner(edge.to);
    if (!from || !to || from === to || drawn.has(`${from.name}\n${to.name}`)) continue;
    drawn.add(`${from.name}\n${to.name}`);
    const [x1, y1] = place.get(from.name), [x2, y2] = place.get(to.name);
    const a = [x1 + width / 2, y1 + height], b = [x2 + width / 2, y2];
    svg.append(element('path', { d: `M${a} C${a[0]} ${a[1] + gap} ${b[0]} ${b[1] - gap} ${b}`, fill: 'none', stroke: 'currentColor', opacity: 0.5 }),
      element('circle', { cx: b[0], cy: b[1], r: 3 }));
  }
  for (const box of here) {
    const [x, y] = place.get(box.name);
    const group = element('g', { style: box.composite ? 'cursor:pointer' : '' }, element('title', {}, `${box.name}: ${energy(box.joules)}`),
      element('rect', { x, y, width, height, rx: box.composite ? 14 : 0, fill: 'var(--green)', 'fill-opacity': 0.08 + 0.8 * box.share, stroke: 'var(--soft)' }),
      element('text', { x: x + 10, y: y + 26 }, lastPart(box.name).slice(0, 32)),
      element('text', { x: x + 10, y: y + 46 }, `${percent(box.share)} · ${energy(box.joules)}`));
    if (box.composite) group.addEventListener('click', () => show(box.name));
    svg.append(group);
  }
  return [svg, drawn.size, boxes.filter((box) => box.parent === parent).length - here.length];
}

function show(parent) {
  const [svg, arrows, hidden] = drawLevel(parent);
  byId('diagram').replaceChildren(svg);
  const steps = ['', ...parent.split('/').filter(Boolean).map((_, i, parts) => parts.slice(0, i + 1).join('/'))];
  byId('where').replaceChildren(...steps.flatMap((step, i) => {
    const link = element('a', { href: '#', style: 'color:inherit' }, step ? lastPart(step) : 'program');
    link.addEventListener('click', (event) => { event.preventDefault(); show(step); });
    return i ? [' / ', link] : [link];
  }));
  byId('diagram-note').textContent = `Share of this level; round boxes open. ${arrows ? 'Arrows: data flow.' : 'No data flow is known here: boxes only.'}` +
    (hidden > 0 ? ` ${hidden} smaller boxes are not drawn.` : '');
}
show('');

// Bars with whiskers: the interval of each figure.
const largest = (result.summary || []).slice(0, 15);
const most = Math.max(...largest.map((entry) => entry.joules), 1e-30);
const picture = element('svg', { viewBox: `0 0 900 ${largest.length * 26 + 4}`, width: 900, role: 'img' }, element('title', {}, 'largest consumers'));
largest.forEach((entry, i) => {
  const scale = (joule) => 300 * Math.min(joule / most, 1.15), y = i * 26 + 4;
  picture.append(element('rect', { x: 0, y, width: scale(entry.joules), height: 18, fill: 'var(--green)' }),
    element('line', { x1: scale(entry.low), x2: scale(entry.high), y1: y + 9, y2: y + 9, stroke: 'currentColor' }),
    element('text', { x: 360, y: y + 13 }, `${energy(entry.joules)} [${energy(entry.low)}, ${energy(entry.high)}] · ${quantity(entry.watts, 'W')} · ${entry.name}`));
});
byId('top').append(picture);

byId('devices').append(sortedTable([
  { title: 'device', cell: (d) => d.name, sort: (d) => d.name },
  { title: 'meter', cell: (d) => energy(d.meter_total), sort: (d) => d.meter_total, number: true },
  { title: 'idle', cell: (d) => energy(d.idle), sort: (d) => d.idle, number: true },
  { title: 'unattributed', cell: (d) => energy(d.unattributed), sort: (d) => d.unattributed, number: true },
  { title: 'residual', cell: (d) => energy(d.residual), sort: (d) => d.residual, number: true },
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
  { title: '95 %', cell: (o) => (o.joules ? `${energy(o.joules.low)} to ${energy(o.joules.high)}` : '–'), sort: (o) => (o.joules ? o.joules.high : -1), number: true },
  { title: 'watts', cell: (o) => quantity(o.watts, 'W'), sort: (o) => o.watts || 0, number: true },
], result.operations, (o) => o.name));
