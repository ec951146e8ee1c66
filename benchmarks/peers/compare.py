#!/usr/bin/env python3
"""compare.py --viridian BIN --work DIR [--models a,b] [--rounds N] [--threads N] [--torch PYTHON]: the same model, threads and run,
interleaved turn by turn, each system in its own process. Prints a table of minimum and median times, the ratio of medians
round by round, peak memory and time to be ready. A peer is NAME or NAME:ARGUMENT of worker_NAME.py; `torch` runs in PYTHON.
`--before BIN` adds another build of viridian, with a cost database of its own in DIR/before."""
import argparse
import copy
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


class System:
    def __init__(self, name, command):
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=HERE)
        self.ready = json.loads(self.process.stdout.readline())["ready"]
        self.times = []

    def turn(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        times = json.loads(self.process.stdout.readline())
        self.times.append(times)

    def peak(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
        return math.nan

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def prepared_model(options, name, precision="f32"):
    """A zoo network, or an .onnx file of the user's; and its optimised plan. Returns (onnx, plan)."""
    work = pathlib.Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    batch = "" if options.batch == 1 else f".batch{options.batch}"
    model = pathlib.Path(name).resolve() if name.endswith(".onnx") else work / f"{name}{batch}.onnx"
    if not model.exists():
        extra = ["--sequence", "128"] if name.startswith(("bert", "albert", "gpt")) else []
        extra += ["--batch", str(options.batch)]
        subprocess.run([options.viridian, "zoo", name, "-o", model, *extra], check=True, stdout=subprocess.DEVNULL)
    stem = model.stem if precision == "f32" else f"{model.stem}.{precision}"
    optimised, plan = work / f"{stem}.opt.onnx", work / f"{stem}.opt.plan.json"
    command = [options.viridian, "optimize", model, "-o", optimised, "--threads", str(options.threads), "--proofs", "1",
               "--db", str(options.db or work / "cost.db"), "--json"]
    if options.search:
        command += ["--search", options.search]
    if precision != "f32":
        command += ["--allow", precision]
        budgets = dict(entry.split("=") for entry in options.max_error.split(",") if entry)
        if name in budgets:
            command += ["--max-error", budgets[name]]
    if options.again or not plan.exists():
        start = time.perf_counter()
        result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        print(f"{options.label} optimised {name} in {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
        (work / f"{stem}.result.json").write_text(result)
    return model, plan


def compare(options, name):
    model, plan = prepared_model(options, name, options.precision)
    bound, threads = "2", str(options.threads)  # indices below 2 fit every table
    label = "viridian" if options.precision == "f32" else f"viridian:{options.precision}"
    systems = [System(label, [options.viridian, "run", plan, "--paced", "--threads", threads])]
    if options.beside_f32:
        exact = prepared_model(options, name)[1]
        systems.append(System("viridian", [options.viridian, "run", exact, "--paced", "--threads", threads]))
    if options.before:
        before = copy.copy(options)
        before.viridian, before.work, before.label = options.before, f"{options.work}/before", "viridian:before"
        before.db = None  # each build has prices of its own
        plan = prepared_model(before, name, options.precision)[1]
        systems.append(System(before.label, [options.before, "run", plan, "--paced", "--threads", threads]))
    for peer in options.peers.split(","):
        if peer:
            worker, *more = peer.split(":")
            python = options.torch if worker == "torch" else options.python
            systems.append(System(peer, [python, f"worker_{worker}.py", model, threads, bound, *more]))
    for _ in range(options.rounds):
        for system in systems:
            system.turn(options.seconds)
    rows = []
    ours = [statistics.median(turn) for turn in systems[0].times]
    for system in systems:
        every = [t for turn in system.times for t in turn]
        ratios = [statistics.median(turn) / mine for turn, mine in zip(system.times, ours)]
        rows.append({"model": name, "system": system.name, "median_ms": 1e3 * statistics.median(every),
                     "minimum_ms": 1e3 * min(every), "ratio": statistics.median(ratios),
                     "ratio_low": min(ratios), "ratio_high": max(ratios), "peak_mib": system.peak(),
                     "ready_s": system.ready, "runs": len(every)})
        system.close()
    for row in rows:
        print("| {model} | {system} | {median_ms:.2f} | {minimum_ms:.2f} | {ratio:.2f} ({ratio_low:.2f} to {ratio_high:.2f}) "
              "| {peak_mib:.0f} | {ready_s:.2f} | {runs} |".format(**row), flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--viridian", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--models", default="squeezenet1_1,resnet50,inception_v3,mobilenet_v2,bert_base")
    parser.add_argument("--peers", default=None, help="default: onnxruntime,openvino; with bf16 openvino:bf16")
    parser.add_argument("--precision", default="f32", choices=["f32", "bf16"],
                        help="bf16: our plan with --allow bf16; peers as PEER:bf16")
    parser.add_argument("--search", default="", help="as `optimize` takes it")
    parser.add_argument("--beside-f32", action="store_true", help="with bf16: our f32 plan too")
    parser.add_argument("--max-error", default="", help="NAME=X,...: `optimize --max-error X` for our bf16 plan of NAME")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--torch", default="", help="a python with PyTorch from PyPI: adds the peer torch:eager (torch:compile: name it in --peers)")
    parser.add_argument("--plan-only", action="store_true", help="make the plans, compare nothing")
    parser.add_argument("--batch", type=int, default=1, help="of zoo networks; not for the peer torch")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--db", default=None)
    parser.add_argument("--again", action="store_true", help="optimise even where a plan is there")
    parser.add_argument("--before", default="", help="another build of viridian to compare with")
    options = parser.parse_args()
    options.label = "viridian"
    if options.before:
        options.before = str(pathlib.Path(options.before).resolve())
    if options.peers is None:
        options.peers = "onnxruntime,openvino" if options.precision == "f32" else f"onnxruntime,openvino:{options.precision}"
    options.viridian = str(pathlib.Path(options.viridian).resolve())
    options.work = str(pathlib.Path(options.work).resolve())
    if options.torch and "torch" not in options.peers:
        options.peers += ",torch:eager"
    if options.plan_only:
        for name in options.models.split(","):
            prepared_model(options, name, options.precision)
        return
    print("| model | system | median ms | minimum ms | time / viridian's | peak MiB | ready s | runs |")
    print("|---|---|---|---|---|---|---|---|")
    rows = []
    for name in options.models.split(","):
        rows += compare(options, name)
    for peer in filter(None, ["viridian"] * options.beside_f32 + ["viridian:before"] * bool(options.before) + options.peers.split(",")):
        ratios = [row["ratio"] for row in rows if row["system"] == peer]
        if ratios:
            print(f"\ngeometric mean over {len(ratios)} models, {peer} / {rows[0]['system']}: "
                  f"{math.exp(statistics.fmean(map(math.log, ratios))):.3f}")


if __name__ == "__main__":
    main()
