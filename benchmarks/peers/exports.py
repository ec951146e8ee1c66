#!/usr/bin/env python3
"""exports.py --viridian BIN --work DIR --torch PYTHON [--exporters torchscript,dynamo] [--opsets 13,17] [--models a,b] [--run-only] [--keep]
[--kept-plans] [--real-time]: networks that we did not make, as PyTorch exports them. Each is optimised; what the plan computes and what ONNX Runtime computes from
the optimised .onnx is held against ONNX Runtime on the original, and both are timed, interleaved. Prints a table; exit code 1 when
one failed. Runs in .venv (ONNX Runtime); PYTHON is one with torch and torchvision: Debian's /usr/bin/python3, or a venv."""
import argparse
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys

import numpy as np
import onnxruntime

import compare
import worker
from worker_onnxruntime import TYPES

HERE = pathlib.Path(__file__).resolve().parent
ALLOWED = 1e-3  # relative L2, as for plans with Winograd kernels


def call(command, seconds):
    """The output; on failure the last line of what it said."""
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=seconds, cwd=HERE)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"took more than {seconds} s") from None
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()
        raise RuntimeError(said[-1][:300])
    return done.stdout


def relative_error(ours, theirs):
    worst = 0.0
    for a, b in zip(ours, theirs, strict=True):
        if a.shape != b.shape:
            return math.inf
        a, b = a.astype(np.float64), b.astype(np.float64)
        size = np.linalg.norm(b)
        error = np.linalg.norm(a - b) / size if size else np.linalg.norm(a)
        worst = max(worst, error if math.isfinite(error) else math.inf)
    return worst


def file_name(name):
    return name.replace("/", "_").replace(":", "_")


