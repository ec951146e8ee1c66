// The page of `viridian optimize`: what changed and why, from the result alone.
const recorded = result.recorded;  // prices from a file: nothing was run
const sides = { before: result.baseline, after: result.optimized };
const figures = (side) => {
  const from = side.ran || side.predicted;
  return { seconds: from.seconds, joules: from.joules, watts: from.joules ? from.joules.value / from.seconds : null };
};
const before = figures(sides.before), after = figures(sides.after);
const word = (energy) => (energy ? energy.provenance.split(':')[0] : '');
const ratio = (a, b) => (Math.abs(a / b - 1) < 0.005 ? 'the same' : a >= b ? `${(a / b).toFixed(2)}× less` : `${(b / a).toFixed(2)}× more`);

// A colour per format, in order of appearance; chosen to stand on light and dark paper.
const palette = ['#2f7fc1', '#d9822b', '#3f9b5f', '#9159b6', '#c2445b', '#4f8f95', '#8a7a2f', '#6b6f76'];
const colours = new Map();
function colour(format) {
  if (!colours.has(format)) colours.set(format, palette[colours.size % palette.length]);
  return colours.get(format);
}
for (const layer of result.layers) layer.outputs.forEach(colour);

function headline() {
  const energy = after.joules ? `, ${joules(before.joules)} → ${joules(after.joules)} (${ratio(before.joules.value, after.joules.value)}, ${word(after.joules)})` : '';
  byId('headline').textContent = `${result.model}: ${seconds(before.seconds)} → ${seconds(after.seconds)} (${ratio(before.seconds, after.seconds)}${recorded ? ', predicted' : ''})${energy}`;
  byId('conditions').textContent = recorded
    ? `For ${result.device}, with the prices of ${recorded.file}: nothing was timed and nothing was run · objective ${result.objective}`
    : `${result.device} · ${result.threads} threads · ${result.library} · meter ${result.meter} · objective ${result.objective}`;
}

// What the interval of a figure means: that of an estimate is a convention, and no probability belongs to it.
const factorOfTwo = 'a factor of two by convention';
const meaning = (origin) => (origin === 'estimated' ? factorOfTwo : '95 %');

// A bar per figure; a thin line shows its interval, a notch what was predicted.
function bars() {
  const group = (title, unit, origin, value, interval, predicted) => {
    const a = value(before), b = value(after);
    if (a === null || b === null) return [];
    const most = Math.max(a, b, ...['before', 'after'].flatMap((s) => interval(sides[s]))) * 1.02;
    const percent = (v) => `${(100 * Math.min(v / most, 1)).toFixed(2)}%`;
    const row = (label, v, side, css) => {
      const track = element('div', { class: 'track' }, element('div', { class: `bar ${css}`, style: `width:${percent(v)}` }));
      const [low, high] = interval(side);
      if (high > low) track.append(element('div', { class: 'interval', title: `${origin}: ${quantity(low, unit)} to ${quantity(high, unit)}`,
        style: `left:${percent(low)};width:${((100 * (high - low)) / most).toFixed(2)}%` }));
      const p = predicted(side);
      if (p !== null && p <= most) track.append(element('div', { class: 'notch', title: `predicted ${quantity(p, unit)}`, style: `left:${percent(p)}` }));
      return element('div', { class: 'measure' }, element('span', { class: 'soft' }, label), track, element('b', {}, quantity(v, unit)));
    };
    return [element('div', { class: 'metric' }, element('h3', {}, title, element('span', { class: 'soft' }, ` ${ratio(a, b)}`)),
      row('before', a, sides.before, ''), row('after', b, sides.after, 'after'))];
  };
  const ran = (side, what) => (side.ran ? what(side.ran) : []);
  const energyWord = word(after.joules);
  byId('bars').replaceChildren(
    ...group('Time', 's', meaning('measured'), (f) => f.seconds, (s) => ran(s, (r) => [r.low, r.high]), (s) => (s.ran ? s.predicted.seconds : null)),
    ...group(`Energy, ${energyWord}`, 'J', meaning(energyWord), (f) => (f.joules ? f.joules.value : null), (s) => ran(s, (r) => (r.joules ? [r.joules.low, r.joules.high] : [])),
      (s) => (s.ran && s.predicted.joules ? s.predicted.joules.value : null)),
    ...group(`Power, ${energyWord}`, 'W', '', (f) => f.watts, () => [], () => null));
  byId('bars-note').textContent = sides.after.ran
    ? `Before: constants and shapes folded, every operator by itself with its first kernel, nothing fused or rewritten. Medians of ${sides.after.ran.runs} interleaved runs; thin lines: 95 % intervals${energyWord === 'estimated' ? `, of joules ${factorOfTwo}` : ''}; ` +
      `notches: predicted by stored prices before the plan ran (time ${percentOff(sides.after.predicted)} off after optimisation). ` +
      `Its kernels and conversions, timed one by one in turn with these runs, add up to ${seconds(sides.after.timed_alone.seconds)} (${percentOff(sides.after.timed_alone)}).` +
      (energyWord === 'estimated' ? ' Joules are a model of time and memory traffic: without a meter they rank plans of as many threads as time does.' : '')
    : 'Before: constants and shapes folded, every operator by itself with its first kernel, nothing fused or rewritten. All figures are sums of recorded prices.';
}
const percentOff = (expected) => `${(100 * (expected.seconds / sides.after.ran.seconds - 1)).toFixed(1).replace('-', '−')} %`;

