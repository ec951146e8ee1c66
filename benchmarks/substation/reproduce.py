#!/usr/bin/env python3
"""SUBSTATION's tables and figures, its fused operators and its claim of 22.91 % less data movement on this machine, each number
beside the paper's, as one page (docs/movement.md explains the terms):

    make reproduce-substation        (or: benchmarks/substation/reproduce.py build/release/bin/viridian --page PAGE.md)

The layer is the paper's: BERT-large's encoder layer, batch 8, 512 tokens, dropout 0.1, forward and backward, in f32. Words,
flop and regions are counted, times and peaks are measured. --batch, --sequence and --hidden make it smaller for a test."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import layouts
from layouts import table  # finds the modules of benchmarks/peers too
from setting import command

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TABLE3 = json.loads((HERE / "table3.json").read_text())
OPERATORS = json.loads((HERE / "operators.json").read_text())["operators"]
READINGS = ("printed", "split forward", "split")
CLASSES = {"contraction": "contraction", "normalisation": "normalization", "element-wise": "elementwise"}
TABLE1 = {"contraction": (99.80, 61.0), "normalisation": (0.17, 25.5), "element-wise": (0.03, 13.5)}
GI = 2.0 ** 30  # the paper's "Gflop": 2 x 4096 x 1024 x 3072 is its 24
NOT_YET = [
    ("Tables IV and V, frameworks", "XLA, cuDNN and DeepSpeed need the paper's GPUs: not run here"),
    ("Figure 5, vector and reduction axes as parameters", "our kernels choose them themselves; layouts of tensors are varied"),
]


class Verdict:
    """Of a number beside the paper's: a cell of its table. A layer of another size than the paper's gets no such cells."""

    def __init__(self, judged):
        self.head, self.empty = (["verdict"], [""]) if judged else ([], [])

    def __call__(self, agrees, before=""):
        return [before + ("agrees" if agrees else "differs")] if self.head else []


def words(row):
    return row["read"] + row["written"]


def readings_of_the_paper():
    """What Table III, added up, gives for the three readings: {reading: percent}. It is the paper's count: interim words of a
    fused kernel are left out even if gradients read them."""
    rows, kernels = TABLE3["rows"], TABLE3["kernels"]
    unfused = sum(map(words, rows))
    fused = sum(words(row) for row in rows if "kernel" not in row) + sum(map(words, kernels))
    extra = {side: sum(map(words, TABLE3["softmax_split"][side])) - sum(words(k) for k in kernels if k["kernel"] == name)
             for side, name in (("forward", "sm"), ("backward", "bs"))}
    befores = (unfused, unfused + extra["forward"], unfused + extra["forward"] + extra["backward"])
    return {name: 100 * (1 - fused / before) for name, before in zip(READINGS, befores)}


class Layer:
    def __init__(self, viridian, folder, batch, sequence, hidden, database):
        self.viridian, self.folder, self.step = viridian, folder, str(folder / "step.onnx")
        self.database = database or str(folder / "cost.db")
        self.forward = str(folder / "layer.onnx")
        self.run("zoo", "encoder_layer", "--training", "--batch", str(batch), "--sequence", str(sequence), "--hidden", str(hidden),
                 "-o", self.forward)
        self.gradient(self.step)

    def gradient(self, step, *options):
        self.run("gradient", self.forward, "--loss", "gradient", "--optimizer", "none", "--gradients", "--input-gradients", *options,
                 "-o", step)

    def run(self, *arguments):
        done = subprocess.run([self.viridian, *arguments, "--json", "-q"], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"viridian {' '.join(arguments)}: {done.stderr}")
        return json.loads(done.stdout)

    def fusion(self, rule):
        return self.run("inspect", self.step, "--fusion", rule)["fusion"]

    def measured(self):
        """What `inspect` measured. Later runs take as many threads, because prices hold for one number of threads."""
        found = self.run("inspect", self.step, "--measured")["measured"]
        self.threads = found["threads"]
        return found


def rows_of_table3(operators):
    """Pairs (row of the paper, our operators), in the paper's order. Every operator belongs to one row."""
    left = list(operators)
    pairs = []
    for row in TABLE3["rows"]:
        own = [each for each in left if set(each["name"].split(", ")) & set(row["nodes"])]
        left = [each for each in left if each not in own]
        if not own:
            sys.exit(f"no operator for the row `{row['operator']}` of Table III ({', '.join(row['nodes'])})")
        pairs.append((row, own))
    if left:
        sys.exit(f"no row of Table III has {[each['name'] for each in left]}")
    return pairs