def session(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


class Case:
    def __init__(self, options, name, exporter, opset):
        self.options, self.name, self.exporter, self.opset = options, name, exporter, opset
        self.folder = pathlib.Path(options.work) / f"{name}-{exporter}-{opset or 'default'}"
        self.model, self.optimised = self.folder / f"{name}.onnx", self.folder / f"{name}.opt.onnx"
        self.plan = self.folder / f"{name}.opt.plan.json"
        self.threads = ["--threads", str(options.threads)]

    def export(self):
        if self.model.exists():  # kept by an earlier run
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        call([self.options.torch, "export_model.py", self.name, self.model, "--exporter", self.exporter, "--opset", self.opset], 600)

    def expect(self):
        original = session(self.model, self.options.threads)
        self.inputs = worker.seeded_inputs([(i.name, i.shape, TYPES[i.type]) for i in original.get_inputs()], 1000)
        folder = self.folder / "inputs"
        folder.mkdir(exist_ok=True)
        for name, value in self.inputs.items():
            np.save(folder / f"{file_name(name)}.npy", value)
        self.names = [o.name for o in original.get_outputs()]
        self.expected = original.run(None, self.inputs)

    def error_of_run(self, what):
        out = self.folder / "outputs"
        call([self.options.viridian, "run", what, "--inputs", self.folder / "inputs", "-o", out, "--rounds", 1, *self.threads], 300)
        return relative_error([np.load(out / f"{file_name(name)}.npy") for name in self.names], self.expected)

    def optimise(self):
        if self.options.kept_plans and self.plan.exists():
            self.elapsed = self.rewrites = None
        else:
            self.search()
        return relative_error(session(self.optimised, self.options.threads).run(None, self.inputs), self.expected)

    def search(self):
        command = [self.options.viridian, "optimize", self.model, "-o", self.optimised, "--db", self.options.db, "--proofs", 1, "--json",
                   "--budget", self.options.budget]
        result = json.loads(call(command + self.threads, self.options.limit))
        self.elapsed, self.rewrites = result["elapsed_seconds"], len(result["rewrites"])

    def time(self):
        threads = str(self.options.threads)
        first = ["chrt", "-f", "10"] if self.options.real_time else []
        ours = compare.System("viridian", [*first, self.options.viridian, "run", self.plan, "--paced", *self.threads])
        peer = compare.System("onnxruntime", [*first, sys.executable, "worker_onnxruntime.py", self.model, threads, "1000"])
        for _ in range(self.options.rounds):
            ours.turn(self.options.seconds)
            peer.turn(self.options.seconds)
        ratios = [statistics.median(b) / statistics.median(a) for a, b in zip(ours.times, peer.times)]
        medians = [1e3 * statistics.median(t for turn in system.times for t in turn) for system in (ours, peer)]
        for system in (ours, peer):
            system.close()
        return medians, ratios

    def row(self):
        cells = [self.name, f"{self.exporter} {self.opset or ''}".strip()]
        try:
            self.export()
            self.expect()
        except Exception as error:  # not ours: this PyTorch cannot export it, or ONNX Runtime not run it
            return cells + [f"skipped: {str(error).splitlines()[0][:90]}"], None, None
        try:
            plain = self.error_of_run(self.model)
            if self.options.run_only:
                good = bool(plain <= ALLOWED)
                return cells + ["ok" if good else "WRONG", f"{plain:.1e}"], good, None
            exported = self.optimise()
            planned = self.error_of_run(self.plan)
            good = bool(max(plain, exported, planned) <= ALLOWED)
            (ours, peer), ratios = self.time()
            ratio = statistics.median(ratios)
            return cells + ["ok" if good else "WRONG", f"{planned:.1e}", f"{exported:.1e}", "kept" if self.rewrites is None else str(self.rewrites),
                            "kept" if self.elapsed is None else f"{self.elapsed:.0f}",
                            f"{ours:.2f}", f"{peer:.2f}", f"{ratio:.2f} ({min(ratios):.2f} to {max(ratios):.2f})"], good, ratio
        except Exception as error:
            return cells + [f"FAILED: {error}"], False, None

    def clear(self):
        if not self.options.keep:
            shutil.rmtree(self.folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--viridian", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--torch", default="/usr/bin/python3")
    parser.add_argument("--exporters", default="torchscript")
    parser.add_argument("--opsets", default="0", help="comma-separated; 0 is the exporter's own default")
    parser.add_argument("--models", default="")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.25)
    parser.add_argument("--limit", type=int, default=1200, help="seconds for one optimize")
    parser.add_argument("--budget", default="1000,60s", help="of the search, as `viridian optimize` takes it")
    parser.add_argument("--db", default=None)
    parser.add_argument("--run-only", action="store_true", help="do not optimise or time: outputs of the plain model only")
    parser.add_argument("--keep", action="store_true", help="keep the exported files, and plans")
    parser.add_argument("--kept-plans", action="store_true", help="optimise only what an earlier run with --keep did not")
    parser.add_argument("--real-time", action="store_true", help="time both sides with `chrt -f 10`")
    options = parser.parse_args()
    options.viridian = str(pathlib.Path(options.viridian).resolve())
    options.work = str(pathlib.Path(options.work).resolve())
    options.db = options.db or str(pathlib.Path(options.work) / "cost.db")
    versions = call([options.torch, "-c", "import torch, torchvision; print(torch.__version__, torchvision.__version__)"], 120)
    print("torch {} and torchvision {}, ONNX Runtime {}".format(*versions.split(), onnxruntime.__version__), flush=True)
    if options.run_only:
        print("\n| model | exporter | outputs | plan against ONNX Runtime |\n|---|---|---|---|")
    else:
        print("\n| model | exporter | outputs | plan, relative L2 | optimised .onnx in ONNX Runtime | rewrites | optimize s | "
              "viridian ms | onnxruntime ms | onnxruntime / viridian |\n|---|---|---|---|---|---|---|---|---|---|")
    good, bad, ratios = 0, 0, []
    names = options.models or call([options.torch, "export_model.py"], 120)
    for name in names.replace(",", "\n").split():
        for exporter in options.exporters.split(","):
            for opset in options.opsets.split(","):
                case = Case(options, name, exporter, int(opset))
                cells, passed, ratio = case.row()
                case.clear()
                print("| " + " | ".join(cells) + " |", flush=True)
                good, bad = good + (passed is True), bad + (passed is False)
                ratios += [ratio] if ratio else []
    print(f"\n{good} passed, {bad} failed")
    if ratios:
        print(f"geometric mean of onnxruntime / viridian over {len(ratios)}: {math.exp(statistics.fmean(map(math.log, ratios))):.3f}; "
              f"below 1: {sum(r < 1 for r in ratios)}")
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
