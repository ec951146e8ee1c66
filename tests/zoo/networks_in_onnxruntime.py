"""What the zoo writes, ONNX Runtime runs, with the outputs of the reference kernels; and what its optimiser makes of it
(operators of com.microsoft), Viridian reads and runs.

networks_in_onnxruntime.py VIRIDIAN MODEL_TOOL [NAME...]
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

onnxruntime.set_default_logger_severity(4)
SMALL = ["--sequence", "12", "--layers", "2", "--hidden", "128"]
NETWORKS = {
    "alexnet": [],
    "squeezenet1_0": [],
    "squeezenet1_1": ["--batch", "2"],
    "resnet18": ["--keep-batch-norm"],
    "inception_v3": [],
    "mobilenet_v2": ["--batch", "2"],
    "dcgan_generator": [],
    "dcgan_discriminator": ["--batch", "2"],
    "bert_base": SMALL + ["--batch", "2"],
    "albert_base": SMALL,
    "gpt2": SMALL + ["--batch", "2"],
    "encoder_layer": ["--sequence", "12", "--hidden", "128", "--heads", "4", "--mask", "padding"],
    "mha": ["--sequence", "12", "--hidden", "128", "--attention", "cross", "--keys", "9"],
    "decoder_attention": ["--sequence", "12", "--hidden", "128"],
    "mlp": ["--batch", "3"],
    "small_cnn": ["--batch", "3", "--keep-batch-norm"],
    "small_resnet": ["--batch", "3", "--keep-batch-norm"],
    "small_transformer": ["--batch", "2", "--sequence", "20"],
}


def inputs_for(session, large_vocabulary):
    random = np.random.default_rng(1)
    arrays = {}
    for entry in session.get_inputs():
        if entry.name == "attention_mask":
            mask = np.ones(entry.shape, np.int64)
            mask[:, -3:] = 0
            arrays[entry.name] = mask
        elif entry.type == "tensor(int64)":
            most = 2 if "type" in entry.name else 30000 if large_vocabulary else 256
            arrays[entry.name] = random.integers(0, most, entry.shape)
        elif entry.type == "tensor(bool)":
            arrays[entry.name] = np.zeros(entry.shape, bool)
            arrays[entry.name][:, -3:] = True
        else:
            arrays[entry.name] = random.standard_normal(entry.shape).astype(np.float32)
    return arrays


def compare(viridian, model_tool, name, folder):
    model = folder / "model.onnx"
    subprocess.run([viridian, "zoo", name, "-o", model, *NETWORKS.get(name, [])], check=True, stdout=subprocess.DEVNULL)
    onnx.checker.check_model(str(model))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(folder / "optimized.onnx")
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    arrays = inputs_for(session, name != "small_transformer")
    for i, array in enumerate(arrays.values()):
        np.save(folder / f"input_{i}.npy", array)
    expected = session.run(None, arrays)
    worst = 0.0
    for path in model, folder / "optimized.onnx":
        subprocess.run([model_tool, "run", path, folder], check=True, stdout=subprocess.DEVNULL)
        for i, theirs in enumerate(expected):
            ours = np.load(folder / f"output_{i}.npy")
            if ours.shape != theirs.shape:
                return float("inf")
            # Relative to the output's own scale: float sums in another order.
            worst = max(worst, float(np.abs(ours - theirs).max() / np.abs(theirs).max()))
    return worst


def main(viridian, model_tool, *names):
    wrong = []
    for name in names or NETWORKS:
        with tempfile.TemporaryDirectory() as folder:
            worst = compare(viridian, model_tool, name, pathlib.Path(folder))
        print(f"{name:<20} largest difference {worst:.1e} of the largest output")
        if not worst < 1e-4:
            wrong.append(name)
    if wrong:
        sys.exit(f"differ: {' '.join(wrong)}")


main(*sys.argv[1:])
