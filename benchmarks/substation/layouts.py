"""What reproduce.py says of kernels and layouts: SUBSTATION's Figures 4 and 5, Tables II, IV and V, and section VI-A. Times are
prices: each kernel, in each layout it supports, is run alone by `viridian profile --choices`."""
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

import figures

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks/peers"), str(ROOT / "tests/golden")]
import inputs as onnx  # writes models byte by byte
from paced import Runner, take_turns
from tables import table
from turns import ratio_of_rounds

TABLE2 = {"forward": (345, 294, 275), "backward": (342, 312, 291)}  # microseconds: apart, queries with keys, all three
TABLE4 = {"forward": (1.60, 1.90, 131, 1.25), "backward": (2.25, 2.77, 652, 1.86)}  # TF+XLA, PyTorch, cuDNN, theirs; ms
TABLE5 = {"forward": (3.45, 3.20, 2.80, 2.63), "backward": (5.69, 5.20, 4.80, 4.38)}  # PyTorch, TF+XLA, DeepSpeed, theirs
STACKS = ("separate", "pairs", "all")  # of `viridian gradient --stack`
SOLVERS = ("exact", "shortest-path", "shortest-path-forward", "shortest-path-backward", "greedy", "first")
NOTE = """alone. The first timings of
a kernel that is far from the fastest are brief ([profile.md](../../../docs/profile.md)), so the slow ends are less certain."""
AHEAD = 0.02  # prices are known to about as much


class Prices:
    """Every kernel of a model's regions: {tuple of nodes: [choice]}, in the order in which the device offers them."""

    def __init__(self, layer, model):
        self.recorded = str(pathlib.Path(model).with_suffix(".prices.json"))
        answer = layer.run("profile", model, "--choices", "--record", self.recorded, "--db", layer.database)
        self.flop = {tuple(region["nodes"]): region["flop"] for region in answer["regions"]}
        self.choices = {tuple(region["nodes"]): region["choices"] for region in answer["regions"]}

    def seconds(self, *nodes):
        return [choice["seconds"] for choice in self.choices[nodes]]

    def best(self, *nodes):
        return min(self.seconds(*nodes))


def configuration(choice):
    return f"{choice['kernel']} ({', '.join(choice['inputs'])} → {', '.join(choice['outputs'])})".replace(":f32", "")


def behind(choices):
    """How many times as long as the fastest kernel for the same formats the kernel takes that is offered first."""
    formats = lambda choice: (choice["inputs"], choice["outputs"])
    return choices[0]["seconds"] / min(choice["seconds"] for choice in choices if formats(choice) == formats(choices[0]))


def part_contractions(prices, rows, peak, picture):
    """Figure 4: the contractions over all layouts, each in percent of the peak. `rows` are those of Table III."""
    drawn, lines = [], []
    for row in rows:
        nodes = [name for name in row["nodes"] if (name,) in prices.choices and prices.flop[(name,)] > 1e6]
        if row["class"] != "contraction" or not nodes:
            continue
        reached = [100 * prices.flop[(name,)] / seconds / peak for name in nodes for seconds in prices.seconds(name)]
        first = max(behind(prices.choices[(name,)]) for name in nodes)
        best = min(prices.choices[(nodes[0],)], key=lambda choice: choice["seconds"])
        drawn.append((row["operator"], reached, max(reached)))
        lines.append([row["operator"], str(len(reached)), f"{max(reached):.0f}", f"{statistics.median(reached):.0f}",
                      f"{min(reached):.0f}", f"{100 * (first - 1):.1f}", configuration(best)])
    picture.write_text(figures.violins("The contractions over all kernels and layouts", "percent of the probed peak (dot: the fastest)",
                                       drawn, [(share, f"{share} %") for share in range(0, 101, 20)]))
    best = [marked for _, _, marked in drawn]
    worst_first = max(float(line[5]) for line in lines)
    return f"""![Figure 4: violins of the contractions]({picture.name})

{table(["contraction", "configurations", "fastest, % of peak", "median", "slowest", "first offered, % slower than the fastest in its layout", "the fastest (of the first product)"], lines)}

The fastest reach {statistics.geometric_mean(best):.0f} % of the probed peak in geometric mean, from {min(best):.0f} to {max(best):.0f} %. Viridian's aim is 85 %,
and none below 70. The kernel that is offered first is up to {worst_first:.1f} % slower than the fastest for the same layouts. The paper found the
algorithm that cuBLAS chooses by itself up to 14.24 % slower than its best in 16-bit and 7.18 % in 32-bit floating point (section V-A)."""


