"""session.py MODEL.onnx [DIMENSION=SIZE...]: runs a model under ONNX Runtime's names, from several threads at once."""
import concurrent.futures
import sys

import numpy as np

import viridian as ort

dims = {name: int(size) for name, _, size in (one.partition("=") for one in sys.argv[2:])}
session = ort.InferenceSession(sys.argv[1], dims=dims, providers=["CPUExecutionProvider"])
port, = session.get_inputs()
print("input:", port.name, port.type, port.shape)


def classify(seed):
    x = np.random.default_rng(seed).standard_normal(port.shape, dtype=np.float32)
    return int(session.run(None, {port.name: x})[0].argmax())


with concurrent.futures.ThreadPoolExecutor(8) as pool:
    print("classes:", list(pool.map(classify, range(16))))
