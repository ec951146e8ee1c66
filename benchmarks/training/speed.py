"""Seconds and memory of a training step beside PyTorch: forward, backward and update.

speed.py --viridian BIN --torch PYTHON --work FOLDER [--tasks a,b] [--modes eager,compile,autotune] [--page FILE.md] [--kept FILE.json]
(.venv's Python)

Each system is a process of its own on the same inputs. They take turns in an order that changes every round, every thread on a
processor of its own, and the first step of a turn does not count (benchmarks/method.md, "How systems are compared"). PyTorch is
eager, compiled, or compiled with `max-autotune` (*autotune*), with attention in parts or *fused* (GPT-2), in f32 and in bf16 by
autocast. Memory is the growth of a process's peak after its libraries were loaded: it holds weights, gradients, moments,
activations and what else a step needs.
`--kept` adds to the rows of earlier runs; those of the same step are replaced.
`--prepare` starts PyTorch's modes once and times nothing: compiled code is then in FOLDER for the real run.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
import page  # noqa: E402
from setting import Meanwhile, placing  # noqa: E402
from speed_tasks import TASKS  # noqa: E402
from systems import Settings, System, torch_of  # noqa: E402
from turns import geometric_mean, orders, ratio_of_rounds  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
# The kernels of `viridian train`, chosen without measuring, and those of `viridian train --tune`. --ours may also name viridian:bf16,
# those of `viridian train --tune --allow bf16`, which the summary compares with PyTorch's fastest mode in bf16.
OURS = ["viridian", "viridian:tuned"]


class Step:
    """The training step of a task and its inputs, as files."""

    def __init__(self, viridian, name, folder):
        self.folder, self.model = folder / name, folder / name / f"{name}.onnx"
        self.inputs = self.folder / "inputs"
        self.inputs.mkdir(parents=True, exist_ok=True)
        task, forward = TASKS[name], self.folder / "forward.onnx"
        self.call(viridian, "zoo", *task.zoo, "--training", "-o", forward)
        told = json.loads(self.call(viridian, "gradient", forward, *task.gradient, "--json", "-o", self.model))
        forward.unlink()
        self.parameters = told["elements"]["parameters"]
        numbers = numpy.random.default_rng(1)
        for name, kind in told["inputs"].items():
            element, _, rest = kind.partition("[")
            shape = [int(part) for part in rest.rstrip("]").split(",") if part]
            value = numbers.integers(0, 10, shape) if element == "i64" else numbers.standard_normal(shape).astype(numpy.float32)
            numpy.save(self.inputs / f"{name}.npy", numpy.float32(1e-5) if name == "viridian.rate" else numpy.asarray(value))

    @staticmethod
    def call(*command):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr or done.stdout)
        return done.stdout

    def error(self, _):
        return None


class Comparison:
    def __init__(self, options):
        self.options = options
        self.settings = Settings(options.viridian, pathlib.Path(options.work), options.threads, options.pin, torch=options.torch,
                                 torch_worker=HERE / "worker_training.py")
        self.seen, self.meanwhile = [], Meanwhile()
        self.kept = pathlib.Path(options.kept) if options.kept else None
        self.rows = json.loads(self.kept.read_text()) if self.kept and self.kept.exists() else []

    def run(self, name):
        options = self.options
        step = Step(options.viridian, name, pathlib.Path(options.work))
        theirs = int(Step.call(options.torch, HERE / "worker_training.py", "--parameters", name))
        if theirs != step.parameters:
            sys.exit(f"{name}: Viridian trains {step.parameters} elements, PyTorch {theirs}")
        ours = [] if options.prepare else OURS  # prices are measured when nothing else runs
        systems = [System(self.settings, system, step) for system in [*ours, *(f"torch:{mode}" for mode in options.modes.split(","))]]
        if not options.prepare:
            self.measure(name, systems)
        for system in systems:
            system.process.kill() if options.prepare else system.close()

    def measure(self, name, systems):
        with self.meanwhile.during(systems):
            for system in systems:
                self.seen.append((system.name, system.warm_up(0.3)))
            rows = orders(len(systems))
            for turn in range(self.options.rounds or TASKS[name].rounds):
                for place in rows[turn % len(rows)]:
                    systems[place].turn(self.options.seconds)
        self.rows = [row for row in self.rows if row["task"] != name]
        for system in systems:
            every = [seconds for turn in system.times for seconds in turn]
            medians = [statistics.median(turn) for turn in system.times]
            self.rows.append({"task": name, "system": system.name, "median": statistics.median(every), "minimum": min(every),
                              "low": min(medians), "high": max(medians),
                              "ratios": {ours.name: ratio_of_rounds(ours.times, system.times) for ours in systems[:len(OURS)]},
                              "memory": system.growth(), "runs": len(every), "when": time.strftime("%H:%M on %-d %B %Y", time.gmtime()),
                              "version": page.version(self.options.viridian)})
            print(f"{name:<26} {system.name:<20} {1e3 * self.rows[-1]['median']:10.2f} ms {self.rows[-1]['memory']:8.0f} MiB", flush=True)
        self.rows.sort(key=lambda row: list(TASKS).index(row["task"]))
        if self.kept:
            self.kept.write_text(json.dumps(self.rows))

    def of(self, name):
        return {row["system"]: row for row in self.rows if row["task"] == name}

    def measured(self):
        """When each step was measured (UTC), and by which version of Viridian: rows may come from several runs."""
        when = {}
        for row in self.rows:
            when.setdefault((row["version"], row["when"]), {})[row["task"]] = None
        return "; ".join(f"{', '.join(tasks)}: {at} UTC, {version}" for (version, at), tasks in sorted(when.items()))

    def times(self):
        rows = []
        for row in self.rows:
            ratios = ["" if row["system"] == ours else "{:.2f} ({:.2f} to {:.2f})".format(*row["ratios"][ours]) for ours in OURS]
            rows.append([row["task"], row["system"], f"{1e3 * row['median']:.2f}", f"{1e3 * row['low']:.2f} to {1e3 * row['high']:.2f}",
                         f"{1e3 * row['minimum']:.2f}", *ratios, f"{row['memory']:.0f}", row["runs"]])
        return page.table(["step", "system", "median ms", "medians of turns", "minimum", *(f"{ours}'s time / its" for ours in OURS), "memory MiB",
                           "steps timed"], rows)

    def summary(self):
        rows, ratios = [], {ours: [] for ours in OURS}
        for name in dict.fromkeys(row["task"] for row in self.rows):
            of = self.of(name)
            exact = {system: row for system, row in of.items() if system.startswith("torch") and not system.endswith(".bf16")}
            best = min(exact, key=lambda system: exact[system]["median"])
            small = min(exact, key=lambda system: exact[system]["memory"])
            rounding = [row for system, row in of.items() if system.endswith(".bf16")]
            for ours in OURS:
                fastest = min(rounding, key=lambda row: row["median"]) if ours == "viridian:bf16" else exact[best]
                ratios[ours].append(fastest["ratios"][ours][0])
            rows.append([name, best, *(f"{ratios[ours][-1]:.2f}" for ours in OURS),
                         *(f"{of[ours]['memory'] / exact[small]['memory']:.2f} ({small})" for ours in OURS)])
        heads = ["step", "PyTorch's fastest in f32", *(f"{ours}'s time / its" for ours in OURS),
                 *(f"{ours}'s memory / PyTorch's least in f32" for ours in OURS)]
        means = " and ".join(f"{geometric_mean(ratios[ours]):.2f} ({ours})" for ours in OURS)
        words = f"Viridian's time is {means} times that of PyTorch's fastest mode in f32, in geometric mean over {len(rows)} steps."
        if "viridian:bf16" in OURS:
            words = words.replace("mode in f32", "mode (in bf16 for viridian:bf16, in f32 for the others)")
        return page.table(heads, rows) + "\n\n" + words


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--viridian", required=True)
    parser.add_argument("--torch", required=True, help="a python with PyTorch 2 and torchvision")
    parser.add_argument("--work", required=True)
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--modes", default="eager,compile,eager.bf16,compile.bf16")
    parser.add_argument("--ours", default=",".join(OURS))
    parser.add_argument("--rounds", type=int, default=0, help="default: as speed_tasks.py says")
    parser.add_argument("--minutes", type=float, default=0, help="no task begins after that")
    parser.add_argument("--seconds", type=float, default=2, help="of a turn; two steps at least")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pin", default="all", choices=["all", "none"])
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--page", default="")
    parser.add_argument("--kept", default="", help="rows of earlier runs on this machine")
    options = parser.parse_args()
    for name in ("viridian", "work"):
        setattr(options, name, str(pathlib.Path(getattr(options, name)).resolve()))
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(pathlib.Path(options.work) / "inductor")
    options.torch_version = torch_of(options.torch)[1]
    OURS[:] = options.ours.split(",")
    return options


def write(options, comparison):
    settings = page.settings(options.viridian, f"PyTorch {options.torch_version}", [
        ("threads", f"{options.threads} for every system; {placing(options.pin, comparison.seen)}"),
        ("turns", f"of {options.seconds:g} s, two steps at least, in an order that changes every round (Williams 1949)"),
        ("measured", comparison.measured()), ("meanwhile", comparison.meanwhile.text() + ", in the last run")])
    page.write(options.page, "Training steps beside PyTorch", " ".join(__doc__.split("\n\n")[2].split("`--kept`")[0].split()),
               "The encoder layer and attention alone (mha) are BERT-large's, with AdamW on a squared error; GPT-2 and the small transformer "
               "have AdamW too, all others momentum, DCGAN's on a squared error. "
               "Viridian runs the step file with kernels chosen by estimated prices, as `viridian train` does" + (
                   ", and with those that `viridian train --tune` chooses by their measured prices." if "viridian:tuned" in OURS else "."),
               comparison.summary(), comparison.times(), settings)


def main():
    options = parsed()
    comparison, begin = Comparison(options), time.monotonic()
    for name in options.tasks.split(","):
        if options.minutes and time.monotonic() - begin > 60 * options.minutes:
            print(f"{name} is left out: {options.minutes:g} minutes are over")
            continue
        comparison.run(name)
        if options.page and not options.prepare:
            write(options, comparison)  # what is known so far, in case that the rest is stopped
    if not options.prepare:
        print(comparison.summary())


if __name__ == "__main__":
    main()