function proof() {
  const v = result.verification;
  if (!v) {
    byId('proof').replaceChildren(element('p', {}, 'Outputs were not compared: nothing was run. Every rewrite is certified; ',
      element('code', {}, 'viridian check'), ' replays them from the original.'));
    return;
  }
  const table = sortedTable([
    { title: 'output', cell: (r) => r.name, sort: (r) => r.name, name: true },
    { title: 'relative L2 error', cell: (r) => r.error.toExponential(2), sort: (r) => r.error, number: true },
    { title: 'allowed', cell: (r) => r.allowed.toExponential(0), sort: (r) => r.allowed, number: true },
    { title: 'same NaNs', cell: (r) => (r.same_nan ? 'yes' : 'no'), sort: (r) => r.same_nan },
  ], v.outputs, (r) => r.name);
  byId('proof').replaceChildren(
    element('p', {}, element('span', { class: v.passed ? 'pass' : 'failed' }, v.passed ? 'passed' : 'failed'),
      ` on ${v.inputs} ${v.inputs === 1 ? 'input' : 'inputs'}, against the original model on the reference kernels`), table);
}

// How near the plan is to the cheapest one; only `exact` has a bound. Mixes and products have no unit.
function nearness({ value, bound, gap }) {
  const unit = { time: 's', energy: 'J', power: 'W' }[result.objective.split(' @')[0]] || '';
  if (bound === null) return `${quantity(value, unit)}; no bound known, cheaper plans of this graph may exist`;
  if (gap <= 0) return "the cheapest of this graph's plans at these prices (gap 0)";
  return `gap ${quantity(gap, unit)}: ${quantity(value, unit)}, and no plan of this graph is below ${quantity(bound, unit)}`;
}

