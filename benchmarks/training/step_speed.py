#!/usr/bin/env python3
"""step_speed.py --before BIN --after BIN --work DIR [--networks a,b] [--turns N] [--table FILE.md]: how many samples a second
two builds of viridian train. Each network's training step (`viridian zoo --training`, `viridian gradient`, AdamW) is one
file, written by AFTER and run by both, in turn and in an order that changes every round, each with the kernels that it
takes without a plan, as `viridian train` does. A turn lasts a second, or one step if that takes longer. Prints the samples a
second of each build from the median of its steps, and the ratio of the medians."""
import argparse
import datetime
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
import setting  # noqa: E402
from paced import Runner, take_turns  # noqa: E402

# name: batch, options of the zoo
NETWORKS = {
    "mlp": (32, []),
    "small_cnn": (50, []),
    "small_resnet": (32, []),
    "small_transformer": (16, []),
    "encoder_layer": (4, []),
    "resnet50": (8, []),
}


def write_step(binary, name, batch, options, work):
    model, step = work / f"{name}.onnx", work / f"{name}.step.onnx"
    if not step.exists():
        quiet = {"check": True, "stdout": subprocess.DEVNULL}
        subprocess.run([binary, "zoo", name, "--training", "--batch", str(batch), *options, "-o", model], **quiet)
        subprocess.run([binary, "gradient", model, "--loss", loss_of(name), "-o", step], **quiet)
    return step


def loss_of(name):
    return "gradient" if name == "encoder_layer" else "cross-entropy"


def main():
    parser = argparse.ArgumentParser()
    for name in ("before", "after", "work"):
        parser.add_argument(f"--{name}", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--turns", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--table", type=pathlib.Path)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    lines = ["| network | batch | before, samples/s | after, samples/s | after / before | steps timed |", "|---|---|---|---|---|---|"]
    print("\n".join(lines))
    for name in options.networks.split(","):
        batch, extra = NETWORKS[name]
        step = write_step(options.after, name, batch, extra, options.work)
        runners = [Runner(binary, step, options.threads) for binary in (options.before, options.after)]
        take_turns(runners, options.turns, options.seconds)
        medians = [statistics.median(runner.times) for runner in runners]
        lines.append(f"| {name} | {batch} | {batch / medians[0]:.4g} | {batch / medians[1]:.4g} | {medians[0] / medians[1]:.3g} "
                     f"| {len(runners[0].times)}, {len(runners[1].times)} |")
        print(lines[-1], flush=True)
    if options.table:
        about = (f"`benchmarks/training/step_speed.py`, {datetime.date.today():%-d %B %Y}, {setting.machine()}, {options.threads} threads, "
                 f"f32. Steps of AdamW with the kernels that a run takes without a plan; medians of {options.turns} interleaved turns.")
        options.table.write_text("# Training steps before and after kernels of their own\n\n" + about + "\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