def millions(value):
    return f"{value / 1e6:.1f}"


def part_one(measured, verdict):
    ours = {row["name"]: row for row in measured["classes"]}
    rows = []
    for name, (flop, runtime) in TABLE1.items():
        row = ours[CLASSES[name]]
        near = abs(row["flop_share"] - flop) <= (0.1 if flop > 50 else 0.02)
        rows.append([name, f"{flop:.2f}", f"{row['flop_share']:.2f}", *verdict(near), f"{runtime:.1f}",
                     "not run here", f"{row['seconds_share']:.1f}"])
    rows.append(["views and layouts", "", "", *verdict.empty, "", "", f"{ours['views and layouts']['seconds_share']:.1f}"])
    return table(["class", "% flop, paper", "% flop, here", *verdict.head, "% time, paper (PyTorch, V100)", "% time, PyTorch here",
                  "% time, Viridian here"], rows)


def part_three(measured, verdict):
    rows = []
    agree = 0
    for row, own in rows_of_table3(measured["operators"]):
        total = lambda field: sum(each[field] for each in own)
        flop, seconds = total("flop"), total("seconds")
        paper = row.get("paper", {})
        read, written = total("words_read"), total("words_written")
        near = all(abs(here / 1e6 - there) <= 0.06 * there + 0.3 for here, there in ((read, row["read"]), (written, row["written"])))
        agree += near
        known = [each["bound"] for each in own if each["bound"]]
        rows.append([row["operator"] + (" †" if "corrected" in row else ""), row.get("kernel", ""), f"{row['gflop']:g}", f"{flop / GI:.3f}",
                     f"{row['read']:g} → {row['written']:g}", f"{millions(read)} → {millions(written)}", *verdict(near),
                     f"{flop / max(read + written, 1):.2f}", str(row["pytorch"]["us"]), f"{row['pytorch']['percent_of_peak']:g}",
                     str(paper.get("mue", "")), f"{1e6 * seconds:.0f}", f"{weighed(own, 'percent_of_peak'):.1f}", f"{weighed(own, 'mue'):.0f}",
                     known[0] if known else ""])
    text = table(["operator", "kernel", "Gflop, paper", "here", "words (10⁶), paper", "here", *verdict.head, "flop/word", "µs, paper (PyTorch, V100)",
                  "% peak", "MUE (theirs)", "µs here", "% peak", "MUE", "bound by"], rows)
    return text, agree, len(rows)


def weighed(operators, field):
    """The mean of a field, weighted by time."""
    seconds = sum(each["seconds"] for each in operators)
    return sum((each[field] or 0) * each["seconds"] for each in operators) / seconds if seconds > 0 else 0


def part_memory(measured):
    """What the operators that are no contractions reach of memory's use (MUE)."""
    pairs = rows_of_table3(measured["operators"])
    mue = sorted(weighed(own, "mue") for row, own in pairs if row["class"] != "contraction" and own[0]["bound"] == "memory")
    return f"""Memory bandwidth limits {len(mue)} of the rows. Viridian's aim for fused operators is an MUE of at least 70: {sum(share >= 70 for share in mue)} of these rows reach it,
and their median MUE is {statistics.median(mue):.0f}. Nothing is fused here, because each operator is run by a kernel of its own."""


