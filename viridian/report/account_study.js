// Pages about several runs: `viridian account top`, `epochs`, `diff` and `overhead`.
const energy = (value) => quantity(value, 'J');
const body = byId('body');
const draw = (tag, attributes = {}, ...children) => {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};
const say = (headline, conditions) => { byId('headline').textContent = headline; byId('conditions').textContent = conditions; };
const note = (text) => element('p', { class: 'small soft' }, text);
const short = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3));

// A bar with a whisker on a scale to `most`.
function bar(mean, low, high, most, text) {
  const at = (value) => `${Math.max(0, Math.min(100, 100 * value / most))}%`;
  return element('div', {}, draw('svg', {}, draw('rect', { x: 0, y: 1, width: at(mean), height: 14, fill: 'var(--green)' }),
    draw('line', { x1: at(low), x2: at(high), y1: 8, y2: 8, stroke: 'currentColor' }),
    ...[low, high].map((end) => draw('line', { x1: at(end), x2: at(end), y1: 4, y2: 12, stroke: 'currentColor' }))),
  element('div', { class: 'small soft' }, text));
}

// Points (x, y, y low, y high, colour) over round ticks; redrawn when the window changes.
function chart(points, xTitle, yTitle, line) {
  const figure = element('figure', {});
  const paint = () => {
    const width = Math.max(280, Math.min(900, figure.clientWidth || 900)), height = 260, left = 52, bottom = 38;
    const xs = points.map((p) => p.x), lows = points.map((p) => p.low), highs = points.map((p) => p.high);
    const [x0, x1] = [Math.min(0, ...xs), Math.max(...xs, 1e-9)];
    const pad = 0.05 * Math.max(Math.max(...highs) - Math.min(...lows), 1e-6 * Math.abs(Math.max(...highs)), 1e-12);
    const [y0, y1] = [Math.min(...lows) - pad, Math.max(...highs) + pad];
    const X = (x) => left + (width - left - 10) * (x - x0) / (x1 - x0), Y = (y) => height - bottom - (height - bottom - 8) * (y - y0) / (y1 - y0);
    const svg = draw('svg', { viewBox: `0 0 ${width} ${height}`, width, role: 'img', 'aria-label': `${yTitle} by ${xTitle}` });
    const ticks = (from, to, count) => {
      const rough = (to - from) / count, size = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].map((m) => m * size).find((s) => s >= rough), out = [];
      for (let at = Math.ceil(from / step) * step; at <= to; at += step) out.push(+at.toPrecision(10));
      return out;
    };
    for (const y of ticks(y0, y1, 4)) svg.append(draw('line', { x1: left, x2: width - 10, y1: Y(y), y2: Y(y), stroke: 'var(--line)' }), draw('text', { x: left - 6, y: Y(y) + 4, 'text-anchor': 'end' }, String(y)));
    for (const x of ticks(x0, x1, width / 110)) svg.append(draw('text', { x: X(x), y: height - bottom + 16, 'text-anchor': 'middle' }, String(x)));
    svg.append(draw('text', { x: width - 10, y: height - 4, 'text-anchor': 'end' }, xTitle), draw('text', { x: 4, y: 12 }, yTitle));
    if (line) svg.append(draw('polyline', { points: points.map((p) => `${X(p.x)},${Y(p.y)}`).join(' '), fill: 'none', stroke: 'var(--green)' }));
    for (const p of points) {
      if (p.high > p.low) svg.append(draw('line', { x1: X(p.x), x2: X(p.x), y1: Y(p.low), y2: Y(p.high), stroke: 'var(--soft)', opacity: 0.35 }));
      svg.append(draw('circle', { cx: X(p.x), cy: Y(p.y), r: points.length > 100 ? 2 : 3.5, fill: p.colour, class: 'point' }));
    }
    figure.replaceChildren(svg);
  };
  requestAnimationFrame(paint);
  window.addEventListener('resize', paint);
  return figure;
}

// A square of numbers, coloured: green more, red less than zero (or pale to green for correlations).
function matrix(names, values, digits, centre) {
  const flat = values.flat().map(Math.abs), largest = Math.max(...flat, 1e-30), least = Math.min(...values.flat());
  const colour = (value) => (centre
    ? `color-mix(in srgb, ${value > 0 ? '#c43c3c' : '#3b6fc4'} ${Math.round(70 * Math.abs(value) / largest)}%, transparent)`
    : `color-mix(in srgb, var(--green) ${Math.round(10 + 60 * (value - least) / Math.max(1 - least, 1e-9))}%, transparent)`);
  const head = element('tr', {}, element('th'), ...names.map((name) => element('th', { title: name }, name)));
  return element('div', { class: 'wide' }, element('table', { class: 'matrix' }, element('tbody', {}, head, ...values.map((row, r) =>
    element('tr', {}, element('th', { title: names[r] }, names[r]), ...row.map((value) =>
      element('td', { style: `background:${colour(value)}` }, digits ? value.toFixed(digits) : short(value))))))));
}

