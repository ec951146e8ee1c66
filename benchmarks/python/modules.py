#!/usr/bin/env python3
"""modules.py --work DIR measure --viridian BIN --python PYTHON [--models a,b] [--steps N] [--rounds N]
modules.py --work DIR page FILE.md: joules by module of three trainings. `measure` trains under the PyTorch of PYTHON, which
also has `viridian`: twice in `viridian.account`, once under `viridian record --torch`, and in turns with and without a
recording. It keeps what it found in DIR; `page` writes the page from all that DIR and its folders have, a row for each series."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))
WORKER = HERE / "training_worker.py"


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[:6]}: {done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def of_modules(result):
    """Joules by the name of a module, of a result of `viridian account`."""
    return {row["name"]: row["joules"] for row in result["footprint"]["rows"]}


def sums(result):
    """How far the rows are from the devices' totals less what is idle, unattributed and residual, as a part of the total."""
    whole = sum(one["meter_total"]["value"] for one in result["devices"])
    left = sum(one[part]["value"] for one in result["devices"] for part in ("idle", "unattributed", "residual"))
    return abs(sum(of_modules(result).values()) + left - whole) / whole


def agreement(one, other):
    """Pearson's correlation of the joules of modules, where a module that one of them lacks has none."""
    names = sorted(set(one) | set(other))
    return statistics.correlation([one.get(name, 0.0) for name in names], [other.get(name, 0.0) for name in names])


def accounted(options, folder, trace, power):
    return json.loads(run(options.viridian, "account", "--trace", trace, "--power", power, "--by", "module", "--json"))


def measure(options, name):
    folder = options.work / name
    folder.mkdir(parents=True, exist_ok=True)
    about, inside = [], []
    for turn in (1, 2):
        file = folder / f"account{turn}.json"
        run(options.python, "-W", "ignore", WORKER, name, "account", options.steps, file)
        about.append(json.loads(pathlib.Path(f"{file}.about").read_text()))
        inside.append({row["name"] + (", itself" if row["own"] else ""): row["joules"] for row in about[-1]["modules"]})
    run(options.viridian, "record", "--force", "-o", folder / "run", "--torch", "--", options.python, "-W", "ignore", WORKER, name,
        "train", options.steps)
    outside = accounted(options, folder, folder / "run/torch.json.gz", folder / "run/power.csv")
    rows = {row["name"] + (", itself" if row["itself"] else ""): row["joules"] for row in outside["footprint"]["rows"]}
    run(options.python, "-W", "ignore", WORKER, name, "overhead", options.rounds, folder / "overhead.json")
    turns = json.loads((folder / "overhead.json").read_text())
    ratios = sorted(recorded / alone for alone, recorded in turns["rounds"])
    leaves = about[0]["leaves"]
    seconds = {row["name"]: row["seconds"] / options.steps for row in about[0]["modules"] if row["name"] in leaves}
    account = json.loads((folder / "account1.json").read_text())
    total = sum(one["meter_total"]["value"] for one in account["devices"])
    parts = sum(inside[0].values()) + sum(one[part]["value"] for one in account["devices"]
                                          for part in ("idle", "unattributed", "residual"))
    step = statistics.median(alone for alone, _ in turns["rounds"])
    return {"torch": about[0]["torch"], "model": name, "steps": options.steps, "leaves": len(leaves),
            "unnamed": sorted(set(leaves) - set(inside[0])), "unnamed_outside": sorted(set(leaves) - set(rows)),
            "module_seconds": statistics.median(seconds.values()) if seconds else 0.0,
            "books": max(abs(parts - total) / total, sums(outside)), "step": step, "rounds": len(ratios),
            "overhead": [statistics.median(ratios), ratios[0], ratios[-1]], "calls": turns["calls_seconds"] / step, "searching": turns["search_seconds"],
            "nanoseconds_each": about[0]["overhead"]["nanoseconds_each"],
            "again": agreement(inside[0], inside[1]), "outside": agreement(inside[0], rows),
            "unattributed": sum(one["unattributed"]["value"] for one in account["devices"]) / total}


