#!/usr/bin/env python3
"""identify_simulated.py VIRIDIAN FAKE_NVML [PAGE.md]: plays a stepping load to the scripted NVML, probes it with the real
command in real time, and asserts that `meter identify` finds the sensor that the script describes."""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import time

PERIOD, LAG, WINDOW, INSTANT, COUNTER, FAST = 0.1, 0.03, 0.3, 0.025, 0.02, 0.05  # s; the counter runs 5 % fast
IDLE, FULL = 70.0, 430.0


def schedule(begin_ns):
    """Steps (Unix ns, load), written before they happen: a busy machine cannot delay them."""
    draw = random.Random(4)
    steps, now = [(begin_ns - 4_000_000_000, 0.0)], begin_ns + 1_000_000_000
    for pace in (0.03, 0.1, 0.3, 0.8):
        end = now + 1_800_000_000
        while now < end:
            for load in (1.0, 0.0):
                steps.append((now, load))
                now += int(pace * draw.uniform(0.3, 1.0) * 1e9)
    steps.append((now + 1_000_000_000, 1.0))
    return steps


def near(what, found, expected, tolerance):
    if not abs(found - expected) <= tolerance:
        sys.exit(f"{what}: found {found}, the script says {expected}")


def main():
    viridian, fake = (os.path.abspath(path) for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        load, watts, probe = (os.path.join(folder, name) for name in ("load.csv", "watts", "probe.csv"))
        steps = schedule(time.time_ns() + 300_000_000)
        with open(watts, "wb") as file:
            file.write(b"".join(struct.pack("<qd", at, IDLE + (FULL - IDLE) * level) for at, level in steps))
        with open(load, "w") as file:
            file.write("time_ns,load\n" + "".join(f"{at},{level}\n" for at, level in steps))
        script = f"load={watts} period_us={PERIOD * 1e6:.0f} lag_us={LAG * 1e6:.0f} window_us={WINDOW * 1e6:.0f} " \
                 f"instant_us={INSTANT * 1e6:.0f} counter_us={COUNTER * 1e6:.0f} counter_ppm={FAST * 1e6:.0f}"
        seconds = (steps[-1][0] - time.time_ns()) * 1e-9
        subprocess.run([viridian, "meter", "probe", "-o", probe, "--seconds", f"{seconds:.2f}", "--json"], check=True,
                       stdout=subprocess.DEVNULL, env=dict(os.environ, VIRIDIAN_NVML=fake, VIRIDIAN_FAKE_NVML=script))
        page = sys.argv[3:4] and ["-o", os.path.abspath(sys.argv[3]), "--title", "Simulated GPU"]
        said = subprocess.run([viridian, "meter", "identify", probe, "--load", load, "--json", *page], check=True,
                              stdout=subprocess.PIPE).stdout
    fields = {field["field"]: field for field in json.loads(said)["fields"]}
    for name, period, window in (("nvml:average", PERIOD, WINDOW), ("nvml:instant", PERIOD, INSTANT),
                                 ("nvml:usage", PERIOD, WINDOW), ("nvml:energy", COUNTER, None)):
        field = fields[name]
        near(f"{name} period", field["period_s"]["value"], period, 0.01 * period)
        near(f"{name} lag", field["lag_s"]["value"], LAG, 0.004)
        near(f"{name} idle", field["idle_watts"], IDLE, 5.0)
        if window is not None:
            near(f"{name} window", field["window_s"]["value"], window, 0.003 + 0.02 * window)
            near(f"{name} full power", field["full_watts"], FULL, 10.0)
    ratio = fields["nvml:average"]["over_counter"]["value"]
    near("average over counter", ratio, 1.0 / (1.0 + FAST), 0.03)
    print("period, window and lag of four fields found; average over counter", round(ratio, 4))


main()
