#!/usr/bin/env python3
"""analyse.py DIR -o docs/meters [--recordings tests/data/recordings]: makes the page of one GPU from the archives that
`instrument` left in DIR: the sensor, the recordings, operators alone beside what accounting says of them, SMARAGDINE's
study of BERT beside the paper's figures. Needs `viridian`, no GPU. A simulated run says so on every page."""
import argparse
import glob
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile

import nvml_log

METHODS = ("recency", "overlap", "deconvolve")
MOST_BYTES = 8_000_000  # of all recordings together (tests/on_device/recordings.py)
NOT_MEASURED = "**not yet measured on hardware**"


class Tools:
    def __init__(self, viridian):
        self.viridian = viridian

    def say(self, *arguments):
        done = subprocess.run([self.viridian, *arguments, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False)
        if done.returncode != 0:
            sys.exit(f"viridian {' '.join(arguments)}: {done.stderr.decode() or done.stdout.decode()}")
        return json.loads(done.stdout)

    def account(self, trace, power, method):
        return self.say("account", "--trace", trace, "--power", power, "--method", method)


def load(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return json.load(file)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows])


def short(name, most=70):  # the end of a qualified name says most
    return f"`{name if len(name) <= most else '…' + name[1 - most:]}`"


def recordings(folders):
    rows = []
    for name, folder in folders.items():
        if not os.path.exists(os.path.join(folder, "record.json")):
            continue
        record = load(folder, "record.json")
        low, high = record["clock"]["trace_ahead_ns"]
        size = sum(os.path.getsize(path) for path in glob.glob(os.path.join(folder, "*")))
        apart = "unknown" if low is None else f"{low / 1e3:.0f} to {high / 1e3:.0f}"
        about = ", ".join(f"{key} {value}" for key, value in record["about"].items())
        rows.append((name, about, f"{record['seconds']:.0f}", sum(chunk["steps"] for chunk in record["chunks"]),
                     record["kernels"], f"{size / 1e6:.2f}", apart))
    if not rows:
        return ""
    return "## Recordings\nPower throughout; modules and operators for three steps, kernels for the rest, labelled by " \
        "their place in the step. The last column bounds how far the trace's clock is ahead of the meter's.\n\n" \
        + table(("workload", "size", "s", "steps", "kernels", "MB", "clocks apart, us"), rows) + "\n"


def truth(tools, alone, mixed):
    """Joules a call of each operator alone, beside what each method says of the same kernel in the mixed recording."""
    isolated = load(alone, "truth.json")
    with tempfile.TemporaryDirectory() as folder:
        kernels = os.path.join(folder, "kernels.vtrace")
        tools.say("trace", "convert", os.path.join(mixed, "trace.vtrace"), kernels, "--kernels")
        results = {method: tools.account(kernels, os.path.join(mixed, "power.csv.gz"), method) for method in METHODS}
    used = {method: result["devices"][0]["method"] for method, result in results.items()}
    found = {method: {operation["type"]: operation for operation in result["operations"]}
             for method, result in results.items()}
    with gzip.open(os.path.join(mixed, "power.csv.gz"), "rt", encoding="utf-8") as file:
        state = nvml_log.states(file)
    rows, errors = [], {method: [] for method in METHODS}
    for one in isolated["operators"]:
        seen = {method: found[method].get(one["kernel"]) for method in METHODS}
        if "kernel_watts" not in one or not all(seen.values()):
            continue
        mixed = seen["overlap"]
        cells = [short(one["operator"]), short(one["kernel"], 44), one["calls_per_step"],
                 f"{1e6 * one['kernel_seconds']:.0f}", f"{1e6 * mixed['seconds'] / mixed['count']:.0f}",
                 f"{one['sm_mhz']:.0f}" if "sm_mhz" in one else "–", f"{one['kernel_watts']:.0f}"]
        for method in METHODS:
            watts = seen[method]["joules"]["value"] / seen[method]["seconds"]
            error = watts / one["kernel_watts"] - 1.0
            errors[method].append(abs(error))
            cells.append(f"{watts:.0f} ({100 * error:+.0f} %)")
        rows.append(cells)
    medians = ["median error", "", "", "", "", "", ""]
    medians += [f"{100 * statistics.median(errors[method]):.0f} %" if errors[method] else "–" for method in METHODS]
    notes = [f"`{method}` was refused and `{used[method]}` used: {results[method]['devices'][0]['verdict']}"
             for method in METHODS if used[method] != method]
    text = "## Operators alone\nEach for several seconds by itself (by the counter; the pauses between launches at idle power taken off), " \
        f"beside the same kernel in the mixed recording of `{isolated['workload']}`: watts, in brackets against alone. Joules are watts " \
        "times the kernel's time, which both columns of us show.\n\n"
    text += table(("operator", "kernel", "a step", "us alone", "us mixed", "MHz alone", "W alone", *METHODS), rows + [medians]) + "\n"
    text += f"\n{isolated['left_out']} more frequent operators were left out: they run several kernels, or repeat another's. "
    text += "What differs for real reasons: alone an operator runs from warm caches, at the clock and temperature that its own power " \
        "allows; in the mixture it inherits both from its neighbours"
    said = [f"{state[key]:.0f} {unit}" for key, unit in (("sm_mhz", "MHz"), ("celsius", "°C")) if key in state]
    text += f" (there a median of {', '.join(said)}).\n" if said else ".\n"
    return text + "".join(f"\n{note}.\n" for note in notes)


