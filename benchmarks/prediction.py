#!/usr/bin/env python3
"""prediction.py --build DIR --work DIR [--fill] [--output FILE.md]: how well the cost database predicts whole runs
(benchmarks/prediction.cpp). The first call, or one with --fill, takes the prices of every network and keeps the database in
WORK. A later call judges on a copy of it: the error of each network's best plan, and Kendall's tau over its pairs of plans whose
medians differ by more than 5 %. It prints a table with every setting, and writes it to FILE.md. `--freeze COMMAND` is put before
each call of the program, as a word of the page: it may stop other programs of the machine meanwhile."""
import argparse
import datetime
import itertools
import json
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "peers"))
from setting import command, machine, table_of, today, written  # noqa: E402

NETWORKS = "squeezenet1_1,mobilenet_v2,resnet50,inception_v3,bert_base"
DIFFERENT, WITHIN, TAU, PAIRS = 1.05, 0.10, 0.9, 15
NOTES = """\
- *best plan*: the fastest by prediction; how far its prediction lies from the median of its runs. *tau*: Kendall's, over the
  pairs of plans whose medians differ by more than 5 %. *within 10 %*: how many plans' predictions are.
- *predicted*: the sum of stored prices, brought to the present by the probes just before the plans run, times the correction
  that runs while the database was filled gave. No run of the judged plans is in it.
- *timed again*: prices of the judged plans that were timed on one occasion only, on a slower machine, or on occasions that lie
  far apart, and are timed again before any plan runs, as `optimize` does.
- *attempts*: predictions and runs are repeated if the probes or the runs tell that the machine did not keep one state; *no*: it
  did not keep one in the last of them either.
- *kernels alone*: each plan's kernels, timed one by one beside the runs. It explains a run and predicts nothing."""


def program(options, model, database):
    """What the program tells of the plans of a network."""
    call = [*shlex.split(options.freeze), str(options.build / "bin" / "prediction"), str(model), "--db", str(database), "--plans", str(options.plans),
            "--threads", str(options.threads)]
    return json.loads(subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True).stdout)


def models(options):
    for name in options.models.split(","):
        model = options.work / f"{name}.onnx"
        if not model.exists():
            subprocess.run([options.build / "bin" / "viridian", "zoo", name, "-o", model], check=True, stdout=subprocess.DEVNULL)
        yield name, model


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def fill(options):
    begin, database = now(), options.work / "filled.db"
    told = {}
    for name, model in models(options):
        told[name] = program(options, model, database)
        print(row(name, told[name]), file=sys.stderr, flush=True)
    (options.work / "filled.json").write_text(json.dumps({"begin": begin.isoformat(), "end": now().isoformat(), "networks": told}))


def error(plan):
    return plan["predicted"] / plan["ran"]["median"] - 1


def order(plans):
    """(Kendall's tau, number of pairs)"""
    signs = [1 if (a["predicted"] < b["predicted"]) == (a["ran"]["median"] < b["ran"]["median"]) else -1
             for a, b in itertools.combinations(plans, 2)
             if max(a["ran"]["median"], b["ran"]["median"]) > DIFFERENT * min(a["ran"]["median"], b["ran"]["median"])]
    return (statistics.mean(signs) if signs else 1.0), len(signs)


def row(name, told):
    plans, (tau, pairs) = told["plans"], order(told["plans"])
    good = sum(abs(error(plan)) <= WITHIN for plan in plans)
    probes = told["attempts"][-1]["before"]
    steady = "" if told["attempts"][-1]["one_state"] else ", no"
    return (f"| {name} | {100 * error(plans[0]):+.1f} % | {tau:.3f} ({pairs}) | {good} of {len(plans)} | {told['timed_again']} | "
            f"{len(told['attempts'])}{steady} | {1e6 * probes['product']:.0f}, {1e6 * probes['conversion']:.0f} |")