function changes() {
  const list = element('ul', {});
  const counts = new Map();
  for (const r of result.rewrites) counts.set(r.rule, (counts.get(r.rule) || 0) + 1);
  for (const [rule, n] of counts) list.append(element('li', {}, `${rule}: ${n} ×`));
  const count = (kind) => result.layers.filter((l) => l.kind === kind).length;
  const some = (n, one, many) => `${n} ${n === 1 ? one : many}`;
  list.append(element('li', {}, `${some(count('kernel'), 'kernel', 'kernels')}, ${some(count('conversion'), 'conversion or copy', 'conversions and copies')}, ` +
    `${some(count('view'), 'operator that costs', 'operators that cost')} nothing (views, concatenation in place)`));
  list.append(element('li', {}, `chosen by ${result.assignment.solver}, ${nearness(result.assignment)}`));
  if (result.search) list.append(element('li', {}, `${result.search.graphs} equal graphs priced in ${quantity(result.search.seconds, 's')} (${result.search.method}, ended by ${result.search.ended_by}${result.search.unpriced ? `, ${result.search.unpriced} without a price left out` : ''}${result.search.crowded_out ? `, ${result.search.crowded_out} not gone on from: too many cheaper ones waited` : ''})`));
  if (result.precision) {
    const p = result.precision;
    list.append(element('li', {}, `bf16: ${p.bf16_regions} of ${p.regions} regions, ${p.casts} casts`));
    const kept = Object.entries(p.kept_f32);
    if (kept.length) list.append(element('li', {}, `kept in f32 because bf16 is not safe there: ${kept.map(([op, n]) => `${op} ${n} ×`).join(', ')}`));
    for (const f of p.forbidden)
      list.append(element('li', {}, `${f.kept === 'f32' ? 'kept in f32' : 'without minimal filtering in bf16'} by the error budget: ${f.node} (alone it moved the outputs by ` +
        `${f.output_error === null ? 'infinity or NaN' : f.output_error.toExponential(1)})`));
  }
  const { rewrites_dropped: dropped, only_reference: slow } = result.verification || {};
  if (dropped) list.append(element('li', {}, 'no rewrite was kept: with them the outputs differ by more than is allowed'));
  if (slow) list.append(element('li', {}, `${some(slow, 'kind of region runs', 'kinds of region run')} on the reference kernels: with every faster kernel the outputs differ by more than is allowed`));
  if (result.database) list.append(element('li', {}, `cost database: ${result.database.hits} prices known, ${result.database.misses} measured for this`));
  byId('changes').replaceChildren(list);
}

// "nChw16c:f32" → layout and precision
const layoutOf = (format) => format.split(':')[0];
const precisionOf = (format) => (format.split(':').slice(1).join(':') || '–').split('@')[0];
const distinct = (list) => [...new Set(list)];

function layers() {
  const provenances = distinct(result.layers.map((l) => l.predicted.joules && l.predicted.joules.provenance).filter(Boolean));
  const energyTitle = provenances.length === 1 ? `energy, ${provenances[0].split(':')[0]}` : 'energy';
  const chips = (formats) => element('span', {}, ...formats.flatMap((f, i) => [...(i ? [' '] : []),
    element('span', { class: 'nobreak' }, element('i', { class: 'chip', style: `background:${colour(f)}` }), layoutOf(f))]));
  const ran = (l) => (l.ran ? l.ran.seconds : null);
  const columns = [
    { title: 'layer', cell: (r) => breakable(r.name), sort: (r) => r.index, name: true },
    { title: 'operators', cell: (r) => r.operators.join(' + '), sort: (r) => r.operators.join() },
    { title: 'kernel', cell: (r) => breakable(r.kernel), sort: (r) => r.kernel, name: true },
    { title: 'layout', sort: (r) => r.outputs.join(), cell: (r) => {
      const from = distinct(r.inputs.map((i) => i.format)), to = distinct(r.outputs);
      return from.join() === to.join() ? chips(to) : element('span', {}, chips(from), ' → ', chips(to)); } },
    { title: 'precision', cell: (r) => distinct([...r.inputs.map((i) => precisionOf(i.format)), ...r.outputs.map(precisionOf)]).join(' → '), sort: (r) => r.outputs.join() },
    { title: 'predicted', cell: (r) => seconds(r.predicted.seconds), sort: (r) => r.predicted.seconds, number: true },
  ];
  if (!recorded) columns.push(
    { title: 'alone', cell: (r) => seconds(r.timed_alone.seconds), sort: (r) => r.timed_alone.seconds || 0, number: true },
    { title: 'ran', cell: (r) => seconds(ran(r)), sort: (r) => ran(r) || 0, number: true },
    { title: 'predicted / ran', cell: (r) => (ran(r) ? (r.predicted.seconds / ran(r)).toFixed(2) : '–'), sort: (r) => (ran(r) ? r.predicted.seconds / ran(r) : 0), number: true });
  columns.push({ title: energyTitle, number: true, sort: (r) => (r.predicted.joules ? r.predicted.joules.value : 0), cell: (r) => {
    if (!r.predicted.joules) return '–';
    const e = r.predicted.joules;
    return element('span', { title: `${e.provenance}, ${quantity(e.low, 'J')} to ${quantity(e.high, 'J')}` },
      provenances.length === 1 ? joules(e) : `${joules(e)} ${e.provenance}`); } });
  const total = result.layers.reduce((sum, l) => sum + (l.predicted.seconds || 0), 0);
  byId('layers-note').textContent = `${result.layers.length} steps in execution order; a title sorts. Predicted seconds sum to ${seconds(total)}. ` +
    (recorded ? 'Seconds and joules are prices of the file.' : 'Alone: timed one by one, in turn with the runs. Ran: median of recorded runs of this plan, a little slower than unrecorded ones. Joules are predicted.');
  byId('layers').replaceChildren(sortedTable(columns, result.layers, (r) => `${r.name} ${r.operators.join(' ')} ${r.kernel} ${r.outputs.join(' ')}`));
}

