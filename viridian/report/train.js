// The page of `viridian train`: curves, epochs, and the joules of every layer, from the result alone.
const epochs = result.epochs, curve = result.curve || [], energy = result.energy || {};
const provenance = energy.provenance || 'no meter';
const word = provenance.split(':')[0];
const between = (figure) => (figure ? `${quantity(figure.low, 'J')} to ${quantity(figure.high, 'J')}` : '–');
const withInterval = (figure) => element('span', {}, joules(figure), ...(figure ? [element('br'), element('span', { class: 'soft' }, between(figure))] : []));
const size = (figure) => (figure ? figure.value : -1);
const number = (value) => (value === null || value === undefined || !isFinite(value) ? '–' : Number(value.toPrecision(4)).toString());
const metrics = [...new Set(epochs.flatMap((epoch) => Object.keys(epoch.metrics)))];

// Round numbers between `low` and `high`, about `most` of them.
function ticks(low, high, most) {
  const raw = (high - low) / most, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((m) => m * power >= raw) * power, out = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) out.push(i * step);
  return out;
}

// Lines over steps or epochs. series: [{points: [[x, y]], colour, dots, name}]; several have names. bands: [[x, low, high]].
function chart(title, note, series, text, xTitle, { bands = [], zero = false } = {}) {
  const points = series.flatMap((s) => s.points).filter(([, y]) => isFinite(y));
  if (!points.length) return [];
  const width = 400, height = 190, left = 62, right = 10, top = 8, bottom = 36;
  const xs = points.map(([x]) => x), ys = points.map(([, y]) => y);
  let x0 = Math.min(...xs), x1 = Math.max(...xs), y0 = Math.min(...ys), y1 = Math.max(...ys);
  for (const [, low, high] of bands) { y0 = Math.min(y0, low); y1 = Math.max(y1, high); }
  if (zero) y0 = Math.min(0, y0);
  if (x0 === x1) { x0 -= 0.5; x1 += 0.5; }
  const margin = (y1 - y0) * 0.05 || Math.abs(y1) * 0.1 || 1;
  if (!zero) y0 -= margin;
  y1 += margin;
  const x = (v) => left + ((v - x0) / (x1 - x0)) * (width - left - right), y = (v) => height - bottom - ((v - y0) / (y1 - y0)) * (height - top - bottom);
  const svg = element('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': title });
  for (const v of ticks(y0, y1, 4)) svg.append(element('line', { x1: left, x2: width - right, y1: y(v), y2: y(v), stroke: 'var(--line)' }),
    element('text', { x: left - 6, y: y(v) + 4, 'text-anchor': 'end' }, text(v)));
  for (const v of ticks(x0, x1, 5).filter(Number.isInteger)) svg.append(element('text', { x: x(v), y: height - bottom + 15, 'text-anchor': 'middle' }, String(v)));
  svg.append(element('text', { x: (left + width - right) / 2, y: height - 4, 'text-anchor': 'middle', fill: 'var(--soft)' }, xTitle));
  for (const [at, low, high] of bands) svg.append(element('line', { x1: x(at), x2: x(at), y1: y(low), y2: y(high), stroke: 'var(--soft)' }));
  for (const s of series) {
    const known = s.points.filter(([, v]) => isFinite(v));
    if (known.length > 1 && !s.dots) svg.append(element('polyline', { points: known.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(' '), fill: 'none', stroke: s.colour, 'stroke-width': 1.5, 'stroke-linejoin': 'round' }));
    if (known.length <= 40 || s.dots) for (const [a, b] of known) svg.append(element('circle', { cx: x(a), cy: y(b), r: 2.5, fill: s.colour }, element('title', {}, `${xTitle} ${a}: ${text(b)}`)));
  }
  return [element('figure', {}, element('figcaption', {}, title, element('span', { class: 'soft' }, note ? ` ${note}` : ''), ...(series.length > 1 ? series.flatMap((s) => [' ', element('i', { class: 'chip', style: `background:${s.colour}` }), element('span', { class: 'soft' }, s.name)]) : [])), svg)];
}

function headline() {
  const first = epochs[0], last = epochs[epochs.length - 1];
  const judged = last && metrics.length ? `, ${metrics.map((name) => `${name} ${number(last.metrics[name])}`).join(', ')}` : '';
  byId('headline').textContent = last
    ? `${result.model}: loss ${number(first.loss)} → ${number(last.loss)}${judged}`
    : `${result.model}: ${result.steps} steps`;
  const step = energy.joules_a_step ? ` · ${joules(energy.joules_a_step)} a step (${provenance})` : ` · ${provenance}`;
  byId('conditions').textContent = `${result.steps} steps${result.cancelled ? ', then stopped' : ''} · ${result.parameters.toLocaleString('en')} parameters · wrote ${result.file}${step}` +
    (result.resumed_from ? ` · resumed from ${result.resumed_from}, this page shows what followed` : '');
}