def verdict(networks):
    """Whether the targets are met, in words."""
    far = [f"{name} ({100 * error(told['plans'][0]):+.1f} %)" for name, told in networks.items() if abs(error(told["plans"][0])) > WITHIN]
    few = [name for name, told in networks.items() if order(told["plans"])[1] < PAIRS]
    wrong = [f"{name} ({order(told['plans'])[0]:.3f})" for name, told in networks.items() if order(told["plans"])[0] < TAU]
    every = [plan for told in networks.values() for plan in told["plans"]]
    good = sum(abs(error(plan)) <= WITHIN for plan in every)
    def said(missed):
        return f"**missed** on {', '.join(missed)}" if missed else "met"
    return "\n".join([f"- best plan within {100 * WITHIN:.0f} % of its run, on every network: {said(far)}",
                      f"- Kendall's tau of at least {TAU}, on every network: {said(wrong)}",
                      f"- at least {PAIRS} pairs of plans that differ: {said(few)}",
                      f"- of all {len(every)} plans {good} are predicted within {100 * WITHIN:.0f} %; no target"])


def every_plan(name, told):
    lines = [f"### {name}", "", "| predicted, ms | | ran, ms | 95 % interval | kernels alone, ms |", "|---|---|---|---|---|"]
    for plan in told["plans"]:
        ran = plan["ran"]
        lines.append(f"| {1e3 * plan['predicted']:.3f} | {100 * error(plan):+.1f} % | {1e3 * ran['median']:.3f} | "
                     f"{1e3 * ran['low']:.3f} to {1e3 * ran['high']:.3f} | {1e3 * plan['kernels']:.3f} |")
    for attempt in told["attempts"]:
        before, after = attempt["before"], attempt["after"]
        lines += ["", f"Probes before and after the runs: product {1e6 * before['product']:.1f} and {1e6 * after['product']:.1f} us, conversion "
                  f"{1e6 * before['conversion']:.1f} and {1e6 * after['conversion']:.1f} us; core to core {1e9 * before['core_to_core']:.0f} and "
                  f"{1e9 * after['core_to_core']:.0f} ns, in the runs that count {1e9 * attempt['runs_core_to_core']:.0f} ns"
                  f"{'' if attempt['one_state'] else ': not one state'}."]
    return "\n".join(lines)


def judge(options):
    filled = json.loads((options.work / "filled.json").read_text())
    database = options.work / "judged.db"
    networks, begin = {}, now()
    for name, model in models(options):
        shutil.copy(options.work / "filled.db", database)  # so that no judged run corrects another network of the set
        networks[name] = program(options, model, database)
        print(row(name, networks[name]), file=sys.stderr, flush=True)
    age = (begin - datetime.datetime.fromisoformat(filled["end"])).total_seconds() / 60
    head = "| network | best plan | tau (pairs) | within 10 % | timed again | attempts | probes: product, conversion, us |\n|" + "---|" * 7
    told = next(iter(networks.values()))
    settings = table_of([("date", today()), ("machine", machine()), ("command", command()),
                         ("versions", f"{told['library']} (`viridian --version` names the kernels)"), ("threads", told["threads"]),
                         ("database", f"filled from {filled['begin'][:16]} to {filled['end'][:16]} UTC, {age:.0f} minutes before the first of these runs"),
                         ("correction by the runs of that time", f"{told['correction']:.3f}"), ("priority", "that of any program"),
                         ("meanwhile", "builds of other programs were stopped" if options.freeze else "nothing was stopped")])
    written("\n\n".join(["# Predicted and run, from a database filled earlier",
                         "This page is for people who want to know how far the sum of stored prices lies from a run, and whether it puts plans into the "
                         "right order. `benchmarks/prediction.py` wrote it; [earlier runs](earlier/prediction.md) stand on a page of their own.",
                         "\n".join([head, *(row(name, told) for name, told in networks.items())]), verdict(networks), NOTES, settings,
                         "## While the database was filled", "\n".join([head, *(row(*item) for item in filled["networks"].items())]),
                         "## Every plan", *(every_plan(*item) for item in networks.items())]), options.output)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/prediction"))
    parser.add_argument("--models", default=NETWORKS)
    parser.add_argument("--plans", type=int, default=12)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--fill", action="store_true", help="take the prices that the database lacks, and run the plans for the correction")
    parser.add_argument("--freeze", default="", help="command that is put before each call of the program")
    parser.add_argument("--output", default="")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.fill or not (options.work / "filled.json").exists():
        fill(options)
        print("the prices are taken; call this again an hour later, to see how well they predict", file=sys.stderr)
    else:
        judge(options)


if __name__ == "__main__":
    main()