def part_readings(fusions, verdict):
    paper = readings_of_the_paper()
    by_name = {rule: {one["name"]: one for one in fusion["readings"]} for rule, fusion in fusions.items()}
    rows = []
    for name in READINGS:
        published, free = by_name["published"][name], by_name["free"][name]
        ours = published["saved_percent_as_the_paper_counts"]
        rows.append([name, f"{paper[name]:.1f}", f"{ours:.1f}", *verdict(abs(ours - paper[name]) <= 1),
                     f"{published['saved_percent']:.1f}", f"{free['saved_percent']:.1f}",
                     f"{published['words_unfused'] / 1e6:.0f} → {published['words_fused'] / 1e6:.0f} → {free['words_fused'] / 1e6:.0f}"])
    return table(["reading", "Table III added up, %", "here, counted alike, %", *verdict.head, "here, all that is written, %",
                  "here, free fusion, %", "words (10⁶): unfused → published → free"], rows)


def part_operators(fusion):
    found = {frozenset(region["nodes"]): region for region in fusion["regions"] if region["loops"]}
    rows = []
    for operator in OPERATORS:
        region = found.pop(frozenset(operator["nodes"]), None)
        rows.append([operator["name"], operator["what"], "found" if region else "not found",
                     f"{millions(region['words_read'])} → {millions(region['words_written'])}" if region else ""])
    return table(["operator", "what it does", "verdict", "words (10⁶)"], rows), len(found)


def part_peaks(measured):
    rows = [[peak["probe"], str(peak["threads"]), f"{peak['best'] / 1e9:.1f}", f"{peak['median'] / 1e9:.1f}",
             f"{peak['low'] / 1e9:.1f} to {peak['high'] / 1e9:.1f}", "Gflop/s" if peak["unit"] == "flop/s" else "GB/s"]
            for peak in measured["peaks"]]
    return table(["probe", "threads", "peak", "median", "95 % interval of the median", "unit"], rows)


def part_layouts(layer, measured, published, verdict, options):
    prices = layouts.Prices(layer, layer.step)
    picture = lambda name: pathlib.Path(options.page).with_suffix(f".{name}.svg")
    return f"""## Table II: algebraic fusion of queries, keys and values

{layouts.part_algebraic(layer, options.batch * options.sequence, options.hidden, verdict)}

{layouts.part_stacks(layer, options.turns)}

## Figure 4: every contraction in every layout

Each contraction of the step is run by every kernel in every layout that the kernel supports, {layouts.NOTE}

{layouts.part_contractions(prices, TABLE3["rows"], measured["peak_flop_per_second"], picture("contractions"))}

## Figure 5: fused operators in every layout

{layouts.part_fused(prices, OPERATORS, published, measured["peak_bytes_per_second"], picture("fused"))}

## Figure 6 and section VI-A: layouts by shortest paths

{layouts.part_selection(layer, prices, options.plan_turns)}

## Plans of {options.layers} layers

{layouts.part_deep(layer, options.layers)}

## Tables IV and V: attention and the layer

{layouts.part_frameworks(measured)}

The paper's times are those of a V100 in 16-bit floating point, ours of this processor in f32, and not comparable. PyTorch's times on
several processors stand beside ours in [overview.md](overview.md), where whole steps run."""