const views = {
  'viridian.account-top/1': () => {
    const [total, spread] = [result.total.value, result.total.high - result.total.value];
    say(`${energy(total)} ± ${energy(spread)} over ${result.runs} runs`, `${result.total.provenance} · whiskers: ${result.whiskers}`);
    const parts = ['forward', 'backward', 'neither'].filter((part) => result[part].value > 0);
    body.append(element('h2', {}, 'Passes'), element('div', { class: 'whiskers' }, ...parts.map((part) =>
      bar(result[part].value, result[part].low, result[part].high, total, `${part}: ${energy(result[part].value)}`))));
    const most = Math.max(...result.entries.map((e) => e.joules.high)), mostWatts = Math.max(...result.entries.map((e) => e.watts.mean + e.watts.deviation));
    body.append(element('h2', {}, `Top ${result.entries.length} of ${result.names}: energy and power`), element('div', { class: 'whiskers' }, ...result.entries.map((e) =>
      element('div', {}, element('div', { class: 'small name' }, breakable(e.name)), element('div', { class: 'pair' },
        bar(e.joules.value, e.joules.low, e.joules.high, most, `${energy(e.joules.value)} ± ${energy(e.joules.high - e.joules.value)}`),
        bar(e.watts.mean, e.watts.mean - e.watts.deviation, e.watts.mean + e.watts.deviation, mostWatts, `${quantity(e.watts.mean, 'W')} ± ${quantity(e.watts.deviation, 'W')} · in ${e.runs} runs`))))));
  },
  'viridian.account-epochs/1': () => {
    const unit = result.unit ?? 'epoch';
    say(`Power over the time of one ${unit}, ${result.epochs} ${unit}s`, `${result.trace} · ${result.power} · bounded by ${result.bounds}`);
    const [orange, blue] = ['#d9822b', '#3b6fc4'];
    for (const device of result.devices) {
      const points = device.points.filter((p) => p.watts !== null).map((p) => ({ x: p.elapsed, y: p.watts, low: p.watts - p.deviation, high: p.watts + p.deviation,
        colour: p.first + p.other <= 0 ? 'var(--soft)' : p.first > p.other ? orange : blue }));
      body.append(element('h2', {}, device.device), note(`${device.provenance} · one point each ${seconds(device.bin)}, mean of all ${unit}s ± standard deviation`), chart(points, 'elapsed s', 'W', false));
    }
    body.append(note(result.block ? `Orange: mostly ${result.first} runs. Blue: other ${result.block}. Grey: neither.` : 'No repeated block was found: points are not told apart.'));
  },
  'viridian.account-diff/1': () => {
    const change = result.totals[0] > 0 ? 100 * (result.totals[1] / result.totals[0] - 1) : 0;
    say(`${energy(result.totals[0])} → ${energy(result.totals[1])} (${change > 0 ? '+' : ''}${change.toFixed(1)} %)`,
      `PCC energy ${result.energy_correlation.toFixed(4)}, power ${result.power_correlation.toFixed(4)} · MED ${energy(result.mean_energy_difference)}, ${quantity(result.mean_power_difference, 'W')} over ${result.common} common names`);
    const m = result.matrix;
    if (m && m.names.length > 2) body.append(
      element('h2', {}, 'Accounting similarity: PCC of energies (STEF)'), matrix(m.names, m.energy_correlation, 3, false),
      element('h2', {}, 'PCC of powers (STPF)'), matrix(m.names, m.power_correlation, 3, false),
      element('h2', {}, 'Mean energy difference, J'), note('Row less column.'), matrix(m.names, m.mean_energy_difference, 0, true),
      element('h2', {}, 'Mean power difference, W'), note('Row less column.'), matrix(m.names, m.mean_power_difference, 0, true));
    if (result.assw) body.append(element('h2', {}, 'Precision: sample widening (ASSW)'), note('The mean of the first n runs against the first experiment.'),
      chart(result.assw.map((a) => ({ x: a.runs, y: a.assw, low: a.assw, high: a.assw, colour: 'var(--green)' })), 'runs', 'ASSW', true));
    body.append(element('h2', {}, 'What changed most'), sortedTable([
      { title: 'name', cell: (c) => c.name, sort: (c) => c.name, name: true },
      { title: 'before', cell: (c) => energy(c.before), sort: (c) => c.before, number: true },
      { title: 'after', cell: (c) => energy(c.after), sort: (c) => c.after, number: true },
      { title: 'change', cell: (c) => energy(c.after - c.before), sort: (c) => c.after - c.before, number: true },
    ], result.changes, (c) => c.name));
  },
  'viridian.account-overhead/1': () => {
    const text = (spread) => `${spread.mean.toFixed(3)} ± ${spread.deviation.toFixed(3)} %`;
    say(`Recording costs ${text(result.time_percent)} of time`, `${result.command.join(' ')} · ${result.runs} pairs of runs · ${result.meter}`);
    const rows = [['time', 'seconds', 's', result.time_percent], ['energy', 'joules', 'J', result.energy_percent]];
    body.append(element('h2', {}, 'With and without'), sortedTable([
      { title: '', cell: (r) => r[0], sort: (r) => r[0] },
      ...['without', 'with'].map((side) => ({ title: side, cell: (r) => `${quantity(result[side][r[1]].mean, r[2])} ± ${quantity(result[side][r[1]].deviation, r[2])}`, sort: (r) => result[side][r[1]].mean, number: true })),
      { title: 'overhead', cell: (r) => text(r[3]), sort: (r) => r[3].mean, number: true },
    ], rows, (r) => r[0]));
  },
};
views[result.schema]();
for (const warning of result.warnings || []) body.append(note(`Warning: ${warning}`));
