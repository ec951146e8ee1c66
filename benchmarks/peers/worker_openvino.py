"""worker_openvino.py MODEL THREADS BOUND [PRECISION]"""
import sys

import openvino
import openvino.properties.hint as hint

import worker


def prepare():
    core = openvino.Core()
    precision = sys.argv[4] if len(sys.argv) > 4 else "f32"
    config = {"INFERENCE_NUM_THREADS": sys.argv[2], "NUM_STREAMS": "1", "PERFORMANCE_HINT": "LATENCY",
              hint.inference_precision(): getattr(openvino.Type, precision)}
    compiled = core.compile_model(sys.argv[1], "CPU", config)
    inputs = worker.seeded_inputs([(p.any_name, list(p.shape), p.element_type.to_dtype()) for p in compiled.inputs],
                                  int(sys.argv[3]))
    request = compiled.create_infer_request()
    return lambda: request.infer(inputs)


worker.serve(prepare)
