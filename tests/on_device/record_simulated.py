#!/usr/bin/env python3
"""record_simulated.py VIRIDIAN FAKE_NVML cupti|events: tools/on_device/record.py on the simulated GPU beside the scripted NVML, then
what it wrote through the real program: converted, labelled, accounted."""
import json
import os
import subprocess
import sys
import tempfile

try:
    import torch  # noqa: F401
except ImportError:
    sys.exit(77)  # CTest counts this as skipped: Debian's python3-torch is not installed

viridian, fake = (os.path.abspath(path) for path in sys.argv[1:3])
tools = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/on_device")


def check(right, what):
    if not right:
        sys.exit(f"FAILED: {what}")


def said(*arguments):
    return json.loads(subprocess.run([viridian, *arguments, "--json"], check=True, stdout=subprocess.PIPE).stdout)


def record(folder, workload, *more):
    subprocess.run([sys.executable, os.path.join(tools, "record.py"), "--workload", workload, "-o", folder, "--simulated",
                    "--nvml", fake, "--idle", "0.3", "--warm-up", "1", *more], check=True)
    with open(os.path.join(folder, "record.json"), encoding="utf-8") as file:
        return json.load(file)


kernels_by = sys.argv[3]  # cupti: what the profiler would have seen; events: operators between events
with tempfile.TemporaryDirectory() as work:
    folder = os.path.join(work, "bert")
    made = record(folder, "bert_base", "--seconds", "2", "--traced", "1.2", "--chunk", "0.6", "--pace", "0.3",
                  "--kernels", kernels_by)
    low, high = made["clock"]["trace_ahead_ns"]
    check(low <= 0 <= high and high - low < 20_000_000, f"the clocks may differ by {low} to {high} ns")
    check(made["simulated"] and "not yet measured on hardware" in made["note"], "it does not say that it is simulated")
    check(made["seen_by"] == kernels_by, f"kernels are said to be seen by {made['seen_by']}")
    check({"modules", "kernels", "power"} == {chunk["kind"] for chunk in made["chunks"]}, "not every kind of chunk")
    kernels, power = os.path.join(folder, made["files"]["kernels"]), os.path.join(folder, "power.csv")
    modules = os.path.join(folder, "modules.json.gz")
    shown = said("trace", "show", kernels)
    check(shown["kinds"]["kernel"]["count"] == made["kernels"] > 100, "the trace has not the kernels that were seen")
    packed, full = os.path.join(work, "k.vtrace"), os.path.join(work, "full.vtrace")
    check(said("trace", "convert", kernels, packed)["bytes"] < os.path.getsize(kernels), "conversion packs no better")
    labelled = said("trace", "label", packed, full, "--by", modules)
    check(labelled["unowned"] < 0.1 * made["kernels"], f"{labelled['unowned']} kernels found no module")
    result = said("account", "--trace", full, "--power", power, "--method", "overlap")
    names = [operation["name"] for operation in result["operations"]]
    check(any(name.startswith("bert/encoder/layer_0/attention/self/") for name in names), "no module has any energy")
    check(result["passes"]["backward"] > 0, "nothing is known to be backward")
    gpu = result["devices"][0]
    check(abs(gpu["residual"]["value"] if isinstance(gpu["residual"], dict) else gpu["residual"]) < 1e-3,
          "the books do not balance")
print("recorded, converted, labelled, accounted")
