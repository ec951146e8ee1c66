#!/usr/bin/env python3
"""The experiments of ENVPIPE (Choi et al., USENIX ATC 2023) by simulation: Figures 10-14, Table 2 and the twelve claims,
each beside the paper's number. Clocks and power come from device models, so every energy is an estimate.

    make reproduce-envpipe      (or: benchmarks/pipeline/reproduce_envpipe.py build/release/bin/viridian)
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
VIRIDIAN = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())


def run(*words):
    done = subprocess.run([VIRIDIAN, "pipeline", *map(str, words), "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"viridian pipeline {' '.join(map(str, words))}: {done.stderr}")
    return json.loads(done.stdout)


def fine(points, step=30.0):
    """Between measured clocks every 30 MHz (ENVPIPE reconfigures in small steps): time linear in 1/f, power linear in f."""
    out = [points[-1]]
    for low, high in reversed(list(zip(points, points[1:]))):
        f = out[-1]["frequency"] - step
        while f > low["frequency"] + step / 2:
            inverse = (1 / f - 1 / high["frequency"]) / (1 / low["frequency"] - 1 / high["frequency"])
            share = (high["frequency"] - f) / (high["frequency"] - low["frequency"])
            time = high["time"] + inverse * (low["time"] - high["time"])
            watts = [p["energy"] / p["time"] for p in (high, low)]
            out.append({"frequency": f, "time": time, "energy": time * (watts[0] + share * (watts[1] - watts[0]))})
            f -= step
        out.append(low)
    return out[::-1]


def profile(device, scales):
    """A profile of the device model with each stage's times and energies scaled."""
    name = FOLDER / f"{device}-{'-'.join(f'{s:g}' for s in scales)}.csv"
    if not name.exists():
        base = run("partition", FOLDER / "unit.csv", "--stages", 1, "--device", device, "-o", FOLDER / f"{device}.json")
        del base
        stage = json.loads((FOLDER / f"{device}.json").read_text())["stages"][0]
        rows = ["stage,instruction,frequency,time,energy"]
        for s, scale in enumerate(scales):
            for kind, points in stage["instructions"].items():
                points = fine(points)
                rows += [f"{s},{kind},{p['frequency']},{p['time'] * scale!r},{p['energy'] * scale!r}" for p in points]
        name.write_text("\n".join(rows) + "\n")
    return name


WAIT = {"v100": 50, "rtx3090": 100}
(FOLDER / "unit.csv").write_text("layer,forward,backward\nall,0.030,0.060\n")


def plan(planner, device="v100", scales=(1, 1, 1, 1), micro_batches=16, schedule="envpipe", extra=()):
    out = run("plan", "--profile", profile(device, scales), "--wait-power", WAIT[device], "-m", micro_batches, "--schedule",
              schedule, "--planner", planner, *extra)
    out["saving"] = 1 - out["energy"] / out["maximum_clocks"]["energy"]
    base = run("plan", "--profile", profile(device, scales), "--wait-power", WAIT[device], "-m", micro_batches, "--schedule",
               "1f1b", "--planner", "maximum") if schedule != "1f1b" else out
    full = base["maximum_clocks"]
    out["saving_1f1b"], out["slower_1f1b"] = 1 - out["energy"] / full["energy"], out["time"] / full["time"] - 1
    return out


def percent(x):
    return f"{100 * x:.1f} %"


def table(title, rows):
    print(f"\n## {title}\n")
    print("| " + " | ".join(rows[0]) + " |\n|" + "---|" * len(rows[0]))
    for row in rows[1:]:
        print("| " + " | ".join(str(c) for c in row) + " |")


BALANCED, HEAVY = (1, 1, 1, 1), (1, 1, 1, 1.15)
LONG = ("--chunks", 2)


