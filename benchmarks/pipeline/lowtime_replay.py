"""Exact times and energies of a plan of lowtime over 1F1B, computed independently of viridian's simulator."""
import csv
from collections import defaultdict


def read_table(path):
    """(stage, instruction) -> clock in MHz -> (seconds, joules)."""
    table = defaultdict(dict)
    with open(path) as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            table[int(row["stage"]), row["instruction"]][int(round(float(row["frequency"])))] = (float(row["time"]), float(row["energy"]))
    return table


def order(stages, micro_batches, stage):
    """The units of one rank in 1F1B: forward or backward, and the micro-batch."""
    warm = min(micro_batches, stages - stage)
    units, forward = [("forward", m) for m in range(warm)], warm
    for m in range(micro_batches):
        units.append(("backward", m))
        if forward < micro_batches:
            units.append(("forward", forward))
            forward += 1
    return units


def replay(table, clocks, micro_batches, wait):
    """Iteration time in seconds, and energy in joules with `wait` watts while a rank waits. clocks: per rank, in order."""
    stages, end, free = len(clocks), {}, [0.0] * len(clocks)
    todo = [list(zip(order(stages, micro_batches, s), clocks[s], strict=True))[::-1] for s in range(stages)]
    busy, energy = [0.0] * stages, 0.0
    while any(todo):
        for s in range(stages):
            while todo[s]:
                (kind, m), clock = todo[s][-1]
                need = ((kind, s - 1, m) if s > 0 else None) if kind == "forward" else \
                    ((kind, s + 1, m) if s + 1 < stages else ("forward", s, m))
                if need is not None and need not in end:
                    break
                time, joules = table[s, kind][clock]
                free[s] = end[kind, s, m] = max(free[s], end.get(need, 0.0)) + time
                busy[s] += time
                energy += joules
                todo[s].pop()
    makespan = max(free)
    return makespan, energy + wait * sum(makespan - b for b in busy)
