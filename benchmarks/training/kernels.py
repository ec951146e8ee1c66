#!/usr/bin/env python3
"""The kernels of an optimised training step of BERT-large's encoder layer, each against the peaks of this processor, as one page:

    benchmarks/training/kernels.py VIRIDIAN --page PAGE.md [--batch 4] [--sequence 128] [--dropout 0] [--allow bf16] [--db FILE]

`viridian optimize` chooses the kernels by measured prices, and `viridian inspect --measured` runs them."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks/peers")]
from setting import command, machine  # noqa: E402
from tables import table  # noqa: E402

HEAD = ["kernel", "class", "reads", "time, ms", "share, %", "Gflop", "% of peak", "MB", "MUE", "tensors fit", "bound by"]


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return done.stdout


def cells(kernel, seconds, megabytes):
    number = lambda value: "" if value is None else f"{value:.0f}"
    gflop = f"{kernel['flop'] / 1e9:.2f}" if kernel["flop"] >= 5e6 else ""
    return [kernel["name"], kernel["class"], "bf16" if kernel["reads_bf16"] else "f32", f"{1e3 * kernel['seconds']:.2f}",
            f"{100 * kernel['seconds'] / seconds:.1f}", gflop, number(kernel["percent_of_peak"]) if gflop else "", megabytes,
            number(kernel["mue"]), kernel["residency"], kernel["bound"]]


def moved(kernel, peak):
    """Megabytes of its tensors; for a product of matrices that must move more, what it must move. MUE is their share of what the
    peak moves in that time."""
    return f"{kernel['mue'] / 100 * peak * kernel['seconds'] / 1e6:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("viridian")
    parser.add_argument("--page", required=True)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=128)
    parser.add_argument("--dropout", type=float, default=0)
    parser.add_argument("--allow", help="bf16")
    parser.add_argument("--db", help="cost database with prices that an earlier run measured; new ones are added")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        layer, step, planned = (f"{folder}/{name}.onnx" for name in ("layer", "step", "planned"))
        run(options.viridian, "zoo", "encoder_layer", "--training", "--batch", str(options.batch), "--sequence", str(options.sequence),
            "--dropout", str(options.dropout), "-o", layer)
        run(options.viridian, "gradient", layer, "--loss", "mse", "-o", step)
        run(options.viridian, "optimize", step, "--search", "none", "--db", options.db or f"{folder}/prices.db", "-o", planned,
            *(["--allow", options.allow] if options.allow else []))
        measured = json.loads(run(options.viridian, "inspect", planned.replace(".onnx", ".plan.json"), "--measured", "--json"))["measured"]
    peak, seconds = measured["peak_bytes_per_second"], measured["seconds"]
    kernels = sorted((kernel for kernel in measured["operators"] if kernel["seconds"] > 0), key=lambda kernel: -kernel["seconds"])
    version = run(options.viridian, "--version").splitlines()[0]
    probed = "; ".join(f"{peak['probe']} {peak['best'] / 1e9:.1f} {'Gflop/s' if peak['unit'] == 'flop/s' else 'GB/s'}"
                       for peak in measured["peaks"] if peak["threads"] == measured["threads"])
    classes = [[one["name"], f"{1e3 * one['seconds']:.1f}", f"{one['seconds_share']:.1f}"] for one in measured["classes"]]
    methods = os.path.relpath(ROOT / "docs/movement.md", pathlib.Path(options.page).resolve().parent)
    pathlib.Path(options.page).write_text(f"""# Kernels of a training step, against the peaks of the processor

`benchmarks/training/kernels.py` wrote this page, and nobody edited it. The step is that of BERT-large's encoder layer with a squared
error and AdamW, batch {options.batch}, {options.sequence} tokens, dropout {options.dropout:g}; its kernels are those that
`viridian optimize` chose. [movement.md]({methods}#how-well-each-operator-uses-the-processor) explains the columns: *MB* is what a kernel
must move at least, and *MUE* what that would take at the highest bandwidth that was probed, in percent of the time that it took. It
exceeds 100 if tensors stay in a cache.

- Command: {command()}
- Machine: {machine()}
- {time.strftime('%d %B %Y').lstrip('0')}, {version}, {measured['threads']} threads
- Peaks: {probed}
- Kernels take {1e3 * seconds:.1f} ms together, each the median of {measured['runs']} runs.

{table(["class", "time, ms", "share, %"], classes)}

{table(HEAD, [cells(kernel, seconds, moved(kernel, peak)) for kernel in kernels])}
""")
    print(f"wrote {options.page}")


if __name__ == "__main__":
    main()
