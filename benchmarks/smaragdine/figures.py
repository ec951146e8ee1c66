"""Results to a report (Markdown) and a page of figures, each beside what the paper says."""
import json
import statistics

import drawing
import measure
from drawing import GREENS
from report import write

STAGES = [("pre-training", "pre"), ("fine-tuning", "fine"), ("prediction", "predict")]


def mean_std(values):
    return statistics.mean(values), statistics.stdev(values)


def prints(experiment, method="overlap"):
    return [measure.footprint(run) for run in experiment[method]]


def top(experiment, count=10):
    """Largest of the summarized footprint: name, mean and deviation of joules and of watts over the runs."""
    runs = prints(experiment)
    mean = measure.mean_footprint(runs)
    rows = []
    for name in sorted(mean, key=lambda n: -mean[n][0])[:count]:
        energy = mean_std([r.get(name, (0.0, 0.0))[0] for r in runs])
        power = mean_std([r[name][0] / r[name][1] for r in runs if name in r and r[name][1] > 0])
        rows.append((name, energy, power))
    return rows


def kind_share(experiment, words):
    """Part of all attributed joules that operators of these kinds take."""
    total = own = 0.0
    for name, (joules, _) in measure.mean_footprint(prints(experiment)).items():
        total += joules
        own += joules if name.split("/")[-1] in words else 0.0
    return 100 * own / total


def figure1(results):
    rows, table = [], []
    for stage, name in STAGES:
        passes = [run["passes"] for run in results[name]["overlap"]]
        if stage == "prediction":  # nothing runs backward, so no sequence number tells what is forward
            passes = [{"forward": sum(p.values()), "backward": 0.0, "unknown": 0.0} for p in passes]
        parts = {p: mean_std([run[p] for run in passes]) for p in ("forward", "backward", "unknown")}
        total = mean_std([sum(run.values()) for run in passes])
        rows.append((stage, [(parts[p][0], colour) for p, colour in zip(("backward", "forward", "unknown"), GREENS)], total[1]))
        table.append((stage, total, *(parts[p][0] for p in ("forward", "backward", "unknown"))))
    return table, drawing.bars(rows, "J")


def figure2_and_4(results):
    runs = results["pre"]["overlap"]
    levels, pictures = {}, {}
    for pass_ in ("forward", "backward"):
        for prefix in ("bert", "bert/encoder", "bert/encoder/layer_0", "bert/encoder/layer_0/attention",
                       "bert/encoder/layer_0/intermediate", "bert/encoder/layer_0/output"):
            shares = measure.mean_shares(runs, prefix, pass_)
            levels[pass_, prefix] = shares
            inner = {o for run in runs[:1] for op in run["operations"] for o in [tuple(measure.modules(op["name"]))]}
            composite = {m[len(prefix.split("/"))] for m in inner
                         if "/".join(m[: len(prefix.split("/"))]) == prefix and len(m) > len(prefix.split("/"))}
            pictures[pass_, prefix] = drawing.boxes(f"{prefix} ({pass_})", [(v, n, n in composite) for n, (v, _) in list(shares.items())[:8]])
    return levels, pictures


