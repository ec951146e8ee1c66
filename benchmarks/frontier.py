#!/usr/bin/env python3
"""frontier.py --viridian BIN --work DIR [--models a,b] [--output FILE.md]: the best trades of time against energy of each
network, when regions and whole plans may run on fewer threads, for both answers to whose the idle power is. Without a meter the
joules are the model's, and the table says so. Also times both ends: the plan of least time and the plan of least energy."""
import argparse
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "peers"))
from setting import command, machine, table_of, today, written  # noqa: E402

NETWORKS = "squeezenet1_1,mobilenet_v2,resnet50,inception_v3,bert_base"


def zoo_model(options, name):
    model = pathlib.Path(options.work) / f"{name}.onnx"
    if not model.exists():
        extra = ["--sequence", "128"] if name.startswith("bert") else []
        subprocess.run([options.viridian, "zoo", name, "-o", model, *extra], check=True, stdout=subprocess.DEVNULL)
    return model


def optimised(options, model, idle, objective):
    """The result of `optimize` in JSON, the frontier of its graph included."""
    call = [options.viridian, "optimize", model, "-o", model.with_suffix(f".{idle}.{objective}.opt.onnx"), "--threads", str(options.threads),
               "--db", pathlib.Path(options.work) / "cost.db", "--search", "none", "--objective", objective, "--json"]
    call += ["--frontier"] if objective == "time" else []
    call += ["--idle-power", idle, "--meter", "model"] if options.model else []
    return json.loads(subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True).stdout)


def on_one(result):
    """How many of the steps that compute run on fewer threads than the device has."""
    layers = [layer for layer in result["layers"] if layer["kind"] == "kernel"]
    return f"{sum(1 for layer in layers if layer.get('threads', 0))} of {len(layers)}"


def saved(less, more):
    return f"{100 * (1 - less / more):.1f} %"


def row(name, idle, fast, lean):
    vertices = fast["frontier"]["vertices"]
    first, last = vertices[0], vertices[-1]
    ran = [result["optimized"]["ran"]["seconds"] for result in (fast, lean)]
    joules = [result["optimized"]["ran"]["joules"]["value"] for result in (fast, lean)]
    return (f"| {name} | {idle} | {len(vertices)} | {1e3 * first['seconds']:.2f} to {1e3 * last['seconds']:.2f} | "
            f"{1e3 * first['joules']:.2f} to {1e3 * last['joules']:.2f} | {saved(last['joules'], first['joules'])} | "
            f"{on_one(lean)} | {lean['threads']} | {1e3 * ran[0]:.2f}, {1e3 * ran[1]:.2f} | {saved(joules[1], joules[0])} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--viridian", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--models", default=NETWORKS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--metered", dest="model", action="store_false", help="use this machine's meter; idle power is then whole")
    parser.add_argument("--output", default="")
    options = parser.parse_args()
    pathlib.Path(options.work).mkdir(parents=True, exist_ok=True)
    rows, provenance = [], ""
    for name in options.models.split(","):
        model = zoo_model(options, name)
        for idle in ("whole", "share") if options.model else ("whole",):
            fast, lean = (optimised(options, model, idle, objective) for objective in ("time", "energy"))
            provenance = lean["optimized"]["predicted"]["joules"]["provenance"]
            rows.append(row(name, idle, fast, lean))
            print(rows[-1], file=sys.stderr, flush=True)
    told = table_of([("date", today()), ("command", command()), ("machine", machine()), ("versions", fast["library"]), ("threads", options.threads), ("joules", provenance)])
    written("\n".join(["# Time against energy, with threads as a choice", "",
                       "*plans*: vertices of the frontier. *ms* and *mJ*: predicted, from its fastest plan to its leanest. *saved*: the energy that the "
                       "leanest plan needs less than the fastest. *steps on fewer*: of the leanest plan's kernels. *threads*: of that plan. *ran*: medians of "
                       "the fastest and of the leanest plan, each interleaved with its baseline. *saved, by the runs*: by the joules of the two plans that "
                       "ran, which without a meter are the same model's on their medians; the leanest plan may have been chosen from prices that were "
                       "confirmed after the frontier was drawn.", "",
                       "| network | idle power | plans | ms | mJ | saved | steps on fewer | threads | ran, ms | saved, by the runs |",
                       "|---|---|---|---|---|---|---|---|---|---|",
                       *rows, "", told]), options.output)


if __name__ == "__main__":
    main()
