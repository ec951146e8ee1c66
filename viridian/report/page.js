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
  if (value === 0) return `0\u00a0${unit}`;
  const prefixes = [['G', 1e9], ['M', 1e6], ['k', 1e3], ['', 1], ['m', 1e-3], ['µ', 1e-6], ['n', 1e-9]];
  const size = Math.abs(value);
  const [prefix, scale] = prefixes.find(([, s]) => size >= s * 0.9995) || prefixes[prefixes.length - 1];
  return `${(value / scale).toPrecision(3)}\u00a0${prefix}${unit}`;
}

const seconds = (value) => quantity(value, 's');
const joules = (figure) => (figure ? quantity(figure.value, 'J') : '–');

// A long name that may break after its separators.
const breakable = (text) => element('span', {}, ...text.split(/(?<=[:_./])/).flatMap((part, i) => (i ? [element('wbr'), part] : [part])));

// columns: [{title, cell(row) → string or node, sort(row) → number or string, number: bool, name: bool}].
// Sorts by a click on a title; a search box stands over tables that are too long to look through, and long ones
// begin short. On a phone every row is a card of its own, with the titles before the values.
const searchFrom = 12, wholeUpTo = 40, beginWith = 20;
function sortedTable(columns, rows, filterText) {
  const body = element('tbody');
  let order = null, down = true, words = '', whole = rows.length <= wholeUpTo;
  const more = element('button', { type: 'button', class: 'more' });
  const fill = () => {
    let shown = rows.filter((row) => !words || filterText(row).toLowerCase().includes(words));
    if (order) shown = [...shown].sort((a, b) => {
      const x = order.sort(a), y = order.sort(b);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    });
    more.hidden = whole || shown.length <= wholeUpTo;
    more.textContent = `show all ${shown.length} rows`;
    if (!more.hidden) shown = shown.slice(0, beginWith);
    body.replaceChildren(...shown.map((row) => element('tr', {}, ...columns.map((c) =>
      element('td', { class: c.number ? 'number' : c.name ? 'name' : '', 'data-title': c.title }, c.cell(row))))));
  };
  more.addEventListener('click', () => { whole = true; fill(); });
  const titles = columns.map((c) => {
    const button = element('button', { type: 'button', title: 'sort' }, c.title);
    const th = element('th', { class: c.number ? 'number' : '', scope: 'col' }, button);
    button.addEventListener('click', () => {
      down = order === c ? !down : !!c.number;
      order = c;
      for (const other of titles) other.removeAttribute('aria-sort');
      th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      fill();
    });
    return th;
  });
  const search = element('input', { type: 'search', placeholder: 'search', 'aria-label': 'search the table' });
  search.addEventListener('input', () => { words = search.value.toLowerCase(); fill(); });
  fill();
  const table = element('table', {}, element('thead', {}, element('tr', {}, ...titles)), body);
  return element('div', {}, ...(rows.length >= searchFrom ? [search] : []), element('div', { class: 'wide' }, table), more);
}
