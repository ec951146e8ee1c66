#!/usr/bin/env python3
"""session_worker.py PLAN: the plan in viridian.InferenceSession, behind the protocol of `viridian run --paced`."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
from worker import seeded_inputs, serve  # noqa: E402

import viridian  # noqa: E402

NUMPY = {"float": "float32", "double": "float64"}


def prepare():
    session = viridian.InferenceSession(sys.argv[1])
    kinds = [(one.name, one.shape, one.type[len("tensor("):-1]) for one in session.get_inputs()]
    feed = seeded_inputs([(name, shape, NUMPY.get(kind, kind)) for name, shape, kind in kinds], 2)
    return lambda: session.run(None, feed)


serve(prepare)
