#!/usr/bin/env python3
"""SMARAGDINE's Figures 1 to 10 again (docs/reproduction-smaragdine.md): every experiment is a process under `viridian record`,
every run of it a trace that `viridian account` attributes.

reproduce.py VIRIDIAN [--work DIR] [--only NAME]     what DIR holds already is not run again"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import figures
import measure

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = os.environ.get("TORCH", "/usr/bin/python3")  # the interpreter that has PyTorch
GRID = [(layers, hidden) for hidden in (64, 96) for layers in (3, 4, 5, 6)]  # A to H; the paper's are 6..12 and 512, 768
OVERHEAD = ["bare", "recorded", "profiled"]


def experiments():
    """name -> arguments of train.py. Each is 5 runs, with seeds of its own."""
    table = {}
    for i in range(5):  # Figure 8's experiments; the first is also configuration H and every single-model figure
        table[f"pre-{i}"] = ["bert", "pre-training", "--seed", str(1 + 5 * i)]
    table["fine"] = ["bert", "fine-tuning", "--seed", "101"]
    table["predict"] = ["bert", "prediction", "--seed", "201"]
    for i, (layers, hidden) in enumerate(GRID[:-1]):
        table[f"grid-{'ABCDEFG'[i]}"] = ["bert", "pre-training", "--layers", str(layers), "--hidden", str(hidden),
                                         "--seed", str(301 + 5 * i)]
    table["albert"] = ["albert", "pre-training", "--seed", "401"]
    return table


def say(text):
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def record(viridian, folder, arguments):
    """Trains under the recorder, then attributes each run. Done when result.json is there."""
    if (folder / "results.json").exists():
        return json.loads((folder / "results.json").read_text())
    say(f"{folder.name}: train.py {' '.join(arguments)}")
    run([viridian, "record", "-o", folder, "--", PYTHON, HERE / "train.py", *arguments[:2], folder, *arguments[2:]])
    about = json.loads((folder / "runs.json").read_text())
    out = {"about": about, "overlap": [], "recency": [], "asss": {"overlap": [], "recency": []}}
    for one in about["runs"]:
        for method in ("overlap", "recency"):
            path = folder / "account.json"
            run([viridian, "account", "--trace", folder / f"trace-{one['seed']}.json", "--power", folder / "power.csv",
                 "--method", method, "--precision", "-o", path])
            result = json.loads(path.read_text())
            keep = ("name", "pass", "count", "seconds", "joules")
            operations = [{k: o[k] for k in keep} for o in result["operations"]]
            out[method].append({"operations": operations, "devices": result["devices"], "passes": result["passes"]})
            out["asss"][method].append({p["readings"]: p["asss"] for p in result["precision"]})
            path.unlink()
    (folder / "results.json").write_text(json.dumps(out))
    for trace in folder.glob("trace-*.json"):
        if not trace.name.endswith(f"-{about['seed']}.json"):
            trace.unlink()  # one is kept to look at
    return out


def overhead(viridian, work):
    """The same steps bare, under the recorder, and under recorder and profiler, in turn (§5.4.3)."""
    path = work / "overhead.json"
    if path.exists():
        return json.loads(path.read_text())
    out = {arm: [] for arm in OVERHEAD}
    for turn in range(5):
        for arm in OVERHEAD:
            folder = work / "overhead"
            options = ["--runs", "1", "--steps", "8", "--seed", str(501 + turn)] + ([] if arm == "profiled" else ["--no-profile"])
            train = [PYTHON, HERE / "train.py", "bert", "pre-training", folder, *options]
            say(f"overhead: {arm}, turn {turn + 1} of 5")
            run(train if arm == "bare" else [viridian, "record", "-o", folder, "--", *train])
            one = json.loads((folder / "runs.json").read_text())["runs"][0]
            out[arm].append({"cpu": statistics.median(one["cpu_ns"]) * 1e-9,
                             "wall": statistics.median(b - a for a, b in one["steps_ns"]) * 1e-9})
    path.write_text(json.dumps(out))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("viridian", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/smaragdine"))
    parser.add_argument("--only", help="one experiment, without the figures")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    begin = time.time()
    table = {name: arguments for name, arguments in experiments().items() if options.only in (None, name)}
    results = {name: record(options.viridian, options.work / name, arguments) for name, arguments in table.items()}
    if options.only:
        return
    costs = overhead(options.viridian, options.work)
    power = [measure.Power(options.work / f"pre-{i}" / "power.csv") for i in range(5)]
    meter = results["pre-0"]["overlap"][0]["devices"][0]["power"]
    text, page = figures.everything(results, costs, power, meter, GRID)
    (options.work / "report.md").write_text(text)
    (options.work / "figures.html").write_text(page)
    print(text)
    say(f"{time.time() - begin:.0f} s; wrote {options.work}/report.md and {options.work}/figures.html")


main()
