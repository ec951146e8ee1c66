"""worker_onnxruntime.py MODEL THREADS BOUND"""
import sys

import numpy as np
import onnxruntime

import worker

TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(bool)": np.bool_}


def prepare():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(sys.argv[2])
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
    inputs = worker.seeded_inputs([(i.name, i.shape, TYPES[i.type]) for i in session.get_inputs()], int(sys.argv[3]))
    return lambda: session.run(None, inputs)


if __name__ == "__main__":
    worker.serve(prepare)
