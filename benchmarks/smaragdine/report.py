"""The report: the paper's claims one by one with our number and whether it holds, then tables."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from tables import table


def percent(value):
    return f"{value:.2f} %"


def layers_of(shares):
    return [shares[f"layer_{i}"] for i in range(len(shares)) if f"layer_{i}" in shares]


def claims(n):
    """(figure, the paper's words in short, its number, ours, holds). `None`: this machine cannot tell."""
    stages = {name: total for name, total, *_ in n["stages"]}
    passes = {name: (forward, backward) for name, _, forward, backward, _ in n["stages"]}
    forward = lambda prefix: n["levels"]["forward", prefix]  # noqa: E731
    backward = lambda prefix: n["levels"]["backward", prefix]  # noqa: E731
    block = "bert/encoder/layer_0"
    encoder = forward("bert")["encoder"][0]
    layers = layers_of(forward("bert/encoder"))
    mean_layer = sum(v for v, _ in layers) / len(layers)
    attention = forward(block)["attention"][0], backward(block)["attention"][0]
    own = forward(f"{block}/attention")["self"][0], backward(f"{block}/attention")["self"][0]
    dense = [forward(f"{block}/{part}").get("dense", (0.0, 0.0))[0] for part in ("intermediate", "output")]
    gradients = sum(name.startswith("gradients/") for name, _, _ in n["bert"])
    products = {"addmm", "mm", "bmm"}
    all_products = all(name.split("/")[-1] in products for name, _, _ in n["bert"])
    all_einsum = all("bmm" == name.split("/")[-1] for name, _, _ in n["albert"])
    watts = [v for _, _, (v, _) in n["bert"]]
    spread = 100 * (max(watts) - min(watts)) / (sum(watts) / len(watts))
    asss = [v for v, _ in n["asss"]["overlap"]]
    recency = [v for v, _ in n["asss"]["recency"]]
    off = [n["stability"][i][j] for i in range(5) for j in range(5) if i != j]
    grid = n["grid"]
    energy_pcc = [grid[1][i][j] for i in range(8) for j in range(8) if i != j]
    power_pcc = [grid[0][i][j] for i in range(8) for j in range(8) if i != j and grid[0][i][j] == grid[0][i][j]]
    totals = [v for v, _ in n["totals"]]
    grows = all(totals[i] < totals[i + 1] for side in (0, 4) for i in range(side, side + 3))
    wider = all(totals[i + 4] > totals[i] for i in range(4))
    mixed = totals[4] < totals[3]
    ratio = sum(v for _, (v, _), _ in n["albert"]) / sum(v for _, (v, _), _ in n["bert"])
    (cpu, cpu_sd), (wall, wall_sd) = n["overhead"]["recorded", "cpu"], n["overhead"]["recorded", "wall"]
    return [
        ("1", "pre-training costs most, prediction least", "60, 45, 2 kJ",
         ", ".join(f"{stages[s][0]:.2f}" for s in ("pre-training", "fine-tuning", "prediction")) + " J a run",
         stages["pre-training"][0] > stages["fine-tuning"][0] > stages["prediction"][0]),
        ("1", "backward costs more than forward", "chart", f"{passes['pre-training'][1] / passes['pre-training'][0]:.2f} times",
         passes["pre-training"][1] > passes["pre-training"][0]),
        ("2", "the encoder is nearly all of BERT", "> 99 %", percent(encoder), encoder > 99),
        ("2", "transformers cost about the same", "8.25 ± 0.61 % (of 12)",
         f"{mean_layer:.2f} % (of {len(layers)}), {min(v for v, _ in layers):.2f} to {max(v for v, _ in layers):.2f} %",
         max(v for v, _ in layers) < 1.15 * min(v for v, _ in layers)),
        ("2", "the first transformer costs less (cold GPU)", "up to 2 points less",
         f"{layers[0][0] - mean_layer:+.2f} points", layers[0][0] < mean_layer - layers[0][1]),
        ("3", "power rises within an epoch", "ramp of CPU and GPU", "power is estimated from CPU time", None),
        ("4", "attention's share of the first transformer, forward", "40.68 %", percent(attention[0]), 30 < attention[0] < 50),
        ("4", "and it is larger in the backward pass", "48.19 %", percent(attention[1]), attention[1] > attention[0]),
        ("4", "self-attention's share of attention, forward", "72.51 %", percent(own[0]), 62 < own[0] < 82),
        ("4", "and it is larger in the backward pass", "79.52 %", percent(own[1]), own[1] > own[0]),
        ("4", "dense dominates intermediate and output", "chart", f"{dense[0]:.1f} and {dense[1]:.1f} %", min(dense) > 50),
        ("5", "the ten largest tensors are matrix products", "10 of 10", f"all products take {n['matmul']:.1f} % of the energy", all_products),
        ("5", "most of them are gradients", "8 of 10", f"{gradients} of 10", gradients >= 6),
        ("5", "their power is alike", "chart", f"spread {spread:.1f} %, estimated", None),
        ("7a", "fewer readings give a similar footprint", "ASSS 0.90 to 0.94",
         f"{min(asss):.4f} to {max(asss):.4f} (recency: {min(recency):.4f} to {max(recency):.4f})", min(asss) > 0.9),
        ("7b", "more runs give a similar footprint", "ASSW 0.97 to 0.99", f"{min(n['assw']):.4f} to {max(n['assw']):.4f}", min(n["assw"]) > 0.97),
        ("8", "experiments agree", "PCC > 0.7", f"{min(off):.4f} to {max(off):.4f}", min(off) > 0.7),
        ("5.4.3", "recording costs no time", "-0.05 ± 0.12 %", f"{cpu:+.2f} ± {cpu_sd:.2f} % CPU, {wall:+.1f} ± {wall_sd:.1f} % wall", None if cpu_sd > 1 else abs(cpu) < 1),
        ("9b", "variants' energies are correlated", "high PCC", f"{min(energy_pcc):.4f} to {max(energy_pcc):.4f}", min(energy_pcc) > 0.7),
        ("9a, c", "variants' powers are correlated and rise with H", "high PCC",
         f"PCC {min(power_pcc):.2f} to {max(power_pcc):.2f}, estimated" if power_pcc else "estimated", None),
        ("9d", "more layers cost more energy", "yes", ", ".join(f"{v:.2f}" for v in totals) + " J", grows),
        ("9d", "so does a larger H at equal depth", "yes", f"{min(totals[i + 4] / totals[i] for i in range(4)):.2f} to "
         f"{max(totals[i + 4] / totals[i] for i in range(4)):.2f} times", wider),
        ("9d", "yet E (few layers, large H) costs less than D", "yes", f"{totals[4]:.2f} and {totals[3]:.2f} J", mixed),
        ("10", "ALBERT's ten largest are einsum", "10 of 10", "einsum's products: " +
         f"{sum(name.split('/')[-1] == 'bmm' for name, _, _ in n['albert'])} of 10", all_einsum),
        ("10", "and they take much less energy than BERT's", "almost half in some", f"{ratio:.2f} of BERT's", ratio < 0.9),
        ("10", "at higher power", ">= 120 W", "power is estimated from CPU time", None),
    ]


def write(n):
    listed = claims(n)
    words = {True: "holds", False: "does not hold", None: "cannot be told"}
    count = {w: sum(words[h] == w for *_, h in listed) for w in words.values()}
    out = [f"{count['holds']} of {len(listed)} claims hold, {count['does not hold']} do not, {count['cannot be told']} cannot be told "
           f"here. Energies: {n['meter']}.",
           table(("figure", "the paper says", "its number", "here", ""), [(*row, words[holds]) for *row, holds in listed])]
    for pass_ in ("forward", "backward"):
        rows = [(prefix, ", ".join(f"{name} {v:.2f} ± {sd:.2f}" for name, (v, sd) in list(shares.items())[:7]))
                for (which, prefix), shares in n["levels"].items() if which == pass_]
        out.append(f"Figures 2 and 4, {pass_} pass, percent of the box:\n\n" + table(("box", "parts"), rows))
    for name, key in (("Figure 5: BERT", "bert"), ("Figure 10: ALBERT", "albert")):
        out.append(f"{name}, ten largest (layers summed; {'all products' if key == 'bert' else 'all products'} "
                   f"{n['matmul' if key == 'bert' else 'einsum']:.1f} % of the energy):\n\n" +
                   table(("tensor", "J", "W"), [(f"`{t}`", f"{e:.4f} ± {s:.4f}", f"{w:.3f} ± {d:.3f}") for t, (e, s), (w, d) in n[key]]))
    out.append("Figure 3: watts over a step, in 24 equal parts (the first transformer's forward part ends at "
               f"{n['first'][1]:.1f} % of the time): " + ", ".join(f"{v:.2f}" for v in n["watts"]))
    labels = [f"{c} (L={layers}, H={hidden})" for c, (layers, hidden) in zip("ABCDEFGH", n["configurations"])]
    out.append("Figure 9: energy of a run, and mean error difference of energy against H (J per tensor):\n\n" +
               table(("variant", "J", "MED to H", "PCC with H"),
                     [(label, f"{v:.3f} ± {sd:.3f}", f"{n['grid'][3][i][7]:+.5f}", f"{n['grid'][1][i][7]:.4f}")
                      for i, (label, (v, sd)) in enumerate(zip(labels, n["totals"]))]))
    over = n["overhead"]
    out.append("§5.4.3: a step against the same step alone, 5 turns in turn:\n\n" +
               table(("", "CPU time", "wall time"),
                     [(arm, *(f"{over[arm, what][0]:+.2f} ± {over[arm, what][1]:.2f} %" for what in ("cpu", "wall")))
                      for arm in ("recorded", "profiled")]))
    return "\n\n".join(out) + "\n"
