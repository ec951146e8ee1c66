#!/usr/bin/env python3
"""compare.py --viridian BIN --work DIR [--models a,b] [--output FILE.md]: the same model on the same inputs in Viridian, ONNX
Runtime, OpenVINO and, if a Python has it, PyTorch, each in a process of its own, turn by turn in an order that changes every
round. Prints a table of times, ratios of medians round by round, outputs' errors against ONNX Runtime's f32, memory and time
to be ready, with every setting, and writes it to FILE.md. A peer is NAME or NAME:WAY (openvino:bf16, torch:compile).
`--before BIN` adds another build of viridian, with a cost database of its own in DIR/before."""
import argparse
import copy
import math
import pathlib
import statistics
import sys

from models import Bound, plan, zoo_model
from setting import Meanwhile, common, placing, table_of, written
from systems import Settings, System, empty_call, has_network, torch_of
from turns import geometric_mean, orders, ratio_of_rounds

INTEGERS = 2  # indices below 2 fit every table
WARM_UP = 0.3  # seconds


class Comparison:
    def __init__(self, options):
        self.options = options
        self.settings = Settings(options.viridian, pathlib.Path(options.work), options.threads, options.pin, options.nice, options.real_time,
                                 options.torch)
        self.ours = "viridian" if options.precision == "f32" else f"viridian:{options.precision}"
        self.rows, self.seen, self.priorities, self.meanwhile = [], [], set(), Meanwhile()

    def exact(self):
        return "viridian:exact" if self.options.precision == "f32" and not self.options.no_exact else None

    def plans(self, name):
        """(model, [(system, plan or None, settings)])"""
        options, model = self.options, zoo_model(self.options, name)
        budget = dict(entry.split("=") for entry in options.max_error.split(",") if entry).get(name)
        planned = [(self.ours, plan(options, model, options.precision, max_error=budget), self.settings)]
        if self.exact():
            planned.append((self.exact(), plan(options, model, exact=True), self.settings))
        if options.beside_f32:
            planned.append(("viridian", plan(options, model), self.settings))
        if options.before:
            before = copy.copy(options)  # each build has prices of its own
            before.viridian, before.work, before.db = options.before, f"{options.work}/before", None
            pathlib.Path(before.work).mkdir(exist_ok=True)
            settings = copy.copy(self.settings)
            settings.viridian = options.before
            planned.append(("viridian:before", plan(before, model, options.precision, max_error=budget), settings))
        peers = [peer for peer in options.peers.split(",") if peer and (not peer.startswith("torch") or has_network(self.settings, name))]
        return model, planned + [(peer, None, self.settings) for peer in peers]

    def run(self, name):
        model, planned = self.plans(name)
        bound = Bound(model, self.settings.work / "tensors" / model.stem, INTEGERS, self.options.threads)
        systems = [System(settings, system, bound, its_plan) for system, its_plan, settings in planned]
        with self.meanwhile.during(systems):
            for system in systems:
                self.seen.append((system.name, system.warm_up(WARM_UP)))
                self.priorities.add(system.priority())
            rows = orders(len(systems))
            for turn in range(self.options.rounds):
                for place in rows[turn % len(rows)]:
                    systems[place].turn(self.options.seconds)
        by_name = {system.name: system for system in systems}
        for system in systems:
            every = [seconds for turn in system.times for seconds in turn]
            self.rows.append({"model": model.stem if name.endswith(".onnx") else name, "system": system.name, "median": statistics.median(every), "minimum": min(every),
                              "ratio": ratio_of_rounds(system.times, by_name[self.ours].times),
                              "exact": self.exact() and ratio_of_rounds(system.times, by_name[self.exact()].times),
                              "growth": system.growth(), "ready": system.ready, "runs": len(every), "error": system.close()})
        print(f"{name} is done", file=sys.stderr, flush=True)

    def table(self):
        exact = self.exact()
        head = ["model", "system", "median ms", "minimum ms", "time / viridian's"] + (["time / exact's"] if exact else [])
        head += ["error", "memory MiB", "ready s", "runs"]
        lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        for row in self.rows:
            cells = [row["model"], row["system"], f"{1e3 * row['median']:.2f}", f"{1e3 * row['minimum']:.2f}"]
            cells += ["{:.2f} ({:.2f} to {:.2f})".format(*row[which]) for which in ["ratio"] + (["exact"] if exact else [])]
            cells += ["" if row["error"] is None else f"{row['error']:.1e}", "" if math.isnan(row["growth"]) else f"{row['growth']:.0f}", f"{row['ready']:.2f}", str(row["runs"])]
            lines.append("| " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def means(self):
        lines = []
        for name in dict.fromkeys(row["system"] for row in self.rows):
            mine = [row for row in self.rows if row["system"] == name]
            if name == self.ours or not mine:
                continue
            told = f"{geometric_mean([row['ratio'][0] for row in mine]):.3f} times {self.ours}'s time"
            if self.exact() and name != self.exact():
                told += f", {geometric_mean([row['exact'][0] for row in mine]):.3f} times {self.exact()}'s"
            lines.append(f"- {name}: {told}, in geometric mean over {len(mine)} models")
        return "\n".join(lines)

    def setting(self):
        options, settings = self.options, self.settings
        kinds = {row["system"].partition(":")[0] for row in self.rows}
        rows = common(settings, options, kinds, options.torch_version)
        calls = empty_call(settings, [name for name in dict.fromkeys(row["system"] for row in self.rows)
                                      if name in ("viridian", self.ours, "onnxruntime", "torch:eager") or name.startswith("openvino")])
        return rows + [
            ("batch, precision", f"{options.batch}, {options.precision}"),
            ("pinning", placing(settings.pin, self.seen)),
            ("priority", f"{' and '.join(sorted(self.priorities))} for every system, as the kernel says"),
            ("order", "changes every round, so that each system has each place and each predecessor equally often (Williams 1949)"),
            ("a call itself", "a model of one Relu of eight elements takes " +
             ", ".join(f"{1e6 * seconds:.1f} us in {name}" for name, seconds in calls.items()) + ", which every time above includes"),
            ("meanwhile", self.meanwhile.text())]

    def text(self):
        options = self.options
        notes = ["*error*: relative L2 of the worst output against ONNX Runtime's f32 outputs on the same inputs, of the last run that was "
                 "timed. The zoo's weights are drawn from a seed and amplify errors more from layer to layer than trained weights do.",
                 "*memory*: growth of the process's peak after its libraries were loaded and before it read the model.",
                 "*ready*: reading and preparing the model or plan.",
                 "ONNX Runtime and OpenVINO are called through the C interfaces of their wheels' libraries, with inputs and outputs bound once; "
                 "PyTorch runs in Python, on its own network of the same architecture with other weights, so that no error is given."]
        if not self.exact():
            notes.append("Our plans may use minimal filtering (Winograd) and Strassen's product, which multiply less and round otherwise than the "
                         "direct sums.")
        else:
            notes.append("*viridian* may use minimal filtering (Winograd) and Strassen's product, which multiply less and round otherwise than the "
                         "direct sums; *viridian:exact* is planned with `--exact-arithmetic`, which uses neither.")
        if options.precision != "f32":
            notes.append(f"Error budgets of our plans: {options.max_error or 'the default of `--max-error`'}"
                         f"{', the default for the others' if options.max_error else ''}.")
        title = f"# {options.title}\n\n" if options.title else ""
        return title + "\n\n".join([self.table(), self.means(), "\n".join(f"- {note}" for note in notes), table_of(self.setting())])


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--viridian", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--models", default="squeezenet1_1,resnet50,inception_v3,mobilenet_v2,bert_base")
    parser.add_argument("--peers", default=None, help="default: onnxruntime, openvino (openvino:bf16), and torch:eager, torch:compile where they are")
    parser.add_argument("--precision", default="f32", choices=["f32", "bf16"], help="bf16: our plan with --allow bf16; peers as PEER:bf16")
    parser.add_argument("--search", default="", help="as `optimize` takes it")
    parser.add_argument("--beside-f32", action="store_true", help="with bf16: our f32 plan too")
    parser.add_argument("--max-error", default="", help="NAME=X,...: `optimize --max-error X` for our bf16 plan of NAME")
    parser.add_argument("--no-exact", action="store_true", help="in f32: no plan with --exact-arithmetic beside ours")
    parser.add_argument("--torch", default="", help="a python with PyTorch and torchvision (default: this one or Debian's, if it has them)")
    parser.add_argument("--plan-only", action="store_true", help="make the plans, compare nothing")
    parser.add_argument("--batch", type=int, default=1, help="of zoo networks")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pin", default="all", choices=["all", "none"], help="each thread on a processor of its own in every system, or none in any")
    parser.add_argument("--nice", type=int, default=0, help="of every system")
    parser.add_argument("--real-time", action="store_true", help="every system, and the making of plans, with `chrt -f 10`")
    parser.add_argument("--db", default=None)
    parser.add_argument("--again", action="store_true", help="optimise even if a plan is there")
    parser.add_argument("--before", default="", help="another build of viridian to compare with")
    parser.add_argument("--title", default="")
    parser.add_argument("--output", default="", help="a .md file to write what is printed to")
    options = parser.parse_args()
    for name in ("viridian", "work", "before"):
        if getattr(options, name):
            setattr(options, name, str(pathlib.Path(getattr(options, name)).resolve()))
    options.torch, options.torch_version = torch_of(options.torch)
    if options.peers is None:
        options.peers = "onnxruntime,openvino" if options.precision == "f32" else f"onnxruntime,openvino:{options.precision}"
        if options.torch_version and options.precision == "f32":
            options.peers += ",torch:eager" + (",torch:compile" if int(options.torch_version.split(".")[0]) >= 2 else "")
    return options


def main():
    options = parsed()
    comparison = Comparison(options)
    for name in options.models.split(","):
        comparison.plans(name) if options.plan_only else comparison.run(name)
    if not options.plan_only:
        written(comparison.text(), options.output)


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        sys.exit(f"compare.py: {error}")
