"""Plans and runs a small convolution with the installed package, beside the package onnx, which has a protobuf of its own.

Prints how long a run takes. Fails if the outputs differ from NumPy's, if oneDNN does not run on Viridian's threads, or if a
library of OpenMP or OpenCL was loaded."""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import viridian

random = np.random.default_rng(1)
weights = random.standard_normal((32, 16, 3, 3), dtype=np.float32)
graph = helper.make_graph(
    [helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["c"], ["y"])], "small",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16, 28, 28])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 32, 28, 28])], [numpy_helper.from_array(weights, "w")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "small.onnx")

net = viridian.optimize("small.onnx", budget="20,5s")
x = random.standard_normal((1, 16, 28, 28), dtype=np.float32)
with viridian.measure("runs") as m:
    for _ in range(100):
        y = np.asarray(net(x))
padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
expected = np.maximum(np.einsum("nchwij,ocij->nohw", windows, weights), 0)
difference = float(np.abs(y - expected).max() / np.abs(expected).max())
if difference > 1e-3:
    sys.exit(f"the outputs differ from NumPy's by {difference:.2g}")
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "/" in line}
foreign = [path for path in loaded if "OpenCL" in path or "gomp" in path]
if foreign:
    sys.exit(f"{foreign[0]} was loaded")
if not any("libdnnl" in path for path in loaded):
    sys.exit("oneDNN was not loaded")
print(net)
print(f"{m.seconds * 10:.3f} ms a run, largest difference {difference:.2g}")
