#!/usr/bin/env python3
"""drift.py FILE...: how far prices follow the probes when the machine changes. Each FILE is what `drift MODEL --db FILE` printed
(benchmarks/drift.cpp): kernels of one plan, timed over and over with the probes before and after each. Sorts the timings by
the conversion probe into those of the fast and of the slow state, and prints for each network how many times as long its
kernels took in the slow state, and what profile::Drift says of them, by how often a byte passes between the cores."""
import collections
import pathlib
import statistics
import sys

PROBE_FLOP, PROBE_BYTES = 2 * 256**3, 2 * 4 * 64 * 56 * 56
PASSES = [1, 1.5, 2, 2.5, 3]


def read(path):
    """[(kernel, conversion before, conversion after)], [product in us], [conversion in us]"""
    rows, conversions, products, last, kernel = [], [], [], None, None
    for line in pathlib.Path(path).read_text().splitlines():
        kind, _, *fields = line.split()
        if kind == "probe":
            product, conversion = float(fields[2]), float(fields[10])
            if kernel is not None:
                rows.append((kernel, last, conversion))
                kernel = None
            last = conversion
            conversions.append(conversion)
            products.append(product)
        elif kind == "kernel":
            name, flop, size, _, _, median, price = fields[0], *map(float, fields[1:7])
            kernel = name, flop, size, median, price
    return rows, products, conversions


def table(path):
    rows, products, conversions = read(path)
    fast = statistics.quantiles(conversions, n=20)[0]
    limit = 1.4 * fast
    timings = collections.defaultdict(lambda: ([], []))
    work = {}
    for (name, flop, size, median, price), before, after in rows:
        work[name] = flop, size, price
        if (before > limit) == (after > limit):
            timings[name][before > limit].append(median)
    slow_probes = [c for c in conversions if c > limit]
    if not slow_probes:
        return f"| {pathlib.Path(path).stem} | one state only | | " + " | ".join([""] * len(PASSES)) + " |"
    ratio = statistics.median(slow_probes) / statistics.median(c for c in conversions if c <= limit)
    product = min(products)
    times, told = [0.0, 0.0], [0.0] * len(PASSES)
    for name, (quick, slow) in timings.items():
        if not quick or not slow:
            continue
        flop, size, price = work[name]
        usual = statistics.median(quick)
        often = max(1.0, price / usual)  # the plan has so many kernels of this name
        times[0] += often * usual
        times[1] += often * statistics.median(slow)
        for i, passes in enumerate(PASSES):
            arithmetic, memory = flop / PROBE_FLOP * product, passes * size / PROBE_BYTES * fast
            share = memory / (arithmetic + memory)
            told[i] += often * usual * (1 - share + share * ratio)
    cells = [f"{told[i] / times[0]:.3f}" for i in range(len(PASSES))]
    return f"| {pathlib.Path(path).stem} | {ratio:.2f} | {times[1] / times[0]:.3f} | " + " | ".join(cells) + " |"


print("| network | conversion probe | kernels | " + " | ".join(f"told, {passes} passes" for passes in PASSES) + " |")
print("|" + "---|" * (3 + len(PASSES)))
for name in sys.argv[1:]:
    print(table(name))
