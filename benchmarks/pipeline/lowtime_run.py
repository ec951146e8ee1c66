#!/usr/bin/env python3
"""Runs lowtime (PyPI) on a stage profile over 1F1B, as its Perseus example does, and prints one JSON object:
CPU seconds of the solver alone, its iterations, and the clocks it assigns at (up to) --plans of them.

    python3 -m venv venv && venv/bin/pip install lowtime
    venv/bin/python benchmarks/pipeline/lowtime_run.py profile.csv --micro-batches 8 --wait-power 50
"""
import argparse
import csv
import json
import logging
import time
from collections import defaultdict

import networkx as nx
from lowtime.cost_model import ExponentialModel
from lowtime.graph_utils import add_sink_node, add_source_node
from lowtime.operation import CandidateExecutionOptions, ExecutionOption, OperationSpec
from lowtime.perseus.instruction import Backward, Forward
from lowtime.perseus.schedule import Synchronous1F1B
from lowtime.solver import PhillipsDessouky


def specs(path, wait, unit):
    rows = defaultdict(list)
    with open(path) as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            rows[int(row["stage"]), row["instruction"]].append(row)
    out = defaultdict(dict)
    for (stage, name), points in sorted(rows.items()):
        options = CandidateExecutionOptions(options=[
            ExecutionOption(real_time=float(p["time"]), unit_time=unit, cost=float(p["energy"]),
                            knob=int(round(float(p["frequency"])))) for p in points])
        for option in options.options:  # effective energy, as the example does
            option.cost -= wait * option.quant_time * option.unit_time
        kind = Forward if name == "forward" else Backward
        out[stage][kind] = OperationSpec(options=options, cost_model=ExponentialModel(options))
    return out


def build(spec, micro_batches):
    dag, number, by_name, ranks = nx.DiGraph(), 2, {}, []
    stages = len(spec)
    for stage in range(stages):
        rank = []
        for inst in Synchronous1F1B(num_stages=stages, num_micro_batches=micro_batches, stage_id=stage,
                                    operation_spec_map=spec[stage]):
            dag.add_node(number, op=inst)
            by_name[type(inst).__name__, stage, inst.micro_batch_id] = number
            if rank:
                dag.add_edge(number - 1, number)
            rank.append(inst)
            number += 1
        ranks.append(rank)
    for (kind, stage, micro_batch), node in by_name.items():  # the example's product of all pairs is quadratic
        if kind == "Forward" and stage > 0:
            dag.add_edge(by_name["Forward", stage - 1, micro_batch], node)
        if kind == "Backward" and stage + 1 < stages:
            dag.add_edge(by_name["Backward", stage + 1, micro_batch], node)
    add_source_node(dag, 0)
    add_sink_node(dag, 1)
    dag.graph["source_node"], dag.graph["sink_node"] = 0, 1
    return dag, ranks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("profile")
    parser.add_argument("--micro-batches", type=int, required=True)
    parser.add_argument("--wait-power", type=float, default=0.0)
    parser.add_argument("--unit-time", type=float, default=0.001)
    parser.add_argument("--plans", type=int, default=0, help="0: all")
    parser.add_argument("--seconds", type=float, default=0, help="stop after so much CPU time (0: never)")
    args = parser.parse_args()
    logging.disable(logging.CRITICAL)

    spec = specs(args.profile, args.wait_power, args.unit_time)
    dag, ranks = build(spec, args.micro_batches)
    begin = time.process_time()
    plans, finished = [], True
    solver = PhillipsDessouky(dag)
    for result in solver.run():
        elapsed = time.process_time() - begin
        plans.append((elapsed, result.real_time, result.cost, [[inst.assigned_knob for inst in rank] for rank in ranks]))
        if args.seconds and elapsed > args.seconds:
            finished = False
            break
    elapsed = time.process_time() - begin
    keep = plans
    if args.plans and len(plans) > args.plans:
        keep = [plans[round(i * (len(plans) - 1) / (args.plans - 1))] for i in range(args.plans)]
    print(json.dumps({
        "cpu_seconds": elapsed, "iterations": len(plans), "finished": finished, "unit_time": args.unit_time,
        "wait_power": args.wait_power, "micro_batches": args.micro_batches,
        "plans": [{"promised_time": t, "promised_cost": c, "clocks": clocks} for _, t, c, clocks in keep]}))


if __name__ == "__main__":
    main()