def share(operations, part, whole, backward):
    def total(prefix):
        return sum(one["joules"]["value"] for one in operations
                   if (one["pass"] == "backward") == backward and (one["name"] + "/").startswith(prefix + "/"))

    below = total(whole)
    return f"{100 * total(part) / below:.1f} %" if below > 0 else "–"


def bert(tools, folder, simulated):
    """SMARAGDINE §5.3: Figures 2 and 4 (EDD shares), Figure 5 (STEF, STPF), forward against backward."""
    result = tools.account(os.path.join(folder, "trace.vtrace"), os.path.join(folder, "power.csv.gz"), "auto")
    operations, device = result["operations"], result["devices"][0]
    layer = "bert/encoder/layer_0"
    rows = []
    for what, part, whole, paper in (
            ("2a", "bert/encoder", "bert", ("over 99 %", "–")),
            ("4a", layer + "/attention", layer, ("40.68 %", "48.19 %")),
            ("4a", layer + "/intermediate", layer, ("–", "–")),
            ("4a", layer + "/output", layer, ("–", "–")),
            ("4b–d", layer + "/attention/self", layer + "/attention", ("72.51 %", "79.52 %"))):
        rows.append((f"Figure {what}", f"{part} of {whole}", share(operations, part, whole, False), paper[0],
                     share(operations, part, whole, True), paper[1]))
    layers = sorted({one["name"].split("/")[2] for one in operations if one["name"].startswith("bert/encoder/layer_")},
                    key=lambda name: int(name.split("_")[1]))
    parts = [share(operations, f"bert/encoder/{name}", "bert/encoder", False) for name in layers]
    total = sum(one["joules"]["value"] for one in operations)
    forward = sum(one["joules"]["value"] for one in operations
                  if one["name"].startswith("bert/") and one["pass"] != "backward")
    backward = result["passes"]["backward"]
    text = f"## SMARAGDINE's study of BERT\nMethod `{device['method']}` on the recording of `bert_base`. " \
        "The paper: BERT-base pre-training, TensorFlow, sequences of 128, batches of 32, recency.\n\n"
    if simulated:
        text += "Simulated: the shares show the rule by which the simulated GPU spends watts, nothing of BERT.\n\n"
    text += table(("", "share", "forward", "paper", "backward", "paper"), rows) + "\n"
    text += "\nBackward shares need a trace that ties backward operators to forward ones (PyTorch with Kineto); `–` where " \
        "it does not.\n"
    text += f"\nFigure 2b, each transformer's share of the encoder, forward: {', '.join(parts)} " \
        "(paper: 8.25 ± 0.61 %, rising to 8.55 % at the fifth).\n"
    text += f"\nForward {forward:.4g} J, backward {backward:.4g} J, neither (loss, optimiser) " \
        f"{total - forward - backward:.4g} J (paper: backward is the much larger part).\n"
    summary = result["summary"]
    by_energy = sorted(summary, key=lambda one: -one["joules"])[:10]
    by_power = sorted(summary, key=lambda one: -one["watts"])[:10]
    total = sum(one["joules"] for one in summary) or 1.0
    text += "\nFigure 5, the ten with most energy (STEF) and most power (STPF); the paper's ten are all MatMul, eight " \
        "of them backward:\n\n"
    text += table(("", "STEF", "share", "STPF", "W"),
                  [(place + 1, short(energy["name"], 90), f"{100 * energy['joules'] / total:.1f} %",
                    short(power["name"], 90), f"{power['watts']:.0f}")
                   for place, (energy, power) in enumerate(zip(by_energy, by_power))]) + "\n"
    return text


