#!/usr/bin/env python3
"""exports.py --viridian BIN --work DIR --torch PYTHON [--exporters torchscript,dynamo] [--opsets 13,17] [--models a,b] [--run-only] [--keep]
[--kept-plans] [--real-time] [--pin all|none] [--peers onnxruntime,openvino]: networks that we did not make, as PyTorch
exports them. Each is optimised; what the plan computes and what ONNX Runtime computes from the optimised .onnx is held against ONNX Runtime on the original, and both
are timed, turn by turn in an order that changes every round. Prints a table; exit code 1 when one failed. Runs in .venv (ONNX
Runtime); PYTHON is one with torch and torchvision: Debian's /usr/bin/python3, or a venv."""
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

from models import Bound, file_name, relative_error, session
from systems import HERE, Settings, System
from turns import geometric_mean, orders, ratio_of_rounds

ALLOWED = 1e-4  # relative L2 in f32 (docs/method.md, 4); a plan's own, 1e-3 with Winograd, stands in its result


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
        self.bound = Bound(self.model, self.folder, 1000, self.options.threads)

    def error_of_run(self, what):
        out = self.folder / "outputs"
        call([self.options.viridian, "run", what, "--inputs", self.bound.inputs, "-o", out, "--rounds", 1, *self.threads], 300)
        return relative_error([np.load(out / file_name(name)) for name in self.bound.names], self.bound.expected)

    def optimise(self):
        if self.options.kept_plans and self.plan.exists():
            self.elapsed = self.rewrites = None
        else:
            self.search()
        result = json.loads((self.folder / "result.json").read_text())
        self.allowed = max(output["allowed"] for output in result["verification"]["outputs"])
        return relative_error(session(self.optimised, self.options.threads).run(None, self.bound.values), self.bound.expected)

    def search(self):
        command = [self.options.viridian, "optimize", self.model, "-o", self.optimised, "--db", self.options.db, "--json",
                   "--budget", self.options.budget] + (["--no-pin"] if self.options.pin == "none" else [])
        text = call(command + self.threads, self.options.limit)
        (self.folder / "result.json").write_text(text)
        result = json.loads(text)
        self.elapsed, self.rewrites = result["elapsed_seconds"], len(result["rewrites"])

    def time(self):
        options = self.options
        settings = Settings(options.viridian, pathlib.Path(options.work), options.threads, options.pin, 0, options.real_time)
        systems = [System(settings, "viridian", self.bound, self.plan)] + [System(settings, peer, self.bound) for peer in options.peers]
        rows = orders(len(systems))
        for turn in range(options.rounds):
            for place in rows[turn % len(rows)]:
                systems[place].turn(options.seconds)
        medians = [1e3 * statistics.median(t for turn in system.times for t in turn) for system in systems]
        for system in systems:
            system.close()
        return medians, [ratio_of_rounds(peer.times, systems[0].times) for peer in systems[1:]]

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
            good = bool(max(plain, exported) <= ALLOWED and planned <= self.allowed)
            medians, ratios = self.time()
            return cells + ["ok" if good else "WRONG", f"{planned:.1e}", f"{exported:.1e}", "kept" if self.rewrites is None else str(self.rewrites),
                            "kept" if self.elapsed is None else f"{self.elapsed:.0f}",
                            *(f"{median:.2f}" for median in medians),
                            *(f"{ratio:.2f} ({low:.2f} to {high:.2f})" for ratio, low, high in ratios)], good, [ratio for ratio, *_ in ratios]
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
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=0.25)
    parser.add_argument("--limit", type=int, default=1200, help="seconds for one optimize")
    parser.add_argument("--budget", default="1000,60s", help="of the search, as `viridian optimize` takes it")
    parser.add_argument("--db", default=None)
    parser.add_argument("--run-only", action="store_true", help="do not optimise or time: outputs of the plain model only")
    parser.add_argument("--keep", action="store_true", help="keep the exported files, and plans")
    parser.add_argument("--kept-plans", action="store_true", help="optimise only what an earlier run with --keep did not")
    parser.add_argument("--real-time", action="store_true", help="time both sides with `chrt -f 10`")
    parser.add_argument("--pin", default="all", choices=["all", "none"], help="each thread on a processor of its own on both sides, or none")
    parser.add_argument("--peers", default="onnxruntime", help="comma-separated: onnxruntime, openvino")
    options = parser.parse_args()
    options.peers = options.peers.split(",")
    options.viridian = str(pathlib.Path(options.viridian).resolve())
    options.work = str(pathlib.Path(options.work).resolve())
    options.db = options.db or str(pathlib.Path(options.work) / "cost.db")
    versions = call([options.torch, "-c", "import torch, torchvision; print(torch.__version__, torchvision.__version__)"], 120)
    print("torch {} and torchvision {}, ONNX Runtime {}".format(*versions.split(), onnxruntime.__version__), flush=True)
    if options.run_only:
        print("\n| model | exporter | outputs | plan against ONNX Runtime |\n|---|---|---|---|")
    else:
        heads = ["model", "exporter", "outputs", "plan, relative L2", "optimised .onnx in ONNX Runtime", "rewrites", "optimize s",
                 *(f"{system} ms" for system in ["viridian", *options.peers]), *(f"{peer} / viridian" for peer in options.peers)]
        print(f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    good, bad, skipped, ratios = 0, 0, 0, []
    names = options.models or call([options.torch, "export_model.py"], 120)
    for name in names.replace(",", "\n").split():
        for exporter in options.exporters.split(","):
            for opset in options.opsets.split(","):
                case = Case(options, name, exporter, int(opset))
                cells, passed, ratio = case.row()
                case.clear()
                print("| " + " | ".join(cells) + " |", flush=True)
                good, bad, skipped = good + (passed is True), bad + (passed is False), skipped + (passed is None)
                ratios += [ratio] if ratio else []
    print(f"\n{good} passed, {bad} failed, {skipped} skipped (PyTorch does not export them, or ONNX Runtime does not run them)")
    for peer, of_peer in zip(options.peers, zip(*ratios)):
        print(f"geometric mean of {peer} / viridian over {len(of_peer)}: {geometric_mean(of_peer):.3f}; below 1: {sum(r < 1 for r in of_peer)}")
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