def figure3(results, powers):
    """Mean power over the steps at equal fractions of a step, and where the first transformer's forward part lies."""
    bins = 24
    sums = [[] for _ in range(bins)]
    for i, power in enumerate(powers):
        for run in results[f"pre-{i}"]["about"]["runs"]:
            for begin, end in run["steps_ns"]:
                for k in range(bins):
                    value = power.watts(begin + (end - begin) * k // bins, begin + (end - begin) * (k + 1) // bins)
                    if value is not None:
                        sums[k].append(value)
    watts = [statistics.mean(values) for values in sums]
    return watts, drawing.lines({"all steps": (watts, GREENS[0])}, [f"{100 * k // bins} %" for k in range(bins)], "W")


def first_transformer(results):
    """Fraction of the forward pass's and of all time that lies before the second transformer."""
    run = results["pre-0"]["overlap"][0]
    seconds = lambda prefix: sum(o["seconds"] for o in run["operations"]  # noqa: E731
                                 if o["pass"] == "forward" and "/".join(measure.modules(o["name"])).startswith(prefix))
    total = sum(o["seconds"] for o in run["operations"])
    return 100 * seconds("bert/embeddings") / total, 100 * (seconds("bert/embeddings") + seconds("bert/encoder/layer_0")) / total


def ranked(rows):
    return (drawing.bars([(name, [(energy[0], GREENS[0])], energy[1]) for name, energy, _ in rows], "J")
            + drawing.bars([(name, [(power[0], GREENS[1])], power[1]) for name, _, power in rows], "W"))


def figure7(results):
    readings = ["1/2", "1/4", "1/8", "1/16"]
    asss = {m: [mean_std([run[r] for run in results["pre-0"]["asss"][m]]) for r in readings] for m in ("overlap", "recency")}
    whole = [[measure.energies(p) for p in prints(results[f"pre-{i}"])] for i in range(5)]

    def mean_of(count):
        flat = [p for experiment in whole[:count] for p in experiment]
        return {n: sum(p.get(n, 0.0) for p in flat) / len(flat) for n in set().union(*flat)}

    first = mean_of(1)
    assw = [measure.pcc(first, mean_of(count)) for count in (2, 3, 4, 5)]
    picture = (drawing.lines({m: ([v for v, _ in asss[m]], c) for m, c in zip(asss, GREENS)}, [f"every {2 << i}th" for i in range(4)], "ASSS")
               + drawing.lines({"ASSW": (assw, GREENS[0])}, ["10 runs", "15", "20", "25"], "ASSW"))
    return asss, assw, picture


def figure8(results):
    means = [measure.energies(measure.mean_footprint(prints(results[f"pre-{i}"]))) for i in range(5)]
    table = [[measure.pcc(a, b) for b in means] for a in means]
    return table, drawing.heat(list("abcde"), table)


def figure9(results, grid):
    names = [f"grid-{c}" for c in "ABCDEFG"] + ["pre"]
    means = [measure.mean_footprint(prints(results[n])) for n in names]
    watts, joules = [measure.watts(m) for m in means], [measure.energies(m) for m in means]
    tables = [[[f(a, b) for b in side] for a in side] for f, side in
              ((measure.pcc, watts), (measure.pcc, joules), (measure.med, watts), (measure.med, joules))]
    labels = list("ABCDEFGH")
    pictures = (drawing.heat(labels, tables[0]) + drawing.heat(labels, tables[1])
                + drawing.heat(labels, tables[2], "{:+.3f}", True) + drawing.heat(labels, tables[3], "{:+.3f}", True))
    totals = [mean_std([sum(run["passes"].values()) for run in results[n]["overlap"]]) for n in names]
    return tables, totals, pictures


def figure6(results):
    """What is compared by the metric: a footprint, by name."""
    rows = top(results["pre"], 8)
    return drawing.bars([(name, [(energy[0], GREENS[0])], energy[1]) for name, energy, _ in rows], "J")


def overhead(costs):
    out = {}
    for what in ("cpu", "wall"):
        bare = [run[what] for run in costs["bare"]]
        for arm in ("recorded", "profiled"):
            out[arm, what] = mean_std([100 * (run[what] / b - 1) for run, b in zip(costs[arm], bare)])
    return out


def everything(results, costs, powers, meter, grid):
    results = {**results, "pre": {"overlap": [run for i in range(5) for run in results[f"pre-{i}"]["overlap"]]}}
    table1, picture1 = figure1(results)
    levels, pictures = figure2_and_4(results)
    watts, picture3 = figure3(results, powers)
    rows5, rows10 = top(results["pre"]), top(results["albert"])
    asss, assw, picture7 = figure7(results)
    table8, picture8 = figure8(results)
    tables9, totals9, picture9 = figure9(results, grid)
    numbers = {"stages": table1, "levels": levels, "watts": watts, "first": first_transformer(results), "bert": rows5,
               "albert": rows10, "asss": asss, "assw": assw, "stability": table8, "grid": tables9, "totals": totals9,
               "overhead": overhead(costs), "meter": meter, "configurations": grid,
               "matmul": kind_share(results["pre"], {"addmm", "mm", "bmm"}),
               "einsum": kind_share(results["albert"], {"addmm", "mm", "bmm"})}
    edds = lambda *which: "".join(pictures[w] for w in which)  # noqa: E731
    block = "bert/encoder/layer_0"
    sections = [
        ("Figure 1: energy by stage", "Dark: backward, middle: forward, light: optimiser. Whiskers: standard deviation of the runs (25 of pre-training, else 5).", picture1),
        ("Figure 2: top levels, forward pass", "Shares of each box in its parent.", edds(("forward", "bert"), ("forward", "bert/encoder"))),
        ("Figure 3: power over a step", f"Mean of 150 steps, from {meter}.", picture3),
        ("Figure 4: the first transformer, forward and backward", "Shares of each box in its parent.",
         edds(*((p, q) for p in ("forward", "backward") for q in (block, f"{block}/attention", f"{block}/intermediate", f"{block}/output")))),
        ("Figure 5: BERT's top tensors", "STEF, then STPF; layers summed.", ranked(rows5)),
        ("Figure 6: a footprint as it is compared", "The correlation of two of these is the accounting similarity.", figure6(results)),
        ("Figure 7: precision", "ASSS with fewer readings; ASSW against more runs.", picture7),
        ("Figure 8: stability", "Correlation of five experiments of five runs.", picture8),
        ("Figure 9: hyperparameters", "PCC of power, of energy; MED of power (W), of energy (J): row minus column. " +
         ", ".join(f"{c}: L={l} H={h}" for c, (l, h) in zip("ABCDEFGH", grid)), picture9),
        ("Figure 10: ALBERT's top tensors", "STEF, then STPF.", ranked(rows10)),
    ]
    text = write(numbers)
    return text, drawing.page("SMARAGDINE's figures again", sections) + f"<!-- {json.dumps({'meter': meter})} -->\n"
