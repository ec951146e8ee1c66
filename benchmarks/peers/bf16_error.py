#!/usr/bin/env python3
"""bf16_error.py MODEL.onnx...: relative L2 of OpenVINO's outputs in bf16 against its own in f32, on the workers' inputs; the worst output of
each model, and whether the best class of the last axis stayed."""
import sys

import numpy as np
import openvino
import openvino.properties.hint as hint

import worker


def outputs(path, precision):
    core = openvino.Core()
    compiled = core.compile_model(path, "CPU", {"INFERENCE_NUM_THREADS": "2", hint.inference_precision(): getattr(openvino.Type, precision)})
    inputs = worker.seeded_inputs([(p.any_name, list(p.shape), p.element_type.to_dtype()) for p in compiled.inputs], 2)
    return [np.asarray(value, np.float64) for value in compiled.create_infer_request().infer(inputs).values()]


for path in sys.argv[1:]:
    pairs = list(zip(outputs(path, "f32"), outputs(path, "bf16")))
    error = max(np.linalg.norm(a - b) / np.linalg.norm(a) for a, b in pairs)
    same = all((a.argmax(-1) == b.argmax(-1)).all() for a, b in pairs)
    print(f"{path}: {error:.4f}, best class {'the same' if same else 'another'}")