def figures():
    rows = [["device", "stages", "paper: energy saved", "ENVPIPE balanced here", "optimum here", "slowdown of both"]]
    for device, paper in [("v100", "12.1-25.2 % (mean 18.6)"), ("rtx3090", "8.1-19.4 % (mean 12.8)")]:
        for scales, name in [(BALANCED, "balanced"), (HEAVY, "last +15 %")]:
            ours, best = plan("envpipe", device, scales), plan("exact", device, scales)
            rows.append([device, name, paper, percent(ours["saving_1f1b"]), percent(best["saving_1f1b"]),
                         f"{100 * ours['slower_1f1b']:.2f} / {100 * best['slower_1f1b']:.2f} %"])
    table("Figure 10: energy saved against 1F1B at full clocks, K = 4, M = 16", rows)

    rows = [["planner", "paper (words)", "energy", "time"]]
    words = {"maximum": "baseline", "uniform": "lowest energy and throughput", "norecfg": "breaks the time bound",
             "envpipe": "saves, < 1 % slower", "exact": "-"}
    for name in words:
        out = plan(name, "rtx3090", schedule="1f1b" if name in ("maximum", "uniform") else "envpipe")
        rows.append([name, words[name], f"{100 * (1 - out['saving_1f1b']):.1f} %", f"{100 * (1 + out['slower_1f1b']):.1f} %"])
    table("Figure 11: RTX 3090, relative to the baseline", rows)

    rows = [["stages", "paper: balanced - greedy", "balanced", "greedy (paper)", "greedy (its code, 90 MHz)"]]
    for scales, name, paper in [(BALANCED, "balanced", "5.2-8.9 points"), (HEAVY, "last +15 %", "none (Megatron)")]:
        rows.append([name, paper, *(percent(plan(p, "v100", scales)["saving_1f1b"])
                                    for p in ("envpipe", "envpipe-greedy", "envpipe-greedy-90"))])
    table("Figure 12: balanced against greedy reconfiguration, V100", rows)

    rows = [["configuration", "paper", "ENVPIPE here", "optimum here"]]
    for name, stages, micro, paper in [("DP2+PP8, M = 32", 8, 32, "28.4 %"), ("DP4+PP4, M = 16", 4, 16, "19.4 %")]:
        scales = (1,) * (stages - 1) + (1.15,)
        extra = ("--data-parallel", 16 // stages, "--all-reduce", "0.05")
        rows.append([name + ", last +15 %", paper, *(percent(plan(p, "v100", scales, micro, extra=extra)["saving"])
                                                      for p in ("envpipe", "exact"))])
    table("Figure 13: data and pipeline parallel, 16 V100 (all-reduce 50 ms assumed)", rows)

    rows = [["stages", *(f"M = {m}" for m in (4, 8, 16, 32, 64))]]
    for scales, name in [(BALANCED, "balanced"), (HEAVY, "last +15 %")]:
        for p in ("envpipe", "exact"):
            rows.append([f"{name}, {p}", *(percent(plan(p, "v100", scales, m)["saving_1f1b"]) for m in (4, 8, 16, 32, 64))])
    table("Figure 14: micro-batches (paper: Megatron grows, the others fall), V100", rows)


# Balance -> gigabytes per stage, samples per second, energy of ENVPIPE relative to full clocks (Table 2).
TABLE_TWO = {"time": ((7.5, 7.1, 6.1, 3.8), 20.5, 0.831), "memory": ((6.9, 5.0, 6.0, 5.0), 14.2, 0.844)}


def table2():
    layers = FOLDER / "resnet152.csv"
    layers.write_bytes(subprocess.run([sys.executable, HERE / "resnet152_layers.py"], capture_output=True, check=True).stdout)
    rows = [["balance", "paper: GB, samples/s, energy", "memory here (GB)", "samples/s here", "ENVPIPE energy", "optimum energy"]]
    found = {}
    for balance, (gigabytes, samples, paper_energy) in TABLE_TWO.items():
        paper = f"{'/'.join(map(str, gigabytes))}, {samples}, {percent(paper_energy)}"
        out = FOLDER / f"{balance}.json"
        split = run("partition", layers, "--stages", 4, "--balance", balance, "-m", 16, "--device", "rtx3090", "-o", out)
        energy = {}
        for p in ("envpipe", "exact"):
            done = run("plan", "--profile", out, "-m", 16, "--schedule", "envpipe", "--planner", p)
            energy[p] = done["energy"] / done["maximum_clocks"]["energy"]
        speed = 16 * 8 / done["time"]
        memory = [s["memory_bytes"] * 1e-9 for s in split["stages"]]
        found[balance] = (speed, energy["envpipe"], memory)
        rows.append([balance, paper, "/".join(f"{m:.1f}" for m in memory), f"{speed:.1f}",
                     percent(energy["envpipe"]), percent(energy["exact"])])
    table("Table 2: ResNet-152 on RTX 3090 split by time or memory (costs from shapes: a model)", rows)
    return found


def claim_ten(by_balance):
    """The order may agree while nothing else does, so the verdict says each by itself."""
    (fast, e_time, m_time), (slow, e_memory, m_memory) = by_balance["time"], by_balance["memory"]
    (p_time, p_fast, pe_time), (p_memory, p_slow, pe_memory) = TABLE_TWO["time"], TABLE_TWO["memory"]
    ratio, paper = fast / slow, p_fast / p_slow
    shares = [here / there for here, there in zip(m_time + m_memory, p_time + p_memory)]
    verdict = [f"which is faster: {'yes' if fast > slow else 'no'}",
               f"by how much: {'yes' if abs(ratio / paper - 1) < 0.1 else 'no'} ({ratio:.2f} against {paper:.2f} times)",
               f"energies alike: {'yes' if abs(e_time - e_memory) < 0.05 else 'no'} ({100 * abs(e_time - e_memory):.1f} against "
               f"{100 * abs(pe_time - pe_memory):.1f} points apart)",
               f"energy saved: {'yes' if max(abs(e_time - pe_time), abs(e_memory - pe_memory)) < 0.02 else 'no'} "
               f"({100 * (1 - e_time):.1f} / {100 * (1 - e_memory):.1f} against {100 * (1 - pe_time):.1f} / {100 * (1 - pe_memory):.1f} %)",
               f"samples/s: {'yes' if abs(fast / p_fast - 1) < 0.1 else 'no'} ({slow / p_slow:.0f} to {fast / p_fast:.0f} times the paper's)",
               f"memory: {'yes' if all(abs(s - 1) < 0.1 for s in shares) else 'no'} ({min(shares):.2f} to {max(shares):.2f} of the paper's)"]
    return ("C10 by time 1.44 times faster, energies similar (83.1 / 84.4 %)",
            f"{fast:.1f} / {slow:.1f} samples/s, {percent(e_time)} / {percent(e_memory)}", "; ".join(verdict))


def claims(by_balance):
    balanced, heavy = plan("envpipe"), plan("envpipe", scales=HEAVY)
    best, best_heavy = plan("exact"), plan("exact", scales=HEAVY)
    uniform, loose = plan("uniform", schedule="1f1b"), plan("norecfg")
    plain = plan("maximum", schedule="1f1b")
    inner = sum(1 for r, rank in enumerate(plain["schedule"]) for u in rank
                if "slack" not in u and r < 3 and u["micro_batch"] not in (0, 15))
    greedy, code = plan("envpipe-greedy"), plan("envpipe-greedy-90", scales=HEAVY)
    by_m = [plan("exact", micro_batches=m)["saving_1f1b"] for m in (4, 8, 16, 32, 64)]
    by_m_heavy = [plan("exact", scales=HEAVY, micro_batches=m)["saving_1f1b"] for m in (4, 8, 16, 32)]
    stretch = {d: max(u["duration"] for r in plan("uniform", d, schedule="1f1b")["schedule"] for u in r if u["kind"] == "forward") / 0.030 - 1
               for d in ("v100", "rtx3090")}
    excess = balanced["energy"] / best["energy"] - 1
    rows = [["claim", "here", "verdict"]]
    add = lambda claim, here, verdict: rows.append([claim, here, verdict])
    add("C1 in 1F1B only the envelope is critical", f"{inner} units inside it have no slack either", "no, when balanced" if inner else "yes")
    add("C2 Uniform: lowest energy and throughput", f"{percent(uniform['saving'])} saved, {percent(uniform['slower_1f1b'])} slower",
        "yes" if uniform["saving"] > balanced["saving_1f1b"] else "no")
    add("C3 NoRecfg breaks the time bound", f"{percent(loose['slower_1f1b'])} slower", "yes" if loose["slower_1f1b"] > 0.01 else "no")
    slow = max(balanced["slower_1f1b"], heavy["slower_1f1b"])
    add("C4 ENVPIPE is less than 1 % slower", f"{100 * slow:.2f} %, ideal control", "yes" if slow < 0.01 else "no")
    points = 100 * (balanced["saving_1f1b"] - greedy["saving_1f1b"])
    add("C5 balanced beats greedy by 5.2-8.9 points", f"{points:.1f} points", "yes" if 5.2 <= points <= 8.9 else "no")
    gap = 100 * (heavy["saving_1f1b"] - code["saving_1f1b"])
    add("C6 the gap vanishes with a heavy last stage", f"{gap:.1f} points with the published code's 90 MHz steps",
        "yes, with the code's greedy" if abs(gap) < 1 else "no")
    inside = 0.121 <= heavy["saving_1f1b"] <= 0.252
    add("C7 V100: 12.1-25.2 % saved", f"{percent(balanced['saving_1f1b'])} balanced, {percent(heavy['saving_1f1b'])} last +15 % "
        f"(optimum {percent(best['saving_1f1b'])}, {percent(best_heavy['saving_1f1b'])})", "only with imbalance" if inside else "no")
    add("C8 savings fall with M when balanced", ", ".join(map(percent, by_m)) + " for M = 4..64",
        "yes, from M = 8" if by_m[1:] == sorted(by_m[1:], reverse=True) else "no")
    add("C9 savings grow with M for imbalanced Megatron", ", ".join(map(percent, by_m_heavy)) + " for M = 4..32",
        "yes" if by_m_heavy == sorted(by_m_heavy) else "partly" if by_m_heavy[1] > by_m_heavy[0] else "no")
    add(*claim_ten(by_balance))
    add("C11 units stretch by 20-25 % at least energy", ", ".join(f"{d} {percent(s)}" for d, s in stretch.items()),
        "no" if not any(0.2 <= s <= 0.25 for s in stretch.values()) else "partly")
    add("C12 balanced is near-optimal", f"{100 * excess:.1f} % more energy than the optimum of its order, after {balanced['iterations']} training steps",
        "yes, within 2 %" if excess < 0.02 else "no")
    table("The twelve claims (V100 matrixMul curve, F = 30 ms, B = 60 ms, wait 50 W, K = 4, M = 16)", rows)


print("# ENVPIPE by simulation\n\nEvery energy is estimated: device models (interpolated to every 30 MHz), ideal clock control, no communication time.")
figures()
claims(table2())