function curves() {
  const judged = epochs.filter((e) => isFinite(e.evaluation_loss ?? NaN));
  const green = 'var(--green)', of = (value) => curve.map((p) => [p.step, value(p)]);
  byId('curves').replaceChildren(
    ...chart('Loss', judged.length ? '' : 'of training steps', [{ points: of((p) => p.loss), colour: green, name: 'training' },
      ...(judged.length ? [{ points: judged.map((e) => [e.step, e.evaluation_loss]), colour: '#d9822b', name: 'evaluation' }] : [])], number, 'step'),
    ...metrics.flatMap((name) => chart(name, 'of evaluations', [{ points: epochs.map((e) => [e.epoch, e.metrics[name]]), colour: green }], number, 'epoch')),
    ...chart('Rate', '', [{ points: of((p) => p.rate), colour: green }], number, 'step', { zero: true }),
    ...chart('Samples per second', 'data included', [{ points: of((p) => p.samples / p.seconds), colour: green }], number, 'step', { zero: true }),
    ...chart('Power', word, [{ points: of((p) => (p.joules ? p.joules.value / p.seconds : NaN)), colour: green }], (v) => quantity(v, 'W'), 'step', { zero: true }),
    ...chart('Joules per epoch', `of steps, ${word}; lines: interval`, [{ points: epochs.map((e) => [e.epoch, e.joules ? e.joules.value : NaN]), colour: green, dots: true }], (v) => quantity(v, 'J'), 'epoch',
      { zero: true, bands: epochs.filter((e) => e.joules).map((e) => [e.epoch, e.joules.low, e.joules.high]) }));
  const widest = Math.max(0, ...curve.map((p) => p.steps));
  byId('curves-note').textContent = widest > 1 ? `Each point is the mean of up to ${widest} steps.` : '';
}

function epochTable() {
  byId('epochs').replaceChildren(sortedTable([
    { title: 'epoch', cell: (e) => String(e.epoch), sort: (e) => e.epoch, number: true },
    { title: 'loss', cell: (e) => number(e.loss), sort: (e) => e.loss, number: true },
    ...(epochs.some((e) => isFinite(e.evaluation_loss ?? NaN)) ? [{ title: 'evaluation loss', cell: (e) => number(e.evaluation_loss), sort: (e) => e.evaluation_loss, number: true }] : []),
    ...metrics.map((name) => ({ title: name, cell: (e) => number(e.metrics[name]), sort: (e) => e.metrics[name], number: true })),
    { title: 'time', cell: (e) => seconds(e.seconds), sort: (e) => e.seconds, number: true },
    { title: 'samples/s', cell: (e) => number(e.samples / e.seconds), sort: (e) => e.samples / e.seconds, number: true },
    ...[['joules', `steps, ${word}`], ['evaluation_joules', 'evaluation'], ['checkpoint_joules', 'checkpoints']].filter(([field]) => epochs.some((e) => e[field]))
      .map(([field, title]) => ({ title, cell: (e) => withInterval(e[field]), sort: (e) => size(e[field]), number: true })),
  ], epochs, (e) => String(e.epoch)));
}

// A bar and a table of the parts of a sum. parts: [[name, energy, colour, meaning]].
function sum(parts, all) {
  const known = parts.filter(([, energy]) => energy), share = (energy) => (all.value > 0 ? (100 * energy.value) / all.value : 0);
  return [element('div', { class: 'parts' }, ...known.map(([name, energy, colour]) =>
      element('i', { style: `background:${colour};width:${Math.max(0, share(energy)).toFixed(2)}%`, title: `${name} ${joules(energy)}` }))),
    sortedTable([
      { title: 'part', cell: ([name, , colour]) => element('span', {}, ...(colour ? [element('i', { class: 'chip', style: `background:${colour}` })] : []), name), sort: ([name]) => name },
      { title: 'joules', cell: ([, energy]) => joules(energy), sort: ([, energy]) => energy.value, number: true },
      { title: 'interval', cell: ([, energy]) => between(energy), sort: ([, energy]) => energy.high, number: true },
      { title: 'share', cell: ([, energy]) => `${share(energy).toFixed(1)} %`, sort: ([, energy]) => energy.value, number: true },
      { title: 'what it is', cell: ([, , , meaning]) => meaning, sort: ([name]) => name, name: true },
    ], [...known, ['in all', all, '', `the meter, ${all.provenance}`]], ([name]) => name)];
}

function run() {
  const parts = energy.run;
  if (!parts || !parts.all) {
    byId('run-note').textContent = 'The run was too short for the meter, or the meter failed in it, so its joules are not known.';
    return;
  }
  byId('run-note').textContent = 'From the first step to the written model: everything that the processors used, idle power and other programs included.';
  byId('run').append(...sum([
    ['steps', parts.steps, 'var(--green)', `${result.steps} steps${energy.joules_a_step ? `, ${joules(energy.joules_a_step)} each` : ''}, waiting for data included`],
    ['evaluations', parts.evaluations, '#2f7fc1', 'judging the network after epochs'],
    ['checkpoints', parts.checkpoints, '#d9822b', 'writing what a resumed run needs'],
    ['other', parts.other, 'var(--before)', 'accounting of recorded steps, writing the model'],
  ], parts.all));
}

