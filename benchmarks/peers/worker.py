"""The common part of a peer's process: for every line on stdin, runs for that many seconds and prints the seconds of
each run as a JSON list. The first line printed is {"ready": seconds to load and prepare}."""
import json
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


def serve(prepare):
    """prepare() -> a function that runs the model once."""
    start = time.perf_counter()
    run = prepare()
    print(json.dumps({"ready": time.perf_counter() - start}), flush=True)
    for line in sys.stdin:
        seconds, times = float(line), []
        run()
        end = time.perf_counter() + seconds
        while len(times) < 2 or time.perf_counter() < end:
            begin = time.perf_counter()
            run()
            times.append(time.perf_counter() - begin)
        print(json.dumps(times), flush=True)