def part_fused(prices, operators, fusion, peak, picture):
    """Figure 5, and whether fusion pays: every kernel that computes several operators of one of the paper's fused ones. `fusion` has
    the bytes that each region must move, and `peak` is the best probed bandwidth in bytes a second."""
    moved = {frozenset(region["nodes"]): region["bytes_moved"] for region in fusion["regions"]}
    drawn, lines, gains, whole, shares = [], [], [], [], []
    for nodes, choices in prices.choices.items():
        owner = next((operator for operator in operators if set(nodes) <= set(operator["nodes"])), None)
        if owner is None or not choices or (len(nodes) < 2 and len(owner["nodes"]) > 1):
            continue
        if len(nodes) == len(owner["nodes"]):
            whole.append(owner)
        if len(nodes) < 2:
            continue
        seconds = prices.seconds(*nodes)
        apart = sum(prices.best(name) for name in nodes)
        label = f"{owner['name']}: {len(nodes)} of {len(owner['nodes'])}"
        gains.append(apart / min(seconds))
        share = ""
        if len(nodes) == len(owner["nodes"]):
            shares.append(100 * moved[frozenset(nodes)] / min(seconds) / peak)
            share = f"{shares[-1]:.0f}"
        drawn.append((label, [one / min(seconds) for one in seconds], 1))
        lines.append([owner["name"], ", ".join(nodes), str(len(choices)), f"{1e6 * min(seconds):.0f}", f"{max(seconds) / min(seconds):.1f}",
                      share, f"{1e6 * apart:.0f}", f"{gains[-1]:.2f}", "wins" if gains[-1] > 1 + AHEAD else "loses" if gains[-1] < 1 - AHEAD else "as fast"])
    picture.write_text(figures.violins("The fused operators over all kernels and layouts", "times the fastest (dot)", drawn,
                                       [(times, f"{times}×") for times in (1, 2, 4, 8, 16)], scale=lambda value: math.log(value)))
    missing = ", ".join(f"{operator['name']} ({operator['what']})" for operator in operators if operator not in whole)
    return f"""![Figure 5: violins of the fused operators]({picture.name})

{table(["fused operator", "its operators in one kernel", "configurations", "fastest, µs", "slowest / fastest", "MUE of a whole operator", "its parts, each at its fastest, µs", "parts / fused", "verdict"], lines)}

{sum(share >= 70 for share in shares)} of {len(shares)} fused operators that one kernel computes whole reach an MUE of at least 70, Viridian's aim, in their fastest layout. The
bytes are those of their tensors, and the peak is the highest that a probe of memory shows below, of reading, writing or copying.

One kernel takes {1 / statistics.geometric_mean(gains or [1]):.2f} times what its parts take, in geometric mean; it wins in {sum(gain > 1 + AHEAD for gain in gains)} of {len(gains)} cases and loses in {sum(gain < 1 - AHEAD for gain in gains)}; differences of at most {100 * AHEAD:.0f} % count as none. The paper
compares with PyTorch's kernels, one for each operator: there its forward fusions win, and ebsb and baob lose (section IV-B). One kernel computes all of {len(whole)} of the {len(operators)} regions
of the paper's fused operators (one with a single operator counts); not computed whole: {missing or "none"}."""


def projections(rows, hidden):
    """An ONNX model of the projections of queries, keys and values: one, two and three weights side by side, as inputs of the
    model, with their gradients. `rows` is batch times tokens."""
    nodes, given, results = [], [onnx.typed("x", rows, hidden)], []

    def product(left, right, name, *dims):
        nodes.append(onnx.node("MatMul", [left, right], [name], name))
        results.append(onnx.typed(name, *dims))

    def transposed(name):
        if f"{name}_t" not in transposed.done:
            nodes.append(onnx.node("Transpose", [name], [f"{name}_t"], f"{name}_t"))
            transposed.done.add(f"{name}_t")
        return f"{name}_t"
    transposed.done = set()

    for count in (1, 2, 3):
        weight, gradient, wide = f"w{count}", f"d{count}", hidden * count
        given += [onnx.typed(weight, hidden, wide), onnx.typed(gradient, rows, wide)]
        product("x", weight, f"forward{count}", rows, wide)
        product(gradient, transposed(weight), f"dx{count}", rows, hidden)
        product(transposed("x"), gradient, f"dw{count}", hidden, wide)
    nodes.append(onnx.node("Add", ["dx1", "dx2"], ["sum"], "sum"))
    results.append(onnx.typed("sum", rows, hidden))
    return onnx.model(nodes, given, results)


