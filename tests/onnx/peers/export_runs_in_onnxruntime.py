"""What Viridian writes, ONNX Runtime runs, with the same outputs: every backend test that both read.

export_runs_in_onnxruntime.py MODEL_TOOL debian|newest
A test counts where ONNX Runtime runs the original model and gets the expected outputs; then the model that
Viridian wrote must too, and ONNX's checker must accept it.
"""
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

from support import DEBIAN, NEWEST, close, numbered, tool

onnxruntime.set_default_logger_severity(4)


def run(path, inputs):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [entry.name for entry in session.get_inputs()]
    if len(names) != len(inputs):
        raise ValueError("the inputs do not fit")
    return session.run(None, dict(zip(names, inputs)))


def peer_agrees(original, inputs, expected):
    try:
        return close(run(original, inputs), expected) is None
    except Exception:  # ONNX Runtime lacks the operator, or the data says something else
        return False


def private_operators_are_right(binary, folder):
    model = pathlib.Path(folder) / "private.onnx"
    tool(binary, "private", model)
    onnx.checker.check_model(str(model))
    domains = {node.domain for node in onnx.load(str(model)).graph.node}
    a, b = np.random.default_rng(1).standard_normal((2, 2, 3)).astype(np.float32)
    x, y = run(model, [a, b])
    model.unlink()
    c, d = a + 2 * b, 2 * a
    return domains == {"viridian"} and np.allclose(x, c + 2 * d) and np.allclose(y, 2 * c)


def main(binary, data):
    counted, wrong = 0, []
    root = {"debian": DEBIAN, "newest": NEWEST}[data]
    with tempfile.TemporaryDirectory() as folder:
        if not private_operators_are_right(binary, folder):
            wrong.append("a private operator's function means something else")
        tool(binary, "resave", root, folder)
        for ours in sorted(pathlib.Path(folder).glob("*.onnx")):
            group, name = ours.stem.split("__", 1)
            if group == "light":
                continue
            data = root / group / name / "test_data_set_0"
            try:
                inputs, expected = numbered(data, "input"), numbered(data, "output")
            except Exception:  # an element type that this NumPy does not have
                continue
            if not peer_agrees(root / group / name / "model.onnx", inputs, expected):
                continue
            counted += 1
            try:
                onnx.checker.check_model(str(ours))
                problem = close(run(ours, inputs), expected)
            except Exception as error:
                problem = str(error).replace("\n", " ")[:300]
            if problem:
                wrong.append(f"{group}/{name}: {problem}")
    print("\n".join(wrong))
    print(f"{counted - len(wrong)} of {counted} models that Viridian wrote run in ONNX Runtime {onnxruntime.__version__} as the originals do")
    return 1 if wrong or counted < 300 else 0


sys.exit(main(*sys.argv[1:]))
