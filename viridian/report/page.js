// Helpers of every page: elements, numbers with units, tables that sort and search.
'use strict';

function element(tag, attributes = {}, ...children) {
  const svg = ['svg', 'g', 'rect', 'path', 'line', 'text', 'title', 'circle', 'polyline'].includes(tag);
  const node = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  for (const child of children) node.append(child);
  return node;
}

const byId = (id) => document.getElementById(id);

// 0.00123 s → "1.23 ms"
function quantity(value, unit) {
  if (value === null || value === undefined || !isFinite(value)) return '–';
  if (value === 0) return `0 ${unit}`;
  const prefixes = [['G', 1e9], ['M', 1e6], ['k', 1e3], ['', 1], ['m', 1e-3], ['µ', 1e-6], ['n', 1e-9]];
  const size = Math.abs(value);
  const [prefix, scale] = prefixes.find(([, s]) => size >= s * 0.9995) || prefixes[prefixes.length - 1];
  return `${(value / scale).toPrecision(3)} ${prefix}${unit}`;
}

const seconds = (value) => quantity(value, 's');
const joules = (figure) => (figure ? quantity(figure.value, 'J') : '–');

// columns: [{title, cell(row) → string or node, sort(row) → number or string, number: bool}]
function sortedTable(columns, rows, filterText) {
  const body = element('tbody');
  let order = null, down = true, words = '';
  const fill = () => {
    let shown = rows.filter((row) => !words || filterText(row).toLowerCase().includes(words));
    if (order) shown = [...shown].sort((a, b) => {
      const x = order.sort(a), y = order.sort(b);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    });
    body.replaceChildren(...shown.map((row) => element('tr', {}, ...columns.map((c) =>
      element('td', { class: c.number ? 'number' : c.name ? 'name' : '' }, c.cell(row))))));
  };
  const head = element('tr', {}, ...columns.map((c) => {
    const th = element('th', { class: c.number ? 'number' : '', scope: 'col', title: 'sort' }, c.title);
    th.addEventListener('click', () => { down = order === c ? !down : !!c.number; order = c; fill(); });
    return th;
  }));
  const search = element('input', { type: 'search', placeholder: 'search', 'aria-label': 'search the table' });
  search.addEventListener('input', () => { words = search.value.toLowerCase(); fill(); });
  fill();
  return element('div', {}, search, element('div', { class: 'wide' }, element('table', {}, element('thead', {}, head), body)));
}
