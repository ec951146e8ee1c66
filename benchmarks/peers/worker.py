"""The common part of a peer's process in Python: what worker.hpp does for the compiled ones."""
import gc
import json
import pathlib
import sys
import time

import numpy as np


def seeded_inputs(inputs, bound):
    """inputs: [(name, shape, numpy type)]; integers are drawn below `bound`."""
    random = np.random.default_rng(1)
    made = {}
    for name, shape, kind in inputs:
        if np.issubdtype(kind, np.floating):
            made[name] = random.standard_normal(shape).astype(kind)
        else:
            made[name] = random.integers(0, bound, shape).astype(kind)
    return made


def peak_memory():
    """The largest resident memory in bytes, counted anew from here on."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    status = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def serve(prepare):
    """prepare() -> a function that runs the model once. For every line on stdin, runs for that many seconds, the first run
    not counted and at least twice, and prints the seconds of each run as a JSON list."""
    memory_before, start = peak_memory(), time.perf_counter()
    run = prepare()
    print(json.dumps({"ready": time.perf_counter() - start, "memory_before": memory_before}), flush=True)
    gc.collect()
    gc.disable()
    for line in sys.stdin:
        seconds, times = float(line), []
        run()
        begin = time.perf_counter()
        while len(times) < 2 or time.perf_counter() - begin < seconds:
            before = time.perf_counter()
            run()
            times.append(time.perf_counter() - before)
        print(json.dumps(times), flush=True)