def part_algebraic(layer, rows, hidden, verdict):
    """Table II: queries, keys and values by three products, two, or one."""
    model = layer.folder / "projections.onnx"
    model.write_bytes(projections(rows, hidden))
    prices = Prices(layer, str(model))
    add = prices.best("sum")
    lines = []
    for part, name, sums, there in (("forward", "forward", 0, TABLE2["forward"]), ("backward, gradient of the input", "dx", add, TABLE2["backward"]),
                                    ("backward, gradients of the weights", "dw", 0, TABLE2["backward"])):
        one, two, three = (prices.best(f"{name}{count}") for count in (1, 2, 3))
        here = (3 * one + 2 * sums, two + one + sums, three)
        best = ("apart", "in two products", "all three together")[min(range(3), key=lambda k: here[k])]
        lines.append([part] + [str(time) for time in there] + [f"{1e6 * time:.0f}" for time in here] +
                     [f"{there[0] / there[2]:.2f}", f"{here[0] / here[2]:.2f}", *verdict(best == "all three together", f"fastest {best}: ")])
    return table(["", "apart, paper, µs", "queries with keys, paper, µs", "all three, paper, µs", "apart, here, µs", "queries with keys, here, µs",
                  "all three, here, µs", "apart / all three, paper", "apart / all three, here", *verdict.head], lines) + """

The paper has one row for the backward part, and does not say whether it is that of the input or of the weights; its Table III has about
that time for each of them. The gradient of the input includes the sums that products apart need. Each product is priced alone in its
fastest layout."""


def part_stacks(layer, turns):
    """The whole step with queries, keys and values apart, in two products, and in one."""
    rows, runners = [], []
    for stack in STACKS:
        step, recorded, planned = (str(layer.folder / f"{stack}{end}") for end in (".onnx", ".prices.json", ".planned.onnx"))
        layer.gradient(step, "--stack", stack)
        layer.run("profile", step, "--record", recorded, "--db", layer.database)
        plan = layer.run("optimize", step, "--recorded", recorded, "--search", "none", "-o", planned)["assignment"]
        words = layer.run("inspect", step, "--fusion", "published")["fusion"]["readings"][-1]
        products = sum(one["count"] for one in layer.run("inspect", step)["classes"] if one["name"] == "contraction")
        rows.append([f"`{stack}`", str(products), f"{words['words_unfused'] / 1e6:.0f} → {words['words_fused'] / 1e6:.0f}", f"{1e3 * plan['value']:.0f}"])
        runners.append(Runner(layer.viridian, step, layer.threads, "--retune", "--db", layer.database))
    take_turns(runners, turns, 1)
    for runner, row in zip(runners, rows):
        times = sorted(runner.times)
        row.append(f"{1e3 * statistics.median(times):.0f} ({1e3 * times[0]:.0f} to {1e3 * times[-1]:.0f}, {len(times)} runs)")
    return table(["`viridian gradient --stack`", "contractions", "words (10⁶): unfused → published fusion", "predicted by `exact`, ms", "measured, ms"], rows) + """

The steps are run in turn, with the kernels that the same prices choose. `viridian train --stack cheapest` decides by such predictions."""


def part_frameworks(measured):
    """Tables IV and V: the paper's times, and the time in kernels here."""
    attention = [one for one in measured["operators"] if "self_attn" in one["name"]]
    backward = lambda one: ".gradient" in one["name"]
    milliseconds = lambda some: f"{1e3 * sum(one['seconds'] for one in some):.0f}"
    parts = lambda operators: {"forward": [one for one in operators if not backward(one)], "backward": [one for one in operators if backward(one)]}
    heads = ("TF+XLA", "PyTorch", "cuDNN", "theirs"), ("PyTorch", "TF+XLA", "DeepSpeed", "theirs")
    out = []
    for title, columns, paper, own in (("Table IV, multi-head attention", heads[0], TABLE4, parts(attention)),
                                       ("Table V, the encoder layer", heads[1], TABLE5, parts(measured["operators"]))):
        out.append(table([title] + [f"{one}, ms" for one in columns] + ["kernels here, one by one, ms"],
                         [[part, *(f"{value:g}" for value in paper[part]), milliseconds(own[part])] for part in ("forward", "backward")]))
    return "\n\n".join(out)