def unpack(archives, into):
    folders = {}
    for archive in sorted(glob.glob(os.path.join(archives, "*.tar"))):
        name = os.path.basename(archive)[:-4]
        folders[name] = os.path.join(into, name)
        with tarfile.open(archive) as tar:
            for member in tar.getmembers():  # flat files only
                if member.isfile() and "/" not in member.name and not member.name.startswith("."):
                    os.makedirs(folders[name], exist_ok=True)
                    with tar.extractfile(member) as source, \
                            open(os.path.join(folders[name], member.name), "wb") as target:
                        shutil.copyfileobj(source, target)
    return folders


def sensor_page(folder, slug, output):
    """The page of `viridian meter identify`, its plots renamed after the GPU."""
    with open(os.path.join(folder, "page.md"), encoding="utf-8") as file:
        text = file.read()
    for plot in glob.glob(os.path.join(folder, "page-*.svg")):
        name = os.path.basename(plot).replace("page-", slug + "-")
        shutil.copy(plot, os.path.join(output, name))
        text = text.replace(os.path.basename(plot), name)
    return text.rstrip() + "\n"


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("archives")
    arguments.add_argument("-o", "--output", required=True)
    arguments.add_argument("--recordings", help="where the recordings go, one folder each")
    arguments.add_argument("--viridian", default=shutil.which("viridian") or "viridian")
    options = arguments.parse_args()
    os.makedirs(options.output, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        folders = unpack(options.archives, work)
        if not folders:
            sys.exit(f"there are no archives in {options.archives}; run `instrument --out {options.archives}` first")
        tools = Tools(options.viridian)
        records = [load(folder, "record.json") for folder in folders.values()
                   if os.path.exists(os.path.join(folder, "record.json"))]
        name = records[0]["gpu"] if records else "GPU"
        if "sensor" in folders:
            with open(os.path.join(folders["sensor"], "page.md"), encoding="utf-8") as file:
                name = file.readline().lstrip("# ").strip() or name
        simulated = name.startswith("Simulated") or any(record["simulated"] for record in records)
        slug = "simulated" if simulated else "".join(c if c.isalnum() else "-" for c in name.lower()).strip("-")
        parts = [sensor_page(folders["sensor"], slug, options.output) if "sensor" in folders else f"# {name}\n"]
        if simulated:
            parts[0] = parts[0].replace("\n", f"\n\nAll of this page is simulated, {NOT_MEASURED}: the scripted NVML "
                                        "under a load on this processor (tools/on_device/README.md).\n", 1)
        parts.append(recordings(folders))
        if "truth" in folders and "bert_large" in folders:
            parts.append(truth(tools, folders["truth"], folders["bert_large"]))
        if "bert_base" in folders:
            parts.append(bert(tools, folders["bert_base"], simulated))
        page = os.path.join(options.output, slug + ".md")
        with open(page, "w", encoding="utf-8") as file:
            file.write("\n".join(part for part in parts if part))
        if options.recordings:
            for piece, folder in folders.items():
                if os.path.exists(os.path.join(folder, "record.json")):
                    target = os.path.join(options.recordings, f"{slug}_{piece}")
                    shutil.rmtree(target, ignore_errors=True)
                    shutil.copytree(folder, target)
            kept = sum(os.path.getsize(path) for path in glob.glob(os.path.join(options.recordings, "*", "*")))
            if kept > MOST_BYTES:
                print(f"the recordings have {kept} bytes, {MOST_BYTES} may be kept: record with a smaller --most-kernels")
        print(f"wrote {page}: {', '.join(folders)}")


if __name__ == "__main__":
    main()
