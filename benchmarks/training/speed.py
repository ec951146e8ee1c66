"""Seconds and memory of a training step beside PyTorch: forward, backward and update.

speed.py --viridian BIN --torch PYTHON --work FOLDER [--tasks a,b] [--modes eager,compile,autotune] [--page FILE.md] [--kept FILE.json]
(.venv's Python)

Each system is a process of its own on the same inputs. They take turns in an order that changes every round, every thread on a
processor of its own, and the first step of a turn does not count (benchmarks/method.md, "How systems are compared"). PyTorch is
eager, compiled, or compiled with `max-autotune` (*autotune*), with attention in parts or *fused* (GPT-2), in f32 and in bf16 by
autocast; *weights.bf16* keeps weights and moments in bf16 too, which loses small updates. With *huge* its allocator, glibc's, keeps
memory and takes huge pages, as Viridian does; without *huge* it has its defaults. A page has the modes in its table; the others did
not run. Memory is the growth of a process's
peak after its libraries were loaded: it holds weights, gradients, moments, activations and what else a step needs.
`--kept` adds to the rows of earlier runs; those of the same step are replaced.
Plans are made and proved before a step is timed. `--prepare` starts PyTorch's modes once and times nothing: compiled code is then
in FOLDER for the real run.
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
# The kernels of `viridian train`, chosen without measuring, and those of a plan of `viridian optimize`, which measures them as `viridian
# train --tune` does. --ours may also name viridian:bf16, a plan that may use bf16, which the summary compares with PyTorch in bf16.
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

    def plan(self, settings, system):
        """The plan of viridian:tuned or viridian:bf16, made before anything is timed; None for the kernels of `viridian train`."""
        way = system.partition(":")[2]
        if not way:
            return None
        written, allowed = self.folder / f"{self.model.stem}.{way}.onnx", ["--allow", "bf16"] if way == "bf16" else []
        self.call(settings.viridian, "optimize", self.model, "--search", "none", "--threads", settings.threads, "--inputs", self.inputs,
                  "--db", settings.work / "cost.db", *allowed, *([] if settings.pin == "all" else ["--no-pin"]), "-o", written)
        return written.with_suffix(".plan.json")

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
        plans = {} if options.prepare else {system: step.plan(self.settings, system) for system in OURS}
        systems = [System(self.settings, system, step, plans.get(system))
                   for system in [*plans, *(f"torch:{mode}" for mode in options.modes.split(","))]]
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
        rows, ratios, autocast = [], {ours: [] for ours in OURS}, []
        precision = {ours: "bf16" if ours == "viridian:bf16" else "f32" for ours in OURS}
        for name in dict.fromkeys(row["task"] for row in self.rows):
            of, times, memories = self.of(name), [], []
            for ours in OURS:
                low = precision[ours] == "bf16"
                peers = [row for row in of.values() if row["system"].startswith("torch") and row["system"].endswith(".bf16") == low]
                fastest = max(peers, key=lambda row: row["ratios"][ours][0])
                least = min(peers, key=lambda row: row["memory"])
                ratios[ours].append(fastest["ratios"][ours][0])
                times.append(f"{ratios[ours][-1]:.2f} ({fastest['system']})")
                memories.append(f"{of[ours]['memory'] / least['memory']:.2f} ({least['system']})")
                if low:
                    peers = [row for row in peers if ".weights" not in row["system"]]
                    autocast.append(max(row["ratios"][ours][0] for row in peers))
            rows.append([name, *times, *memories])
        heads = ["step", *(f"{ours}'s time / that of PyTorch's fastest mode in {precision[ours]}" for ours in OURS),
                 *(f"{ours}'s memory / PyTorch's least in {precision[ours]}" for ours in OURS)]
        means = " and ".join(f"{geometric_mean(ratios[ours]):.2f} ({ours})" for ours in OURS)
        words = f"Viridian's time is {means} times that of PyTorch's fastest mode in f32, in geometric mean over {len(rows)} steps."
        if autocast:
            words = words.replace("mode in f32", "mode (in bf16 for viridian:bf16, in f32 for the others)")
            words += (f" The time of viridian:bf16 is {geometric_mean(autocast):.2f} times that of PyTorch's fastest mode with autocast, which keeps "
                      "weights and moments in f32, as viridian:bf16 does.")
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
    for mode in options.modes.split(","):
        if "weights" in mode.split(".") and not mode.endswith(".weights.bf16"):
            parser.error(f"the mode {mode} is unknown: a mode that keeps weights in bf16 ends in .weights.bf16")
    if "viridian:bf16" in OURS and not {"eager.bf16", "compile.bf16"} & set(options.modes.split(",")):
        parser.error("viridian:bf16 is compared with PyTorch's modes eager.bf16 and compile.bf16: give one with --modes")
    return options


def write(options, comparison):
    settings = page.settings(options.viridian, f"PyTorch {options.torch_version}", [
        ("threads", f"{options.threads} for every system; {placing(options.pin, comparison.seen)}"),
        ("turns", f"of {options.seconds:g} s, two steps at least, in an order that changes every round (Williams 1949)"),
        ("measured", comparison.measured()), ("meanwhile", comparison.meanwhile.text() + ", in the last run")])
    page.write(options.page, "Training steps beside PyTorch", " ".join(__doc__.split("\n\n")[2].split("`--kept`")[0].split()),
               "The encoder layer and attention alone (mha) are BERT-large's, with AdamW on a squared error; GPT-2 and the small transformer "
               "have AdamW too, all others momentum, DCGAN's on a squared error. "
               "*viridian* runs the step file with kernels chosen by estimated prices, as `viridian train` does. " + (
                   "*viridian:tuned* runs a plan of `viridian optimize --search none`, whose kernels were measured before the comparison. "
                   if "viridian:tuned" in OURS else "") + (
                   "*viridian:bf16* runs a plan of `viridian optimize --search none --allow bf16`, whose kernels were measured before the "
                   "comparison. The plan is within the error budgets of docs/prove.md; weights and moments stay in f32."
                   if "viridian:bf16" in OURS else ""),
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