function sources() {
  const facts = [];
  const fact = (name, text) => facts.push(element('dt', {}, name), element('dd', {}, text));
  if (recorded) {
    fact('seconds', `prices in ${recorded.file} (${recorded.schema}), summed; nothing was timed on this machine`);
    fact('joules', `${sides.after.predicted.joules.provenance}, prices in the same file, summed`);
  } else {
    fact('seconds, ran', `medians of ${sides.after.ran.runs} interleaved runs on ${result.device}, ${result.threads} threads; 95 % intervals ` +
      `${seconds(sides.before.ran.low)} to ${seconds(sides.before.ran.high)} before, ${seconds(sides.after.ran.low)} to ${seconds(sides.after.ran.high)} after`);
    fact('seconds, predicted', `sums of the stored prices that the plans were chosen by, before they first ran: ${seconds(sides.before.predicted.seconds)} before, ${seconds(sides.after.predicted.seconds)} after`);
    fact('seconds, alone', `sums of the same kernels and conversions, timed one by one in turn with the runs: ${seconds(sides.before.timed_alone.seconds)} before, ${seconds(sides.after.timed_alone.seconds)} after`);
    for (const [name, side] of Object.entries(sides)) if (side.ran.joules)
      fact(`joules, ${name}`, `${side.ran.joules.provenance}, ${quantity(side.ran.joules.low, 'J')} to ${quantity(side.ran.joules.high, 'J')} (${meaning(word(side.ran.joules))})`);
    fact('joules of layers', `${distinct(result.layers.map((l) => l.predicted.joules && l.predicted.joules.provenance).filter(Boolean)).join(', ')}, by kernel`);
    fact('watts', 'joules by seconds of the same run');
  }
  if (result.frontier) fact('trade-offs', 'predicted: optima of weighted sums of seconds and joules over this graph');
  if (result.fingerprint) fact('machine', result.fingerprint);
  byId('sources').replaceChildren(...facts);
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

function draw(block) {
  const depth = new Map();
  const rows = [];
  for (const layer of block) {
    const d = Math.max(0, ...layer.inputs.map((i) => (depth.has(i.layer) ? depth.get(i.layer) + 1 : 0)));
    depth.set(layer.index, d);
    (rows[d] = rows[d] || []).push(layer);
  }
  const w = 156, h = 36, gapX = 12, gapY = 22;
  const width = Math.max(...rows.map((r) => r.length)) * (w + gapX), height = rows.length * (h + gapY);
  const at = new Map();
  rows.forEach((row, y) => row.forEach((layer, x) =>
    at.set(layer.index, [(width - row.length * (w + gapX)) / 2 + x * (w + gapX) + gapX / 2, y * (h + gapY) + 4])));
  const svg = element('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': `${block.length} steps from ${block[0].name}` });
  for (const layer of block) for (const input of layer.inputs) {
    if (!at.has(input.layer)) continue;
    const [x1, y1] = at.get(input.layer), [x2, y2] = at.get(layer.index);
    svg.append(element('path', { d: `M${x1 + w / 2} ${y1 + h} C${x1 + w / 2} ${y1 + h + gapY} ${x2 + w / 2} ${y2 - gapY} ${x2 + w / 2} ${y2}`,
      fill: 'none', stroke: colour(input.format), 'stroke-width': 1.5 }));
  }
  const short = (words, most) => (words.length > most ? `${words.slice(0, most - 1)}…` : words);
  for (const layer of block) {
    const [x, y] = at.get(layer.index), c = layer.outputs.length ? colour(layer.outputs[0]) : '#888';
    const times = `${seconds(layer.predicted.seconds)} predicted${layer.ran ? `, ${seconds(layer.ran.seconds)} ran` : ''}`;
    svg.append(element('g', {}, element('title', {}, `${layer.name}\n${layer.kernel}\n${layer.outputs.join(', ')}\n${times}`),
      element('rect', { x, y, width: w, height: h, rx: 4, fill: 'var(--paper)' }),
      element('rect', { x, y, width: w, height: h, rx: 4, fill: c, 'fill-opacity': 0.22, stroke: c, 'stroke-dasharray': layer.kind === 'kernel' ? 'none' : '4 3' }),
      element('text', { x: x + 7, y: y + 15 }, short(layer.operators.join(' + '), 25)),
      element('text', { x: x + 7, y: y + 29, opacity: 0.75 }, short(`${(layer.outputs[0] || '').split(':')[0]} · ${layer.predicted.seconds ? seconds(layer.predicted.seconds) : 'no cost'}`, 26))));
  }
  return element('div', { class: 'wide' }, svg);
}

