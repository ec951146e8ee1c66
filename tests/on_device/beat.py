#!/usr/bin/env python3
"""beat.py: readings of counters with a known beat, or none, by a reader that is late at random: what tools/on_device/beat.py
makes of them lies near the true renewals."""
import bisect
import os
import random
import statistics
import sys

tools = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/on_device")
sys.path[0] = tools  # not this file
from beat import renewed  # noqa: E402

ZERO, PERIOD = 1_795_288_860_000_000_000, 20_000_300.0


def check(right, what):
    if not right:
        sys.exit(f"FAILED: {what}")


def brackets(jitter_ns, draw, count=3000):
    """([(last old, first new)], the last renewal before each second)."""
    renewals = sorted(ZERO + PERIOD * k + draw.gauss(0, jitter_ns) for k in range(count))
    found, truth, at, seen = [], [], ZERO, 0
    while at < renewals[-1]:
        then = at + 1.9e6 + draw.expovariate(1 / 0.5e6) + (draw.uniform(0, 60e6) if draw.random() < 0.01 else 0)
        now = bisect.bisect_right(renewals, then)
        if now > seen:
            found.append((round(at), round(then)))
            truth.append(renewals[now - 1])
        at, seen = then, now
    return found, truth


def error(times, truth):
    return statistics.median(abs(one - other) for one, other in zip(times, truth))


for seed in range(5):
    found, truth = brackets(0.0, random.Random(seed))
    times, period = renewed(found)
    check(period is not None and abs(period - PERIOD) < 100, f"seed {seed}: the beat is {period}")
    check(error(times, truth) < 50e3, f"seed {seed}: {error(times, truth):.0f} ns off")
    check(times == sorted(times), f"seed {seed}: out of order")
    for jitter in (1e6, 8e6):  # no beat: within half a distance of two readings
        found, truth = brackets(jitter, random.Random(seed))
        times, period = renewed(found)
        check(period is None and error(times, truth) < 1.2e6, f"seed {seed}: a beat of {period} in jitter")
for few in ([], [(1, 2)], [(5, 5)] * 40):
    check(len(renewed(few)[0]) == len(few), "a time is missing")
print(f"renewals within {error(renewed(brackets(0.0, random.Random(0))[0])[0], brackets(0.0, random.Random(0))[1]) / 1e3:.0f} us")
