#!/usr/bin/env python3
"""lowtime and viridian on the same profiles in the same run: seconds of each solver for the whole frontier, and, for every
plan kept from lowtime, its exact replay against the frontier at the time the replay takes.

    venv/bin/python benchmarks/pipeline/compare_lowtime.py build/release/bin/viridian PROFILE.csv:MICRO_BATCHES ...
"""
import bisect
import csv
import json
import pathlib
import subprocess
import sys
from collections import defaultdict

HERE = pathlib.Path(__file__).resolve().parent
WAIT = 50.0


def order(stages, micro_batches, stage):
    warm = min(micro_batches, stages - stage)
    units, forward = [("forward", m) for m in range(warm)], warm
    for m in range(micro_batches):
        units.append(("backward", m))
        if forward < micro_batches:
            units.append(("forward", forward))
            forward += 1
    return units


def replay(table, clocks, micro_batches):
    """Exact times of a plan, independent of viridian's simulator."""
    stages, end, free = len(clocks), {}, [0.0] * len(clocks)
    todo = [list(zip(order(stages, micro_batches, s), clocks[s])) for s in range(stages)]
    busy, energy = [0.0] * stages, 0.0
    while any(todo):
        for s in range(stages):
            while todo[s]:
                (kind, m), clock = todo[s][0]
                need = ((kind, s - 1, m) if s > 0 else None) if kind == "forward" else \
                    ((kind, s + 1, m) if s + 1 < stages else ("forward", s, m))
                if need is not None and need not in end:
                    break
                time, joules = table[s, kind][clock]
                free[s] = end[kind, s, m] = max(free[s], end.get(need, 0.0)) + time
                busy[s] += time
                energy += joules
                todo[s].pop(0)
    makespan = max(free)
    return makespan, energy + WAIT * sum(makespan - b for b in busy)


def main():
    viridian, cases = sys.argv[1], sys.argv[2:]
    for case in cases:
        profile, micro_batches = case.rsplit(":", 1)
        table = defaultdict(dict)
        for row in csv.DictReader(open(profile)):
            table[int(row["stage"]), row["instruction"]][int(float(row["frequency"]))] = (float(row["time"]), float(row["energy"]))
        peer = json.loads(subprocess.run([sys.executable, HERE / "lowtime_run.py", profile, "--micro-batches", micro_batches,
                                          "--wait-power", str(WAIT), "--seconds", "40"], capture_output=True, check=True).stdout)
        own = json.loads(subprocess.run([viridian, "pipeline", "frontier", "--profile", profile, "-m", micro_batches,
                                         "--wait-power", str(WAIT), "--json"], capture_output=True, check=True).stdout)
        points = [(p["time"], p["energy"]) for p in own["frontier"] + own["beyond"]]
        worse, smallest, late = 0, 1e9, 0
        for plan in peer["plans"]:
            time, energy = replay(table, plan["clocks"], int(micro_batches))
            late += time > plan["promised_time"] + 1e-9
            i = bisect.bisect_right(points, (time + 1e-9, float("inf")))
            if i == 0:
                raise SystemExit(f"{profile}: a replay at {time} s is faster than the frontier")
            (t0, e0), (t1, e1) = points[i - 1], points[min(i, len(points) - 1)]
            best = e0 if t1 == t0 else e0 + (e1 - e0) * min(1, max(0, (time - t0) / (t1 - t0)))
            worse += best > energy * (1 + 1e-9)
            smallest = min(smallest, energy / best - 1)
        note = "" if peer["finished"] else " (stopped after 40 s, not finished)"
        print(f"{pathlib.Path(profile).stem} x {micro_batches}: lowtime {peer['seconds']:.3f} s, {peer['iterations']} cuts{note}; viridian "
              f"{own['elapsed_seconds']:.5f} s, {own['breakpoints']} breakpoints; {peer['seconds'] / own['elapsed_seconds']:.0f} times faster; "
              f"{len(peer['plans'])} plans replayed, {late} later than promised, {worse} below the frontier, "
              f"least excess {smallest * 100:.3f} %")


main()
