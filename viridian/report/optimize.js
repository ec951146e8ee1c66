// The page of `viridian optimize`: what changed and why, from the result alone.
function bars() {
  const rows = [];
  const add = (label, before, after, text) => {
    const most = Math.max(before, after);
    for (const [word, value, css] of [['before', before, ''], ['after', after, ' after']]) {
      rows.push(element('div', { class: 'small' }, `${label}, ${word}`));
      rows.push(element('div', { class: 'bar-row' },
        element('div', { class: `bar${css}`, style: `width:${(70 * value / most).toFixed(1)}%` }), element('span', {}, text(value))));
    }
  };
  const before = result.baseline, after = result.optimized;
  add('time', before.ran.seconds, after.ran.seconds, seconds);
  if (before.ran.joules && after.ran.joules)
    add('energy', before.ran.joules.value, after.ran.joules.value, (v) => quantity(v, 'J'));
  byId('bars').replaceChildren(...rows);
  const spread = (r) => `${seconds(r.low)} to ${seconds(r.high)}`;
  byId('bars-note').textContent =
    `Medians of ${after.ran.runs} interleaved runs; 95 % intervals ${spread(before.ran)} before, ${spread(after.ran)} after. ` +
    `Predicted: ${seconds(before.predicted.seconds)} before, ${seconds(after.predicted.seconds)} after. ` +
    `Energy is ${after.ran.joules ? after.ran.joules.provenance : 'not known'}.`;
}

function headline() {
  const ratio = result.baseline.ran.seconds / result.optimized.ran.seconds;
  byId('headline').textContent = `${result.model}: ${seconds(result.baseline.ran.seconds)} → ` +
    `${seconds(result.optimized.ran.seconds)} (${ratio.toFixed(2)}×)` +
    (result.optimized.ran.joules ? `, ${joules(result.baseline.ran.joules)} → ${joules(result.optimized.ran.joules)}` : '');
  byId('conditions').textContent = `${result.device} · ${result.threads} threads · objective ${result.objective} · ` +
    `meter ${result.meter} · solver ${result.assignment.solver}, value ${result.assignment.value.toPrecision(4)}, ` +
    `gap ${result.assignment.gap === 0 ? '0 (proven optimal)' : result.assignment.gap} · ${result.library}`;
}

function proof() {
  const v = result.verification;
  const table = sortedTable([
    { title: 'output', cell: (r) => r.name, sort: (r) => r.name, name: true },
    { title: 'relative L2 error', cell: (r) => r.error.toExponential(2), sort: (r) => r.error, number: true },
    { title: 'allowed', cell: (r) => r.allowed.toExponential(0), sort: (r) => r.allowed, number: true },
    { title: 'same NaNs', cell: (r) => (r.same_nan ? 'yes' : 'no'), sort: (r) => r.same_nan },
  ], v.outputs, (r) => r.name);
  byId('proof').replaceChildren(
    element('p', {}, element('span', { class: v.passed ? 'pass' : 'failed' }, v.passed ? 'passed' : 'failed'),
      ` on ${v.inputs} seeded inputs, against the original model on the reference kernels`), table);
}

function changes() {
  const list = element('ul', {});
  const counts = new Map();
  for (const r of result.rewrites) counts.set(r.rule, (counts.get(r.rule) || 0) + 1);
  for (const [rule, n] of counts) list.append(element('li', {}, `${rule}: ${n} ×`));
  const conversions = result.layers.filter((l) => l.kind === 'conversion').length;
  list.append(element('li', {}, `${result.layers.filter((l) => l.kind === 'kernel').length} kernels, ${conversions} layout conversions, ` +
    `${result.layers.filter((l) => l.kind === 'view').length} operators that cost nothing (views, concatenation in place)`));
  list.append(element('li', {}, `cost database: ${result.database.hits} hits, ${result.database.misses} measured now`));
  byId('changes').replaceChildren(list);
}

function layers() {
  byId('layers').replaceChildren(sortedTable([
    { title: 'layer', cell: (r) => r.name, sort: (r) => r.index, name: true },
    { title: 'operators', cell: (r) => r.operators.join(' + '), sort: (r) => r.operators.join() },
    { title: 'kernel', cell: (r) => r.kernel, sort: (r) => r.kernel, name: true },
    { title: 'layout', cell: (r) => `${r.inputs.map((i) => i.format).join(', ')} → ${r.outputs.join(', ')}`, sort: (r) => r.outputs.join(), name: true },
    { title: 'predicted', cell: (r) => seconds(r.predicted.seconds), sort: (r) => r.predicted.seconds, number: true },
    { title: 'ran', cell: (r) => seconds(r.ran.seconds), sort: (r) => r.ran.seconds || 0, number: true },
    { title: 'energy', cell: (r) => joules(r.predicted.joules), sort: (r) => (r.predicted.joules ? r.predicted.joules.value : 0), number: true },
  ], result.layers, (r) => `${r.name} ${r.operators.join(' ')} ${r.kernel} ${r.outputs.join(' ')}`));
}

