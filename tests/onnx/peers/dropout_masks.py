"""ONNX Runtime draws the masks of DropoutMask, which it knows only as a function in standard operators, with the bits of our
kernel; and each is the mask of NumPy's Philox4x32-10, written from the paper.

dropout_masks.py MODEL_TOOL
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "benchmarks/training"))
from philox import mask  # noqa: E402

onnxruntime.set_default_logger_severity(4)


def main(tool):
    random = np.random.default_rng(3)
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        model = folder / "masks.onnx"
        subprocess.run([tool, "masks", model], check=True)
        onnx.checker.check_model(str(model))
        graph = onnx.load(str(model)).graph
        streams = [node.attribute[0].i for node in graph.node if node.domain == "viridian"]
        session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        for seed in 0, 1, -1, 2**40 + 5, int(random.integers(-2**63, 2**63 - 1)):
            step, first_sample = int(random.integers(0, 2**31)), int(random.integers(0, 2**31))
            ratio = np.float32(random.choice([0, 0.1, 0.5, 0.9, random.uniform()]))
            ratio64 = np.float64(random.uniform())
            x = np.zeros((random.integers(1, 9), random.integers(1, 9), 3), np.float32)
            values = [np.array(v, np.int64) for v in (seed, step, first_sample)] + [np.array(ratio), np.array(ratio64), x]
            theirs = session.run(None, dict(zip([i.name for i in session.get_inputs()], values)))
            for i, value in enumerate(values):
                np.save(folder / f"input_{i}.npy", value)
            subprocess.run([tool, "run", model, folder], check=True)
            for i, (their, stream) in enumerate(zip(theirs, streams)):
                ours = np.load(folder / f"output_{i}.npy")
                paper = mask(seed, stream, step, first_sample, [ratio, ratio64][i % 2], their.shape)
                if ours.shape != their.shape or not np.array_equal(ours, their):
                    wrong.append(f"seed {seed}, output {i}: ONNX Runtime draws another mask")
                if not np.array_equal(ours, paper):
                    wrong.append(f"seed {seed}, output {i}: not the mask of the paper's generator")
    print("\n".join(wrong))
    print(f"{len(streams)} masks of five seeds in ONNX Runtime {onnxruntime.__version__}")
    return 1 if wrong or len(streams) != 14 else 0


sys.exit(main(sys.argv[1]))
