"""The .onnx that `viridian optimize` writes runs in ONNX Runtime with the outputs of the original, in f32 and, where the processor has bf16, beside a plan in bf16. Of a
plan in bf16: the file with bf16 weights alone runs there with outputs within the error budget, and the one with bf16 operators
passes ONNX's checker; inputs and outputs of both are f32.

optimised_runs_in_onnxruntime.py VIRIDIAN
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

NETWORKS = {"squeezenet1_1": [], "bert_base": ["--layers", "2", "--hidden", "128", "--sequence", "32"]}
ALLOWED_BF16 = 0.02  # the default of --max-error
ALLOWED = 1e-3  # relative L2: as for plans with Winograd kernels; weights were merged in f32
# Only a processor with bf16 instructions is allowed bf16.
PRECISIONS = [[], ["--allow", "bf16"]] if "avx512_bf16" in pathlib.Path("/proc/cpuinfo").read_text() else [[]]

onnxruntime.set_default_logger_severity(4)


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def inputs_of(model, seed):
    random = np.random.default_rng(seed)
    return {i.name: random.integers(0, 2, i.shape).astype(np.int64) if i.type == "tensor(int64)"
            else random.standard_normal(i.shape).astype(np.float32) for i in model.get_inputs()}


def difference(ours, theirs):
    if len(ours) != len(theirs) or any(a.shape != b.shape for a, b in zip(ours, theirs)):
        return float("inf")
    return max(float(np.linalg.norm(a.astype(float) - b) / np.linalg.norm(b)) for a, b in zip(ours, theirs))


def call(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"FAILED: {' '.join(map(str, command[1:4]))}: {done.stderr.strip()}")


def main(viridian):
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        database = folder / "cost.db"
        for name, options in NETWORKS.items():
            model = folder / f"{name}.onnx"
            call(viridian, "zoo", name, "-o", model, *options)
            original = session(model)
            feed = inputs_of(original, 1)
            expected = original.run(None, feed)
            for precision in PRECISIONS:
                output = folder / f"{name}{'.'.join(precision)}.opt.onnx"
                call(viridian, "optimize", model, "-o", output, "--db", database, "--threads", "1", "--proofs", "1",
                     "--budget", "60,2s", *precision)
                onnx.checker.check_model(str(output))
                error = difference(session(output).run(None, feed), expected)
                print(f"{output.name}: relative L2 {error:.1e}")
                if not error <= ALLOWED:
                    wrong.append(f"{output.name}: outputs differ by {error:.1e}")
                cast, stored = output.with_suffix(".bf16.onnx"), output.with_suffix(".bf16-weights.onnx")
                if precision and cast.exists():  # where the plan rounds anything
                    for file in (cast, stored):
                        onnx.checker.check_model(str(file))
                        graph = onnx.load(str(file)).graph
                        if not any(w.data_type == onnx.TensorProto.BFLOAT16 for w in graph.initializer):
                            wrong.append(f"{file.name}: no weight is bf16")
                        for value in [*graph.input, *graph.output]:
                            if value.type.tensor_type.elem_type == onnx.TensorProto.BFLOAT16:
                                wrong.append(f"{file.name}: {value.name} is no f32")
                    error = difference(session(stored).run(None, feed), expected)
                    print(f"{stored.name}: relative L2 {error:.1e}, {stored.stat().st_size / output.stat().st_size:.2f} of the f32 file")
                    if not 0 < error <= ALLOWED_BF16:
                        wrong.append(f"{stored.name}: outputs differ by {error:.1e}")
                output.unlink()
            model.unlink()
    sys.exit("\n".join(["FAILED:", *wrong]) if wrong else 0)


main(sys.argv[1])