def plans(layer, step, recorded, turns=0):
    """Each solver's plan of the same step from the same prices: a table, and the assignment and seconds of each. Plans by recorded
    prices are not of this machine, so those that are run, in turn, are made anew from the database of these prices."""
    rows, found, runners = [], {}, []
    for solver in SOLVERS:
        planned = layer.folder / f"{pathlib.Path(step).stem}.{solver}"
        command = ("optimize", step, "--search", "none", "--solver", solver, "-o", f"{planned}.onnx")
        began = time.monotonic()
        plan = layer.run(*command, "--recorded", recorded)["assignment"]
        found[solver] = plan, time.monotonic() - began
        if turns:
            layer.run(*command, "--db", layer.database)
            runners.append(Runner(layer.viridian, f"{planned}.plan.json", layer.threads))
    take_turns(runners, turns, 1)
    least = found["exact"][0]["value"]
    for solver, (plan, seconds) in found.items():
        gap = plan.get("gap")
        rows.append([f"`{solver}`", f"{1e3 * plan['value']:.2f}", f"{100 * (plan['value'] / least - 1):.2f}",
                     f"{100 * (plan['value'] / plan['cheapest_kernels'] - 1):.2f}", f"{100 * gap / plan['value']:.3f}" if gap is not None else "",
                     f"{seconds:.1f}", "" if solver == "exact" else "agrees" if plan["value"] >= least * (1 - 1e-9) else "differs"])
    head = ["solver", "predicted, ms", "% above `exact`", "% above the sum of its regions' cheapest kernels", "gap, %", "the command took, s",
            "verdict: `exact` ≤ this solver"]
    for row, runner in zip(rows, runners):
        ratio, low, high = ratio_of_rounds(runner.turns, runners[0].turns)
        row[-1:-1] = [f"{1e3 * statistics.median(runner.times):.1f}", f"{ratio:.3f} ({low:.2f} to {high:.2f})"]
    if runners:
        head[-1:] = ["measured, ms", "measured / `exact` (rounds)", "verdict: predicted `exact` ≤ this solver"]
    text = table(head, rows)
    if runners:
        text += f"""

The measured plans are made again from the database of these prices. `optimize` may have timed some prices again meanwhile, so the measured plans
can differ from the predicted ones. They run in {turns} rounds; *measured / `exact`* is the median of the ratios of rounds, with the least and the
largest."""
    return text, found


def part_selection(layer, prices, turns):
    """Section VI-A and Figure 6, of the layer; and with its update, as it is trained."""
    text, found = plans(layer, layer.step, prices.recorded)
    paths = [100 * (plan["value"] / plan["cheapest_kernels"] - 1) for name, (plan, _) in found.items() if name.startswith("shortest-path")]
    step, recorded = (str(layer.folder / name) for name in ("trained.onnx", "trained.prices.json"))
    layer.run("gradient", layer.forward, "--loss", "mse", "-o", step)
    layer.run("profile", step, "--record", recorded, "--db", layer.database)
    return f"""{text}

The paper's plan is "within 4 % of the sum of the best possible configuration of each operator". Here our readings of its algorithm,
`shortest-path-forward` as the paper says it and the two others, are {min(paths):.1f} to {max(paths):.1f} % above the sum for their own regions.
They avoid in-place kernels where others exist. All prices come from one profiling run; the least of several noisy prices makes that
sum slightly too low. The command reads the step and the prices, and writes the plan; solving is a part of its time.

This table is for the layer's training step, with a squared error and AdamW:

{plans(layer, step, recorded, turns)[0]}"""


def part_deep(layer, layers):
    """Plans of a step of many layers."""
    network, step, recorded = (str(layer.folder / name) for name in ("deep.onnx", "deep.step.onnx", "deep.prices.json"))
    layer.run("zoo", "encoder_layer", "--layers", str(layers), "--hidden", "128", "--batch", "4", "--sequence", "128", "--training", "-o", network)
    layer.run("gradient", network, "--loss", "mse", "-o", step)
    layer.run("profile", step, "--record", recorded, "--db", layer.database)
    text, _ = plans(layer, step, recorded)
    return f"""{text}

The step is that of {layers} layers of hidden size 128, batch 4, 128 tokens, with AdamW on a squared error. Viridian's aim is a plan in 60 s, or a
gap of at most 0.5 %."""