// One line per block: open the first of its shape; the others, and long chains, on a click. The strip shows
// the layouts of its steps.
function graph() {
  const all = blocks();
  const shape = (b) => b.map((l) => `${l.operators.join('+')} ${l.outputs.join()}`).join(' ');
  const alike = new Map();
  for (const b of all) alike.set(shape(b), [...(alike.get(shape(b)) || []), b]);
  const cost = (b) => b.reduce((sum, l) => sum + (l.predicted.seconds || 0), 0);
  for (const b of all) {
    const same = alike.get(shape(b));
    const details = element('details', same[0] === b && b.length < 40 ? { open: '' } : {});
    const joulesOf = b.reduce((sum, l) => sum + (l.predicted.joules ? l.predicted.joules.value : 0), 0);
    details.append(element('summary', {}, `${b[0].name}${b.length > 1 ? ` … ${b[b.length - 1].name}` : ''} `,
      element('span', { class: 'soft small' }, `${b.length} ${b.length === 1 ? 'step' : 'steps'}, ${seconds(cost(b))}, ${quantity(joulesOf, 'J')}${same.length > 1 ? `, ${same.indexOf(b) + 1} of ${same.length} alike` : ''}`),
      element('span', { class: 'strip', 'aria-hidden': 'true' }, ...b.filter((l) => l.outputs.length).map((l) =>
        element('i', { style: `background:${colour(l.outputs[0])}` })))));
    let drawn = false;
    const show = () => {
      if (drawn || !details.open) return;
      drawn = true;
      const picture = draw(b);
      details.append(picture);
      if (picture.firstChild.getAttribute('width') > 360) details.classList.add('broad');
    };
    details.addEventListener('toggle', show);
    show();
    byId('graph').append(details);
  }
  byId('key').replaceChildren(...[...colours].map(([format, c]) =>
    element('span', {}, element('i', { style: `background:${c}` }), format)));
}