function step() {
  const books = energy.step;
  if (!books || !energy.joules.all) {
    byId('step-note').textContent = 'No step was recorded long enough for the meter.';
    return;
  }
  byId('step-note').textContent = `Mean of ${energy.recorded_steps} recorded steps. Kernels have the idle power of the machine while they run; intervals say how far the meter's readings leave open which part it was.`;
  byId('step').append(...sum([
    ...phases.map(([phase, colour]) => [phase === 'other' ? 'conversions' : phase, energy.joules[phase], colour, meanings[phase]]),
    ['idle', books.idle, 'var(--idle)', 'between kernels'],
    ['unattributed', books.unattributed, 'var(--line)', 'readings that reach beyond the recorded steps'],
    ['residual', books.residual, 'var(--soft)', 'what the fit leaves over'],
    ['other processes', books.other_processes, 'var(--others)', 'by their share of the busy time'],
  ], books.all));
}

const phases = [['forward', 'var(--green)'], ['backward', '#2f7fc1'], ['update', '#d9822b'], ['other', 'var(--before)']];
const meanings = { forward: 'kernels of the forward pass', backward: 'kernels of gradients', update: 'kernels of the optimiser', other: 'kernels between layouts of tensors' };
function layers() {
  const rows = energy.layers || [];
  if (!rows.length) {
    byId('layers-note').textContent = 'No step was recorded long enough for the meter, so the joules of layers are not known.';
    return;
  }
  const used = phases.filter(([phase]) => energy.joules[phase]);
  const figure = rows[0].joules.all.provenance;
  byId('layers-note').textContent = `Mean of ${energy.recorded_steps} recorded steps (${quantity(energy.recorded_seconds, 's')} of the run), ${figure}. ` +
    `A layer has the kernels of its forward pass, of its gradients and of the update of its parameters; ` +
    `what lies between kernels belongs to no layer.`;
  byId('key').replaceChildren(...used.map(([phase, colour]) => element('span', {}, element('i', { style: `background:${colour}` }), phase === 'other' ? 'other: conversions of layouts' : phase)));
  const largest = rows.slice(0, 15), most = largest[0].joules.all.value;
  byId('bars').replaceChildren(...largest.map((layer) => element('div', { class: 'layer' },
    element('div', {}, element('span', { class: 'name' }, breakable(layer.name)), element('span', { class: 'sum' }, joules(layer.joules.all), ' ', element('span', { class: 'soft' }, between(layer.joules.all)))),
    element('div', { class: 'parts' }, ...used.filter(([phase]) => layer.joules[phase]).map(([phase, colour]) =>
      element('i', { style: `background:${colour};width:${((100 * layer.joules[phase].value) / most).toFixed(2)}%`, title: `${phase} ${joules(layer.joules[phase])}, ${between(layer.joules[phase])}` }))))));
  byId('layers').replaceChildren(sortedTable([
    { title: 'layer', cell: (l) => breakable(l.name), sort: (l) => l.name, name: true },
    ...used.map(([phase]) => ({ title: phase, cell: (l) => joules(l.joules[phase]), sort: (l) => (l.joules[phase] ? l.joules[phase].value : 0), number: true })),
    { title: 'all', cell: (l) => joules(l.joules.all), sort: (l) => l.joules.all.value, number: true },
    { title: 'interval', cell: (l) => between(l.joules.all), sort: (l) => l.joules.all.high, number: true },
    { title: 'time', cell: (l) => seconds(l.seconds), sort: (l) => l.seconds, number: true },
  ], rows, (l) => l.name));
}

function books() {
  const devices = energy.devices || [];
  byId('books-note').textContent = devices.length
    ? `What each meter counted, and what no kernel received. Accounting took ${quantity(energy.accounting_seconds, 's')} between epochs.` : 'Nothing was recorded.';
  if (devices.length) byId('devices').append(sortedTable([
    { title: 'device', cell: (d) => d.device, sort: (d) => d.device },
    { title: 'meter', cell: (d) => joules(d.meter), sort: (d) => d.meter.value, number: true },
    ...['idle', 'unattributed', 'residual'].map((part) => ({ title: part, cell: (d) => joules(d[part]), sort: (d) => d[part].value, number: true })),
    { title: 'other processes', cell: (d) => quantity(d.other_processes, 'J'), sort: (d) => d.other_processes, number: true },
    { title: 'method', cell: (d) => d.method, sort: (d) => d.method },
    { title: 'provenance', cell: (d) => d.meter.provenance, sort: (d) => d.meter.provenance, name: true },
  ], devices, (d) => d.device));
  byId('warnings').append(...(energy.warnings || []).map((warning) => element('li', {}, warning)));
}

headline();
curves();
epochTable();
run();
step();
layers();
books();
