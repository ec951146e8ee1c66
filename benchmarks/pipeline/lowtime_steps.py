#!/usr/bin/env python3
"""Runs lowtime (PyPI) on a pipeline that takes it hours, in as many sessions as that needs, and writes how far it has come.

    benchmarks/pipeline/stage_profiles.py 16 0.05 1 >build/lowtime/uneven_16.csv
    nice .venv/bin/python benchmarks/pipeline/lowtime_steps.py build/lowtime/uneven_16.csv --micro-batches 128 --wait-power 50 \
        --state build/lowtime/uneven_16.json --record benchmarks/results/lowtime_16x128.json

lowtime shortens the iteration by one quantum of time a cut. Between two cuts its solver knows nothing but the duration of
every operation, so these are the whole state, and a later call goes on from there. Seconds are those of the process (user
and system time) spent inside the solver; reading, saving and what a later call repeats are not counted. The program ends
when lowtime does, when --cpu-seconds are spent, or after the current cut when it gets SIGTERM or SIGINT. At
intervals the present plan is replayed and noted in the record: the time and cost that lowtime promises, and the exact ones.
"""
import argparse
import importlib.metadata
import json
import logging
import os
import pathlib
import signal
import time

import lowtime.solver
from lowtime_replay import read_table, replay
from lowtime_run import build, specs


def write(path, value):
    """Writes JSON so that a reader finds the old file or the new one, never half of one."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(value, indent=1) + "\n")
    os.replace(part, path)


class Resumed:
    """lowtime's cuts, from given durations on. Its solver asks for the critical graph three ways: with the shortest
    durations, with the longest, and after each cut. The second request is where the saved durations are put in."""

    def __init__(self, operations, durations):
        self.operations, self.durations = operations, durations
        self.begin, self.length = time.process_time(), []
        self.critical = lowtime.solver.aoa_to_critical_dag
        self.total = lowtime.solver.get_critical_aoa_dag_total_time
        lowtime.solver.aoa_to_critical_dag = self.critical_dag
        lowtime.solver.get_critical_aoa_dag_total_time = self.total_time
        self.calls = 0

    def critical_dag(self, *args, **keys):
        self.calls += 1
        if self.calls == 2 and self.durations:
            for operation, duration in zip(self.operations, self.durations, strict=True):
                operation.duration = duration
            graph = self.critical(*args, **keys)
            self.begin = time.process_time()
            return graph
        return self.critical(*args, **keys)

    def total_time(self, *args, **keys):
        total = self.total(*args, **keys)
        if len(self.length) < 2:
            self.length.append(total)  # shortest, then longest (or where an earlier call stopped), in quanta
        return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profile")
    parser.add_argument("--micro-batches", type=int, required=True)
    parser.add_argument("--wait-power", type=float, default=0.0)
    parser.add_argument("--unit-time", type=float, default=0.001)
    parser.add_argument("--state", required=True, help="durations reached; read if it exists")
    parser.add_argument("--record", required=True, help="JSON for people: cuts, seconds, times and costs")
    parser.add_argument("--cpu-seconds", type=float, default=9000.0, help="for all calls together")
    parser.add_argument("--every", type=float, default=60.0, help="seconds between two plans in the record")
    parser.add_argument("--cuts", type=int, default=0, help="stop this call after so many cuts (0: never)")
    args = parser.parse_args()
    logging.disable(logging.CRITICAL)

    problem = {"profile": pathlib.Path(args.profile).name, "micro_batches": args.micro_batches, "wait_power": args.wait_power,
               "unit_time": args.unit_time, "lowtime": importlib.metadata.version("lowtime")}
    state = {"problem": problem, "durations": [], "cuts": 0, "cpu_seconds": 0.0, "plans": []}
    if pathlib.Path(args.state).exists():
        state = json.loads(pathlib.Path(args.state).read_text())
        if state["problem"] != problem:
            raise SystemExit(f"{args.state} belongs to another problem: give another --state")
    dag, ranks = build(specs(args.profile, args.wait_power, args.unit_time), args.micro_batches)
    operations = [operation for rank in ranks for operation in rank]
    cuts, before = state["cuts"], state["cpu_seconds"]
    table = read_table(args.profile)
    if state.get("finished") or before >= args.cpu_seconds:
        print("nothing is left to do: lowtime has finished, or its seconds are spent")
        return

    stop = []
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.append(True))
    solver = Resumed(operations, state["durations"])
    outside, saved, first, finished = 0.0, time.monotonic(), cuts, True

    def seconds():
        return before + time.process_time() - solver.begin - outside

    def save(result, spent):
        clocks = [[operation.assigned_knob for operation in rank] for rank in ranks]
        makespan, energy = replay(table, clocks, args.micro_batches, args.wait_power)
        plan = {"cuts": cuts, "cpu_seconds": round(spent, 3), "promised_time": round(result.real_time, 9),
                "promised_cost": result.cost, "time": makespan, "energy": energy}
        state["durations"] = [operation.duration for operation in operations]
        state["cuts"], state["cpu_seconds"], state["finished"] = cuts, round(spent, 3), finished
        state["plans"] = [p for p in state["plans"] if p["cuts"] < cuts] + [plan]
        state.setdefault("shortest", solver.length[0])
        state.setdefault("longest", solver.length[1])
        write(args.state, state)
        write(args.record, problem | {
            "stages": len(ranks), "finished": finished, "cuts": cuts, "cpu_seconds": round(spent, 3),
            "longest_time": round(state["longest"] * args.unit_time, 9),
            "shortest_time": round(state["shortest"] * args.unit_time, 9),
            "reached_time": round(result.real_time, 9), "plans": state["plans"]})

    for result in lowtime.solver.PhillipsDessouky(dag).run():
        cuts += 1
        spent = seconds()
        pause = time.process_time()
        finished = not (stop or spent >= args.cpu_seconds or cuts - first == args.cuts)
        if not finished or time.monotonic() - saved > args.every or cuts == first + 1:
            done, finished = finished, False
            save(result, spent)
            finished, saved = done, time.monotonic()
        outside += time.process_time() - pause
        if not finished:
            break
    if finished and cuts > first:
        save(result, seconds())
    shortest, longest = state["shortest"], state["longest"]
    print(f"lowtime {problem['lowtime']} on {problem['profile']} x {args.micro_batches}: {'finished' if finished else 'not finished'}, "
          f"{cuts} of about {longest - shortest + 1} cuts in {state['cpu_seconds']:.0f} CPU seconds; iteration times from "
          f"{longest * args.unit_time:.3f} s down to {state['plans'][-1]['promised_time']:.3f} s of {shortest * args.unit_time:.3f} s")


main()
