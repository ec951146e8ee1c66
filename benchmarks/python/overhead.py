#!/usr/bin/env python3
"""overhead.py --viridian BIN --work DIR [--python PYTHON] [--models a,b] [--rounds N] [--output FILE.md]: what a run costs
when Python asks for it. The same plan runs in `viridian run --paced` and in InferenceSession, there by `run` and by
`run_with_iobinding`, each in a process of its own, turn by turn in an order that changes every round. The table has the
medians, and their ratio round by round."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

LIMIT = 1.03
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))


class Paced:
    """A process that runs a plan for as many seconds as it is told."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        json.loads(self.process.stdout.readline())  # ready

    def median(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        return statistics.median(json.loads(self.process.stdout.readline()))

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def plan(options, name):
    """The model's plan, made where the work folder has none."""
    model, target = options.work / f"{name}.onnx", options.work / f"{name}.opt.onnx"
    written = options.work / f"{name}.opt.plan.json"
    if not written.exists():
        subprocess.run([options.viridian, "zoo", name, "-o", model], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([options.viridian, "optimize", model, "-o", target, "--db", options.work / "cost.db", "--budget", "200,60s"],
                       check=True, stdout=subprocess.DEVNULL)
    return written


def compare(options, name):
    file = plan(options, name)
    worker = (options.python, HERE / "session_worker.py", file)
    ours = Paced(options.viridian, "run", file, "--paced"), Paced(*worker), Paced(*worker, "bound")
    rounds = []
    for turn in range(options.rounds + 1):
        found = {}
        for place in (turn % 3, (turn + 1) % 3, (turn + 2) % 3) if turn % 2 == 0 else (turn % 3, (turn + 2) % 3, (turn + 1) % 3):
            found[place] = ours[place].median(options.seconds)
        rounds.append([found[place] for place in range(3)])
    for one in ours:
        one.end()
    rounds = rounds[1:]  # the first warms up
    ratios = [sorted(one[place] / one[0] for one in rounds) for place in (1, 2)]
    return [statistics.median(one[place] for one in rounds) for place in range(3)], ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--viridian", required=True)
    parser.add_argument("--python", default=str(HERE.parents[1] / ".venv-python/bin/python"))
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--models", default="small_cnn,squeezenet1_1,mobilenet_v2,resnet18")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    from setting import machine
    version = subprocess.run([options.viridian, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    lines = ["# A plan run from Python", "",
             "Written by `benchmarks/python/overhead.py`. The same plan runs in `viridian run` and in",
             "`viridian.InferenceSession`, each in a process of its own, turn by turn. `run` is `session.run(None, feed)`: it checks",
             "the inputs and makes NumPy arrays for the outputs. `bound` is `session.run_with_iobinding(binding)`, whose arrays stay.",
             "Ratios are medians over rounds, with their range.", "",
             f"Machine: {machine()}. {version}. {options.rounds} rounds of {options.seconds:g} s.", "",
             "| model | command line, ms | `run`, ms | `bound`, ms | `run` / command line | `bound` / command line |", "|---|---|---|---|---|---|"]
    medians = {}
    for name in options.models.split(","):
        times, ratios = compare(options, name)
        medians[name] = [statistics.median(one) for one in ratios]
        cells = [f"{1e3 * one:.4f}" for one in times]
        cells += [f"{statistics.median(one):.3f} ({one[0]:.3f} to {one[-1]:.3f})" for one in ratios]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    lines.append("")
    for place, way in enumerate(("run", "bound")):
        missed = [f"{name} ({100 * (one[place] - 1):.1f} %)" for name, one in medians.items() if one[place] > LIMIT]
        lines.append(f"- At most {100 * (LIMIT - 1):.0f} % slower by `{way}`: " + (f"**missed** by {', '.join(missed)}." if missed else "kept everywhere."))
    if options.output:
        options.output.write_text("\n".join(lines) + "\n")


main()