// Every best trade on the optimised graph: the hull, its vertices, and the plan that was chosen.
function frontier() {
  const list = result.frontier && result.frontier.vertices;
  if (!list) return;
  const priced = result.optimized.predicted;  // as the frontier is
  const chosen = { seconds: priced.seconds, joules: priced.joules.value };
  const box = byId('frontier');
  box.append(element('h2', {}, 'Trade-offs of time against energy'));
  const resolved = result.frontier.unresolved === 0;
  box.append(element('p', { class: 'small soft' }, `${list.length === 1 ? 'One plan is best in both: the model of joules follows time here' : `${list.length} plans, none better in both`}; ` +
    `predicted, ${result.optimized.predicted.joules.provenance}. ${resolved ? 'Complete for this graph: no other weights of time and energy give another plan of it.' : `${(100 * result.frontier.unresolved).toFixed(2)} % of the area is not resolved.`}`));
  if (list.length > 1) {
    const width = Math.max(300, Math.min(720, box.clientWidth || 720)), height = Math.round(Math.min(360, width * 0.75));
    const left = 62, right = 14, top = 12, bottom = 44;
    const range = (values) => { const low = Math.min(...values), high = Math.max(...values), pad = (high - low) * 0.06 || high * 0.01; return [low - pad, high + pad]; };
    const [x0, x1] = range([...list.map((v) => v.seconds), chosen.seconds]), [y0, y1] = range([...list.map((v) => v.joules), chosen.joules]);
    const x = (v) => left + ((v - x0) / (x1 - x0)) * (width - left - right), y = (v) => height - bottom - ((v - y0) / (y1 - y0)) * (height - top - bottom);
    const svg = element('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': 'energy against time' });
    const ticks = (low, high, most) => {
      const raw = (high - low) / most, power = 10 ** Math.floor(Math.log10(raw));
      const step = [1, 2, 5, 10].find((m) => m * power >= raw) * power, out = [];
      for (let i = Math.ceil(low / step); i * step <= high; ++i) out.push(i * step);
      return out;
    };
    for (const v of ticks(x0, x1, width / 110)) svg.append(element('line', { x1: x(v), x2: x(v), y1: top, y2: height - bottom, stroke: 'var(--line)' }),
      element('text', { x: x(v), y: height - bottom + 16, 'text-anchor': 'middle' }, seconds(v)));
    for (const v of ticks(y0, y1, 5)) svg.append(element('line', { x1: left, x2: width - right, y1: y(v), y2: y(v), stroke: 'var(--line)' }),
      element('text', { x: left - 6, y: y(v) + 4, 'text-anchor': 'end' }, quantity(v, 'J')));
    svg.append(element('text', { x: (left + width - right) / 2, y: height - 8, 'text-anchor': 'middle' }, 'time of one run'),
      element('polyline', { points: list.map((v) => `${x(v.seconds)},${y(v.joules)}`).join(' '), fill: 'none', stroke: 'var(--green)', 'stroke-width': 1.5 }));
    const words = (v) => `${seconds(v.seconds)}, ${quantity(v.joules, 'J')}, ${quantity(v.joules / v.seconds, 'W')}`;
    for (const v of list) svg.append(element('circle', { cx: x(v.seconds), cy: y(v.joules), r: 4, fill: v.proven ? 'var(--green)' : 'var(--paper)', stroke: 'var(--green)' }, element('title', {}, words(v))));
    svg.append(element('circle', { cx: x(chosen.seconds), cy: y(chosen.joules), r: 8, fill: 'none', stroke: 'var(--ink)', 'stroke-width': 2 }, element('title', {}, `chosen: ${words(chosen)}`)));
    box.append(svg, element('p', { class: 'small soft' }, 'Circled: the plan that was chosen. Filled points are proven optimal for their weights.'));
  }
  const table = sortedTable([
    { title: 'time', cell: (v) => seconds(v.seconds), sort: (v) => v.seconds, number: true },
    { title: 'energy', cell: (v) => quantity(v.joules, 'J'), sort: (v) => v.joules, number: true },
    { title: 'power', cell: (v) => quantity(v.watts, 'W'), sort: (v) => v.watts, number: true },
    { title: 'proven', cell: (v) => (v.proven ? 'yes' : 'no'), sort: (v) => v.proven, number: true },
  ], list, (v) => `${v.seconds} ${v.joules}`);
  box.append(element('details', {}, element('summary', {}, `the ${list.length === 1 ? 'plan' : `${list.length} plans`} as a table`), table));
}

headline();
bars();
frontier();
proof();
changes();
layers();
sources();
graph();