def page(layer, options):
    about = layer.run("doctor")["machine"]
    fusions = {rule: layer.fusion(rule) for rule in ("published", "free")}
    measured = layer.measured()
    operators, others = part_operators(fusions["published"])
    full = (options.batch, options.sequence, options.hidden) == (8, 512, 1024)
    verdict = Verdict(full)
    rows, agree, count = part_three(measured, verdict)
    rule = "\n- In Table III \"agrees\" means that words differ by at most 6 % and 0.3 million, because the paper rounds, and prints biases and\n  scales as 0."
    small = ("\n- The paper's layer has batch 8, 512 tokens and a width of 1024. Those of its numbers that depend on the size get no\n"
             "  verdict here.")
    version = subprocess.run([options.viridian, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    return f"""# SUBSTATION on this machine

`benchmarks/substation/reproduce.py` wrote this page, and nobody edited it. It sets Ivanov et al., "Data Movement Is All You Need"
(MLSys 2021), beside what Viridian counts and measures on {"the paper's running example: BERT-large's" if full else "an"} encoder layer, batch
{options.batch}, {options.sequence} tokens, width {options.hidden}, dropout 0.1, forward and backward. [movement.md](../../../docs/movement.md) explains the terms.

- Command: {command()}.
- Machine: {about['cpu']}, {measured['threads']} threads, {time.strftime('%d %B %Y').lstrip('0')}, {version}.
- The paper's times are those of a V100 in 16-bit floating point; ours are of this processor in f32. They are not compared.
  Systems that were not run are marked "not run here".
- Times here in Tables I, III, IV and V are medians of {measured['runs']} runs in which each operator has a kernel of its own: {measured['seconds']:.2f} s in kernels.
  Table II, Figures 4 to 6 and plans use prices of kernels ([profile.md](../../../docs/profile.md)).{rule if full else small}

## Less data movement: "22.91 %" (abstract, section VI-C)

{part_readings(fusions, verdict)}

The paper does not say which reading is its own. Its Table III, added up, gives 22.91 % by none of them; `split forward` is nearest.
[movement.md](../../../docs/movement.md#three-readings-of-the-reduction) explains them.

## The twelve fused operators (section IV-A)

`bdrln`, `blnrd` and `baob` occur twice, so twelve operators make fifteen regions.

{operators}

Other regions of operators that are no contractions: {others}.

## Table I: shares of the classes of operators

{part_one(measured, verdict)}

Sums over rows, such as the gradient of a bias, are normalisations here and element-wise in the paper, which counts no flop for
ReLU and fewer for dropout. "Views and layouts" is
time of copies and changes of layout, which the paper leaves out.

## Table III: every operator, and Figure 2's flop per word

{rows}

{f"Words agree in {agree} of {count} rows. The others differ" if full else "At the paper's size some words differ"} because queries, keys and values are three products here, which read
their input three times and whose gradients are added by the last residual; because the softmax with its scaling and dropout is
one row of the paper and three operators here; and because the paper counts a tensor more for its second layer normalisation
than for its first, and fewer words for the weights of `Out dX` than for those of `Out`. † marks rows whose words are corrected in benchmarks/substation/table3.json. The paper's
Gflop are 2³⁰ flop. Its MUE is of its own kernels, and stands in the first row of a fused one; several operators of a row here
share one line, with means weighted by time. MUE beyond 100 means that tensors stay in a cache.

{part_memory(measured)}

{part_layouts(layer, measured, fusions["published"], verdict, options)}

## Peaks of this processor

{part_peaks(measured)}

## Not reproduced yet

{table(["of the paper", "why"], NOT_YET)}
"""


def linked(text, folder):
    """Links are written as from the folder of results of training."""
    docs, results = (os.path.relpath(ROOT / path, folder) for path in ("docs", "benchmarks/results/training"))
    return text.replace("](../../../docs/", f"]({docs}/").replace("](overview", f"]({results}/overview")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("viridian")
    parser.add_argument("--page", default=str(ROOT / "benchmarks/results/training/substation.md"))
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--sequence", type=int, default=512)
    parser.add_argument("--hidden", type=int, default=1024)
    parser.add_argument("--db", help="cost database with prices that an earlier run measured; new ones are added")
    parser.add_argument("--turns", type=int, default=12, help="rounds in which each step runs")
    parser.add_argument("--plan-turns", type=int, default=12, help="rounds in which each solver's plan runs; 0: plans are only predicted")
    parser.add_argument("--layers", type=int, default=24, help="of the step that is only planned")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        layer = Layer(os.path.abspath(options.viridian), pathlib.Path(folder), options.batch, options.sequence, options.hidden, options.db)
        text = page(layer, options)
    pathlib.Path(options.page).write_text(linked(text, pathlib.Path(options.page).resolve().parent))
    print(f"wrote {options.page}")


if __name__ == "__main__":
    main()
