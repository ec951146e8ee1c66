"""ONNX Runtime takes the steps of a training step that Viridian wrote.

step_runs_in_onnxruntime.py MODEL_TOOL
The first step starts from the initialisers, which are the first values of the states. The others are given the
new values of the step before, by the names that the metadata `viridian.states` pairs.
"""
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

from support import close, tool

onnxruntime.set_default_logger_severity(4)


def main(binary):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        model = folder / "step.onnx"
        tool(binary, "step", model, folder)
        onnx.checker.check_model(str(model), full_check=True)
        metadata = {entry.key: entry.value for entry in onnx.load(str(model)).metadata_props}
        states = json.loads(metadata["viridian.states"])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        required = [entry.name for entry in session.get_inputs()]
        optional = {entry.name for entry in session.get_overridable_initializers()}
        names = [entry.name for entry in session.get_outputs()]
        problems = []
        if required != ["x", "target", "rate"]:
            problems.append(f"ONNX Runtime asks for {required}")
        if optional != {state["before"] for state in states}:
            problems.append(f"ONNX Runtime lets a caller override {sorted(optional)}")
        given = {name: np.load(folder / f"input_{i}.npy") for i, name in enumerate(required)}
        for _ in range(3):
            results = dict(zip(names, session.run(None, given)))
            given.update({state["before"]: results[state["after"]] for state in states})
        expected = [np.load(folder / f"output_{i}.npy") for i in range(len(names))]
        if problem := close(list(results.values()), expected, rtol=1e-4, atol=1e-6):
            problems.append(problem)
    print("\n".join(problems))
    print(f"three steps with {len(states)} states in ONNX Runtime {onnxruntime.__version__}: {'wrong' if problems else 'as ours'}")
    return 1 if problems else 0


sys.exit(main(*sys.argv[1:]))
