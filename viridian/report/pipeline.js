// The page of a pipeline plan, a frontier, or both. The pictures come drawn (result.pictures).
function picture(name) {
  const drawn = result.pictures && result.pictures[name];
  if (drawn) byId(name).innerHTML = drawn;
  else byId(`${name}-part`).remove();
}

function planHeadline() {
  const ratio = (a, b) => `${((a / b - 1) * 100).toFixed(2)} %`;
  byId('headline').textContent = `${result.schedule_name}, ${result.stages} stages × ${result.micro_batches} micro-batches: ` +
    `${seconds(result.time)}, ${quantity(result.energy, 'J')} (${ratio(result.energy, result.maximum_clocks.energy)} energy, ` +
    `${ratio(result.time, result.maximum_clocks.time)} time against full clocks)`;
  byId('conditions').textContent = `planner ${result.planner} · energies ${result.provenance}`;
  const c = result.certificate;
  byId('proof').textContent = c
    ? `At ${c.time} s no plan of this order needs less: primal ${c.primal} ${c.primal === c.dual ? '=' : '≠'} dual ${c.dual} ` +
      `(${c.unit}, ${c.arithmetic}). ` + (result.bound ? `Bound ${quantity(result.bound, 'J')}, gap ${(result.gap * 100).toFixed(4)} %.` : '')
    : (result.bound ? `No plan needs less than ${quantity(result.bound, 'J')}; gap ${(result.gap * 100).toFixed(4)} %.`
      : 'This planner proves nothing.');
  byId('ranks').append(sortedTable([
    { title: 'rank', cell: (r) => r.rank, sort: (r) => r.rank, number: true },
    { title: 'busy', cell: (r) => seconds(r.busy), sort: (r) => r.busy, number: true },
    { title: 'waiting', cell: (r) => seconds(r.waiting), sort: (r) => r.waiting, number: true },
    { title: 'usable bubbles', cell: (r) => `${r.bubbles.usable} (${seconds(r.bubbles.usable_time)})`, sort: (r) => r.bubbles.usable_time, number: true },
    { title: 'unusable', cell: (r) => `${r.bubbles.unusable} (${seconds(r.bubbles.unusable_time)})`, sort: (r) => r.bubbles.unusable_time, number: true },
    { title: 'clock changes', cell: (r) => r.clock_switches, sort: (r) => r.clock_switches, number: true },
    { title: 'in flight', cell: (r) => r.micro_batches_in_flight, sort: (r) => r.micro_batches_in_flight, number: true },
    { title: 'memory peak', cell: (r) => quantity(r.memory_peak, 'B'), sort: (r) => r.memory_peak || 0, number: true },
  ], result.ranks.map((r, rank) => ({ rank, ...r })), (r) => `rank ${r.rank}`));
}

function frontierHeadline() {
  byId('headline').textContent = `${result.schedule_name}, ${result.stages} stages × ${result.micro_batches} micro-batches: ` +
    `${result.breakpoints} breakpoints, ${result.certified} certified`;
  byId('conditions').textContent = `energies ${result.provenance}`;
  for (const part of ['proof-part', 'ranks-part']) byId(part).remove();
}

picture('schedule');
picture('frontier');
if (Array.isArray(result.schedule)) planHeadline(); else frontierHeadline();
if (Array.isArray(result.frontier))
  byId('points').append(sortedTable([
    { title: 'time', cell: (p) => `${p.time.toPrecision(9)} s`, sort: (p) => p.time, number: true },
    { title: 'energy', cell: (p) => `${p.energy.toPrecision(9)} J`, sort: (p) => p.energy, number: true },
  ], result.frontier, (p) => `${p.time}`));
else byId('points-part').remove();
