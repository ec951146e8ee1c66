#!/usr/bin/env python3
"""solvers.py --viridian BIN --work DIR [--models a,b] [--plan-only]: plans of the four solvers for the same graph from the same prices,
run turn by turn in an order that changes every round. Prints predicted and measured times beside those of `exact`."""
import argparse
import json
import pathlib
import statistics
import subprocess

from models import Bound
from systems import Settings, System
from turns import orders, ratio_of_rounds

SOLVERS = ["exact", "greedy", "shortest-path", "first"]


def planned(options, name, solver):
    work = pathlib.Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    model, stem = work / f"{name}.onnx", f"{name}.{solver}"
    if not model.exists():
        subprocess.run([options.viridian, "zoo", name, "-o", model], check=True, stdout=subprocess.DEVNULL)
    result = work / f"{stem}.json"
    if not result.exists():
        command = [options.viridian, "optimize", model, "-o", work / f"{stem}.onnx", "--solver", solver, "--search", "none", "--proofs", "1",
                   "--threads", "2", "--db", work / "cost.db", "--json"]
        result.write_text(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return work / f"{stem}.plan.json", json.loads(result.read_text())["optimized"]["predicted"]["seconds"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--viridian", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--models", default="squeezenet1_1,resnet50,inception_v3,mobilenet_v2,bert_base")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--plan-only", action="store_true")
    options = parser.parse_args()
    options.viridian = str(pathlib.Path(options.viridian).resolve())
    options.work = str(pathlib.Path(options.work).resolve())
    settings = Settings(options.viridian, pathlib.Path(options.work))
    if not options.plan_only:
        print("| model | solver | predicted ms | / exact | median ms | minimum ms | / exact (range) | runs |\n|---|---|---|---|---|---|---|---|")
    for name in options.models.split(","):
        plans = [planned(options, name, solver) for solver in reversed(SOLVERS)][::-1]  # `exact` last: it finds all prices
        if options.plan_only:
            continue
        bound = Bound(pathlib.Path(options.work) / f"{name}.onnx", pathlib.Path(options.work) / "tensors" / name, 2)
        systems = [System(settings, f"viridian:{solver}", bound, plan) for solver, (plan, _) in zip(SOLVERS, plans)]
        rows = orders(len(systems))
        for turn in range(options.rounds):
            for place in rows[turn % len(rows)]:
                systems[place].turn(options.seconds)
        for solver, system, (_, predicted) in zip(SOLVERS, systems, plans):
            every = [t for turn in system.times for t in turn]
            ratio, low, high = ratio_of_rounds(system.times, systems[0].times)
            print(f"| {name} | {solver} | {1e3 * predicted:.3f} | {predicted / plans[0][1]:.2f} | {1e3 * statistics.median(every):.3f} "
                  f"| {1e3 * min(every):.3f} | {ratio:.2f} ({low:.2f} to {high:.2f}) | {len(every)} |", flush=True)
            system.close()


main()