def page(options):
    from setting import machine
    found = [json.loads(file.read_text()) for file in sorted(options.work.glob("**/*.found.json"))]
    found.sort(key=lambda one: (tuple(int(part) for part in one["torch"].split("+")[0].split(".")), one["model"]))
    lines = ["# Joules by module of three trainings", "",
             "Written by `benchmarks/python/modules.py`. ResNet-18 (batch 8), a BERT of 4 layers and a model like Llama of 4 layers",
             "(16 sequences of 128 tokens, from `transformers`) train with AdamW on random data. ResNet-18's loss is made anew at every",
             "step. Joules are estimated by the machine's model of power, because it has no meter. Batches were doubled",
             "after a first try, so that the overhead is that of the larger ones.", "",
             f"Machine: {machine()}. {found[0]['viridian']}. {found[0]['steps']} steps after two of warm-up.", "",
             "- *Leaves*: modules without parts that a step calls, and how many of them are no row, in `viridian.account` and under",
             "  `viridian record --torch`.",
             "- *Sum*: how far modules, idle, unattributed and residual energy together are from the meter's total, as a part of it.",
             "- *Overhead*: time of a step that is recorded by that of one that is not, in turns in one process: median of the",
             "  rounds and their range. PyTorch's profiler is in it. *Calls* is the part that timing the calls of modules takes. *Names* is the time of the",
             "  searches for the names of modules, once in a recording.",
             "- *Agreement*: Pearson's correlation of the joules of modules, between two processes with `viridian.account`, and",
             "  between the first and the program under `viridian record --torch`, first steps and start included.", "",
             "| PyTorch | model | step, ms | a leaf, ms (median) | leaves | no row, in process / outside | sum | overhead, % | calls, % | us a call | names, ms "
             "| agreement of two | of inside and outside |",
             "|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for one in found:
        middle, least, most = (100 * (ratio - 1) for ratio in one["overhead"])
        lines.append(f"| {one['torch']} | {one['model']} | {1e3 * one['step']:.0f} | {1e3 * one['module_seconds']:.2f} | {one['leaves']} "
                     f"| {len(one['unnamed'])} / {len(one['unnamed_outside'])} | {one['books']:.0e} "
                     f"| {middle:.1f} ({least:.1f} to {most:.1f}, {one['rounds']} rounds) | {100 * one['calls']:.2f} "
                     f"| {1e-3 * one['nanoseconds_each']:.2f} | {1e3 * one['searching']:.0f} | {one['again']:.4f} | {one['outside']:.4f} |")
    lines += ["", *verdicts(found)]
    options.output.write_text("\n".join(lines) + "\n")


def verdicts(found):
    """What the table shows of the bounds that were set: whole sentences, made from its numbers."""
    told = []

    def line(good, wanted, missed):
        names = [f"{one['model']} under {one['torch']} ({text})" for one, text in missed]
        told.append(f"- {wanted}: " + ("kept everywhere." if not names else f"{good} of {len(found)} keep it; **missed** by "
                                       + ", ".join(names) + "."))

    for wanted, value, bound, above, text in (
            ("Every leaf has a row", lambda one: len(one["unnamed"]) + len(one["unnamed_outside"]), 0, True, "{:.0f} without"),
            ("Sums agree to 1e-9", lambda one: one["books"], 1e-9, True, "{:.1e}"),
            ("Overhead of at most 3 % by medians", lambda one: 100 * (one["overhead"][0] - 1), 3.0, True, "{:.1f} %"),
            ("Agreement of two runs of at least 0.99", lambda one: one["again"], 0.99, False, "{:.4f}"),
            ("Agreement of inside and outside of at least 0.99", lambda one: one["outside"], 0.99, False, "{:.4f}")):
        missed = [(one, text.format(value(one))) for one in found if (value(one) > bound if above else value(one) < bound)]
        line(len(found) - len(missed), wanted, missed)
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    tasks = parser.add_subparsers(required=True)
    one = tasks.add_parser("measure")
    one.add_argument("--viridian", required=True)
    one.add_argument("--python", required=True)
    one.add_argument("--models", default="resnet18,bert,llama")
    one.add_argument("--steps", type=int, default=10)
    one.add_argument("--rounds", type=int, default=7)
    one.set_defaults(page=False)
    other = tasks.add_parser("page")
    other.add_argument("output", type=pathlib.Path)
    other.set_defaults(page=True)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.page:
        page(options)
        return
    version = subprocess.run([options.viridian, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    for name in options.models.split(","):
        found = {"viridian": version, **measure(options, name)}
        (options.work / f"{found['torch']}.{name}.found.json").write_text(json.dumps(found))
        print(json.dumps(found), flush=True)


main()
