"""ONNX Runtime runs the two graphs of `viridian gradient --accumulate`.

accumulated_step_in_onnxruntime.py VIRIDIAN
Two training steps of a transformer with Dropout: each once as one graph on the whole batch, and once in
micro-batches whose states are handed over by name. Losses, parameters and moments must agree.
"""
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

from support import tool

onnxruntime.set_default_logger_severity(4)
BATCH, PARTS, SEQUENCE = 6, 3, 8


class Graph:
    """A step file: runs from the states that it is given, and returns outputs and new states by name."""

    def __init__(self, path):
        onnx.checker.check_model(str(path), full_check=True)
        metadata = {entry.key: entry.value for entry in onnx.load(str(path)).metadata_props}
        self.states = json.loads(metadata["viridian.states"])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.inputs = {entry.name: entry for entry in self.session.get_inputs()}
        self.outputs = [entry.name for entry in self.session.get_outputs()]

    def run(self, inputs, states):
        given = {name: np.asarray(inputs[name]) for name in self.inputs}
        given.update({s["before"]: states[s["before"]] for s in self.states if s["before"] in states})
        results = dict(zip(self.outputs, self.session.run(None, given)))
        states.update({s["before"]: results[s["after"]] for s in self.states})
        return results


def main(binary):
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        size = BATCH // PARTS
        for name, batch, more in [("whole", BATCH, []), ("parts", size, ["--accumulate"])]:
            tool(binary, "zoo", "small_transformer", "--training", "--batch", batch, "--sequence", SEQUENCE, "-o",
                 folder / f"{name}_model.onnx")
            tool(binary, "gradient", folder / f"{name}_model.onnx", "--optimizer", "adamw", "--clip", "0.1", *more, "-o",
                 folder / f"{name}.onnx")
        whole, accumulate, apply = (Graph(folder / f"{name}.onnx")
                                    for name in ["whole", "parts.accumulate", "parts.apply"])
        tokens = next(entry for name, entry in whole.inputs.items() if not name.startswith("viridian.") and name != "labels")
        generator = np.random.default_rng(3)
        one, other = {}, {}
        for step in range(2):
            x = generator.integers(0, 32, tokens.shape).astype(np.int64 if "int64" in tokens.type else np.float32)
            labels = generator.integers(0, 8, whole.inputs["labels"].shape).astype(np.int64)
            labels.reshape(-1)[:: 5] = -100  # ignored, not equally often in each part
            numbers = {"viridian.rate": np.float32(0.01), "viridian.seed": np.int64(5),
                       "viridian.first_sample": np.int64(BATCH * step),
                       "viridian.inverse_count": np.float32(1 / np.count_nonzero(labels != -100))}
            expected = whole.run({tokens.name: x, "labels": labels, **numbers}, one)
            loss = 0.0
            for part in range(PARTS):
                rows = slice(part * size, (part + 1) * size)
                numbers["viridian.first_sample"] = np.int64(BATCH * step + part * size)
                loss += float(accumulate.run({tokens.name: x[rows], "labels": labels[rows], **numbers}, other)["loss"])
            norm = apply.run(numbers, other)["gradient_norm"]
            if not np.isclose(loss, expected["loss"], rtol=1e-5):
                problems.append(f"step {step}: the parts' losses add up to {loss}, the batch's is {expected['loss']}")
            if not np.isclose(norm, expected["gradient_norm"], rtol=1e-4):
                problems.append(f"step {step}: norms {norm} and {expected['gradient_norm']}")
        for name, state in one.items():
            # AdamW divides gradients by their size, so that rounding shows where they are nearly zero.
            moment = ".moment" in name
            if not np.allclose(other[name], state, rtol=1e-3 if moment else 1e-4, atol=1e-6 if moment else 2e-3):
                problems.append(f"{name} differs by {np.abs(other[name] - state).max()}")
        zeros = [name for name in other if name.endswith(".accumulated")]
        if not zeros or any(np.any(other[name]) for name in zeros):
            problems.append("accumulators are not zero after a step")
    print("\n".join(problems))
    print(f"two steps of {PARTS} micro-batches in ONNX Runtime {onnxruntime.__version__}: "
          f"{'wrong' if problems else 'those of the batch'}")
    return 1 if problems else 0


sys.exit(main(*sys.argv[1:]))
