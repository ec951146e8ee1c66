#!/usr/bin/env python3
"""two_builds.py --before BIN --after BIN --work DIR [--models a,b] [--turns N]: whether another build of viridian plans and runs
the same. BEFORE measures prices and records them; both builds plan each network from these same prices, and the plans must
cost the same. Then both run the network with its first kernels, which are the same in both, in turn and in an order that
changes every round. Prints the ratio of medians (before / after) with twice its standard error. Prices that each build
measures for itself differ by what the machine does meanwhile, and plans with them: that is compare.py --before."""
import argparse
import json
import math
import pathlib
import statistics
import subprocess

from paced import Runner, take_turns


def plan(binary, model, output, *options):
    command = [binary, "optimize", model, "-o", output, "--json", *options]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout)


def main():
    parser = argparse.ArgumentParser()
    for name in ("before", "after", "work"):
        parser.add_argument(f"--{name}", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--models", default="squeezenet1_1,resnet50,inception_v3,mobilenet_v2,bert_base")
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    print("| model | predicted ms | before, median ms | after, median ms | before / after |\n|---|---|---|---|---|")
    means = []
    for name in options.models.split(","):
        model, prices = options.work / f"{name}.onnx", options.work / f"{name}.prices.json"
        if not model.exists():
            extra = ["--sequence", "128"] if name.startswith(("bert", "albert", "gpt")) else []
            subprocess.run([options.after, "zoo", name, "-o", model, *extra], check=True, stdout=subprocess.DEVNULL)
        if not prices.exists():
            plan(options.before, model, options.work / f"{name}.measured.onnx", "--threads", str(options.threads),
                 "--db", options.work / "cost.db", "--record", prices)
        values, runners = [], []
        for side in ("before", "after"):
            output = options.work / f"{name}.{side}.onnx"
            values.append(plan(getattr(options, side), model, output, "--recorded", prices)["assignment"]["value"])
            runners.append(Runner(getattr(options, side), model, options.threads))
        if not math.isclose(*values):
            raise SystemExit(f"{name}: the plans cost {values[0]} and {values[1]} by the same prices")
        before, after = runners
        seconds = max(0.1, 3 * values[0])
        take_turns(runners, options.turns, seconds)
        medians = [[statistics.median(turn) for turn in runner.turns] for runner in runners]
        ratios = [math.log(one / other) for one, other in zip(*medians)]
        means.append(statistics.fmean(ratios))
        error = 2 * statistics.stdev(ratios) / math.sqrt(len(ratios))
        print(f"| {name} | {1e3 * values[0]:.2f} | {1e3 * statistics.median(before.times):.2f} "
              f"| {1e3 * statistics.median(after.times):.2f} | {math.exp(means[-1]):.3f} ± {error:.3f} |", flush=True)
    print(f"\ngeometric mean over {len(means)} models, before / after: {math.exp(statistics.fmean(means)):.3f}")


if __name__ == "__main__":
    main()
