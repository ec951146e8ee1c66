#!/usr/bin/env python3
"""session_worker.py PLAN [bound]: the plan in viridian.InferenceSession, behind the protocol of `viridian run --paced`;
`bound`: with its inputs and outputs bound once."""
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
    if "bound" not in sys.argv:
        return lambda: session.run(None, feed)
    binding = session.io_binding()
    for name, array in feed.items():
        binding.bind_cpu_input(name, array)
    return lambda: session.run_with_iobinding(binding)


serve(prepare)
