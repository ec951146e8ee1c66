"""From `viridian account`'s results to the paper's numbers: footprints, shares, correlations."""
import csv
import math
import re
import statistics


def modules(name):
    """Parts of a qualified name that are modules: the profiler's operators begin with "aten::" and the like."""
    parts = name.split("/")
    own = next((i for i, part in enumerate(parts) if "::" in part or re.search(r"Backward\d*$", part)), len(parts))
    return parts[:own]


def tensor(operation):
    """The paper's QTN: modules, the operator that did the work, and the pass (TensorFlow's is in `gradients/`)."""
    leaf = operation["name"].split("/")[-1].replace("aten::", "")
    name = "/".join([*modules(operation["name"]), leaf])
    return f"gradients/{name}" if operation["pass"] == "backward" else name


def folded(name):
    return re.sub(r"/layer_\d+(?=/|$)", "/transformer", name)


def footprint(result):
    """STEF and STPF of one run: {qualified name, layers folded: (joules, seconds)}."""
    out = {}
    for operation in result["operations"]:
        if operation["joules"] is None:
            continue
        key = folded(tensor(operation))
        joules, seconds = out.get(key, (0.0, 0.0))
        out[key] = (joules + operation["joules"]["value"], seconds + operation["seconds"])
    return out


def mean_footprint(prints):
    """Mean over runs; a name that one run lacks is 0 there."""
    names = set().union(*prints)
    return {name: tuple(sum(p.get(name, (0.0, 0.0))[i] for p in prints) / len(prints) for i in (0, 1)) for name in names}


def watts(print_):
    return {name: joules / seconds for name, (joules, seconds) in print_.items() if seconds > 0}


def energies(print_):
    return {name: joules for name, (joules, _) in print_.items()}


def pcc(a, b):
    """Pearson's correlation over the names that both have (SMARAGDINE §5.4.1)."""
    names = sorted(a.keys() & b.keys())
    x, y = [a[n] for n in names], [b[n] for n in names]
    if len(names) < 2 or len(set(x)) == 1 or len(set(y)) == 1:
        return math.nan
    return statistics.correlation(x, y)


def med(a, b):
    """Mean error difference: of a - b, over the names that both have."""
    names = a.keys() & b.keys()
    return sum(a[n] - b[n] for n in names) / len(names)


def under(result, prefix, pass_=None):
    """Joules of everything in a module (and all that is in it)."""
    parts = prefix.split("/") if prefix else []
    return sum(o["joules"]["value"] for o in result["operations"]
               if o["joules"] and pass_ in (None, o["pass"]) and modules(o["name"])[: len(parts)] == parts)


def children(result, prefix, pass_):
    """The next level below a module: {part: joules}; operators directly in it are under their own name."""
    parts = prefix.split("/") if prefix else []
    out = {}
    for o in result["operations"]:
        own = modules(o["name"])
        if not o["joules"] or o["pass"] != pass_ or own[: len(parts)] != parts:
            continue
        part = own[len(parts)] if len(own) > len(parts) else o["name"].split("/")[-1].replace("aten::", "")
        out[part] = out.get(part, 0.0) + o["joules"]["value"]
    return out


def shares(energy):
    total = sum(energy.values())
    return {name: 100 * joules / total for name, joules in energy.items()} if total else {}


def mean_shares(results, prefix, pass_):
    """Mean and standard deviation over runs of each child's percentage, largest first."""
    runs = [shares(children(result, prefix, pass_)) for result in results]
    names = set().union(*runs)
    table = {n: (statistics.mean(r.get(n, 0.0) for r in runs), statistics.stdev(r.get(n, 0.0) for r in runs)) for n in names}
    return dict(sorted(table.items(), key=lambda item: -item[1][0]))


class Power:
    """The recorded process's power: the package's counter times its share of busy jiffies (EFLECT)."""

    def __init__(self, path):
        series = {}
        with open(path, newline="") as file:
            for row in csv.reader(line for line in file if not line.startswith("#")):
                if row[0] != "time_ns" and row[4] in ("energy_uj", "busy_ticks"):
                    series.setdefault((row[3], row[4]), []).append((int(row[0]), int(row[5])))
        self.energy = series["package", "energy_uj"]
        self.own, self.all = series["process", "busy_ticks"], series["package", "busy_ticks"]

    @staticmethod
    def at(series, time):
        low, high = 0, len(series) - 1
        if time <= series[0][0] or time >= series[-1][0]:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if series[middle][0] <= time else (low, middle)
        (t0, v0), (t1, v1) = series[low], series[high]
        return v0 + (v1 - v0) * (time - t0) / (t1 - t0)

    def watts(self, begin, end):
        points = [[self.at(s, t) for t in (begin, end)] for s in (self.energy, self.own, self.all)]
        if any(None in p for p in points):
            return None
        joules, own, everybody = (b - a for a, b in points)
        return joules * 1e3 / (end - begin) * own / everybody if everybody > 0 else None