// Blocks end where a single value is alive: residual blocks, fire and inception modules come out whole.
function blocks() {
  const last = new Map();
  result.layers.forEach((layer, i) => layer.inputs.forEach((input) => last.set(input.layer, i)));
  const found = [];
  let block = [];
  const alive = new Set();
  result.layers.forEach((layer, i) => {
    block.push(layer);
    for (const input of layer.inputs) if (last.get(input.layer) === i) alive.delete(input.layer);
    if (last.has(i)) alive.add(i);
    if (alive.size <= 1) { found.push(block); block = []; }
  });
  if (block.length) found.push(block);
  const merged = [];  // plain chains are one block, so that the list stays short
  for (const b of found) {
    const previous = merged[merged.length - 1];
    if (b.length === 1 && previous && previous.chain) previous.push(...b);
    else { merged.push(b); b.chain = b.length === 1; }
  }
  return merged;
}

const palette = ['#2f7fc1', '#d9822b', '#3f9b5f', '#9159b6', '#c2445b', '#4f8f95', '#8a7a2f', '#6b6f76'];
const colours = new Map();
function colour(format) {
  if (!colours.has(format)) colours.set(format, palette[colours.size % palette.length]);
  return colours.get(format);
}

function draw(block) {
  const depth = new Map();
  const rows = [];
  for (const layer of block) {
    const d = Math.max(0, ...layer.inputs.map((i) => (depth.has(i.layer) ? depth.get(i.layer) + 1 : 0)));
    depth.set(layer.index, d);
    (rows[d] = rows[d] || []).push(layer);
  }
  const w = 150, h = 34, gapX = 14, gapY = 22;
  const width = Math.max(...rows.map((r) => r.length)) * (w + gapX), height = rows.length * (h + gapY);
  const at = new Map();
  rows.forEach((row, y) => row.forEach((layer, x) =>
    at.set(layer.index, [(width - row.length * (w + gapX)) / 2 + x * (w + gapX) + gapX / 2, y * (h + gapY) + 4])));
  const svg = element('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img' });
  for (const layer of block) for (const input of layer.inputs) {
    if (!at.has(input.layer)) continue;
    const [x1, y1] = at.get(input.layer), [x2, y2] = at.get(layer.index);
    svg.append(element('path', { d: `M${x1 + w / 2} ${y1 + h} C${x1 + w / 2} ${y1 + h + gapY} ${x2 + w / 2} ${y2 - gapY} ${x2 + w / 2} ${y2}`,
      fill: 'none', stroke: colour(input.format), 'stroke-width': 1.5 }));
  }
  for (const layer of block) {
    const [x, y] = at.get(layer.index);
    const box = element('g', {}, element('title', {}, `${layer.name}\n${layer.kernel}\n${seconds(layer.predicted.seconds)} predicted`));
    box.append(element('rect', { x, y, width: w, height: h, rx: 4, fill: layer.outputs.length ? colour(layer.outputs[0]) : '#888', 'fill-opacity': 0.25,
      stroke: layer.outputs.length ? colour(layer.outputs[0]) : '#888', 'stroke-dasharray': layer.kind === 'kernel' ? 'none' : '4 3' }));
    const words = layer.operators.join('+');
    box.append(element('text', { x: x + 6, y: y + 14 }, words.length > 22 ? words.slice(0, 21) + '…' : words));
    box.append(element('text', { x: x + 6, y: y + 28, opacity: 0.7 }, `${layer.outputs[0] || ''} ${seconds(layer.predicted.seconds)}`));
    svg.append(box);
  }
  return element('div', { class: 'wide' }, svg);
}

function graph() {
  const seen = new Map();
  const shape = (b) => b.map((l) => l.operators.join('+')).join(' ');
  for (const b of blocks()) {
    const key = shape(b), known = seen.get(key);
    if (known) { known.blocks.push(b); continue; }
    const entry = { blocks: [b] };
    seen.set(key, entry);
  }
  const cost = (b) => b.reduce((sum, l) => sum + (l.predicted.seconds || 0), 0);
  for (const b of blocks()) {
    const same = seen.get(shape(b)).blocks;
    const first = same[0][0].index === b[0].index;
    const details = element('details', first && b.length < 40 ? { open: '' } : {});
    details.append(element('summary', {}, `${b[0].name}${b.length > 1 ? ` … ${b[b.length - 1].name}` : ''} `,
      element('span', { class: 'soft small' }, `${b.length} steps, ${seconds(cost(b))}${same.length > 1 ? `, one of ${same.length} alike` : ''}`)));
    let drawn = false;
    const show = () => { if (!drawn && details.open) { drawn = true; details.append(draw(b)); } };
    details.addEventListener('toggle', show);
    show();
    byId('graph').append(details);
  }
  byId('key').replaceChildren(...[...colours].map(([format, c]) =>
    element('span', {}, element('i', { style: `background:${c}` }), format)));
}

headline();
bars();
proof();
changes();
layers();
for (const layer of result.layers) layer.outputs.forEach(colour);
graph();
