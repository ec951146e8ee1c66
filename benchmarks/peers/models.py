"""What is compared: a model, its inputs, and ONNX Runtime's outputs for them, as files that every system reads; and the
plans that Viridian makes for it."""
import math
import pathlib
import shlex
import subprocess
import sys
import time

import numpy as np
import onnxruntime

import worker

TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16, "tensor(int64)": np.int64,
         "tensor(int32)": np.int32, "tensor(uint8)": np.uint8, "tensor(int8)": np.int8, "tensor(bool)": np.bool_}


def file_name(name):
    """As Viridian names the file of a tensor."""
    return name.replace("/", "_").replace(":", "_") + ".npy"


def relative_error(ours, theirs):
    """The largest relative L2 over the outputs, as `viridian optimize` judges them."""
    worst = 0.0
    for a, b in zip(ours, theirs, strict=True):
        if a.shape != b.shape:
            return math.inf
        a, b = a.astype(np.float64), b.astype(np.float64)
        size = np.linalg.norm(b)
        error = np.linalg.norm(a - b) / size if size else np.linalg.norm(a)
        worst = max(worst, error if math.isfinite(error) else math.inf)
    return worst


def session(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


class Bound:
    """A model with seeded inputs: `folder`/inputs/NAME.npy, ONNX Runtime's outputs `folder`/expected/I.npy, and
    `folder`/tensors.txt, which names both for worker.hpp. Integers are drawn below `bound`."""

    def __init__(self, model, folder, bound, threads=2):
        self.model, self.folder = pathlib.Path(model), pathlib.Path(folder)
        self.inputs, self.tensors = self.folder / "inputs", self.folder / "tensors.txt"
        expected = self.folder / "expected"
        for part in (self.inputs, expected):
            part.mkdir(parents=True, exist_ok=True)
        original = session(model, threads)
        self.values = worker.seeded_inputs([(i.name, i.shape, TYPES[i.type]) for i in original.get_inputs()], bound)
        self.names = [output.name for output in original.get_outputs()]
        self.expected = [np.ascontiguousarray(value) for value in original.run(None, self.values)]
        lines = []
        for name, value in self.values.items():
            np.save(self.inputs / file_name(name), value)
            lines.append(f"input\t{name}\t{self.inputs / file_name(name)}\n")
        for i, (name, value) in enumerate(zip(self.names, self.expected)):
            np.save(expected / f"{i}.npy", value)
            lines.append(f"output\t{name}\t{expected / f'{i}.npy'}\n")
        self.tensors.write_text("".join(lines))

    def error(self, outputs):
        """The relative error of the outputs in a folder, named as Viridian or as worker.hpp names them."""
        files = [outputs / file_name(name) for name in self.names]
        if not files[0].exists():
            files = [outputs / f"{i}.npy" for i in range(len(self.names))]
        return relative_error([np.load(file) for file in files], self.expected)


def zoo_model(options, name):
    """The .onnx of a zoo network, or an .onnx file of the user's."""
    work = pathlib.Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    if name.endswith(".onnx"):
        return pathlib.Path(name).resolve()
    model = work / f"{name}{'' if options.batch == 1 else f'.batch{options.batch}'}.onnx"
    if not model.exists():
        extra = ["--sequence", "128"] if name.startswith(("bert", "albert", "gpt")) else []
        subprocess.run([options.viridian, "zoo", name, "-o", model, *extra, "--batch", str(options.batch)], check=True,
                       stdout=subprocess.DEVNULL)
    return model


def plan(options, model, precision="f32", exact=False, max_error=None):
    """The plan that `viridian optimize` makes with its default options, except for what is asked here. One that the same command
    made before is taken again, unless --again is given."""
    work = pathlib.Path(options.work)
    stem = model.stem + (f".{precision}" if precision != "f32" else "") + (".exact" if exact else "")
    optimised, planned, made_by = work / f"{stem}.opt.onnx", work / f"{stem}.opt.plan.json", work / f"{stem}.command.txt"
    first = ["chrt", "-f", "10"] if options.real_time else []
    command = [*first, options.viridian, "optimize", model, "-o", optimised, "--threads", str(options.threads),
               "--db", str(options.db or work / "cost.db"), "--json"]
    command += ["--search", options.search] if options.search else []
    command += ["--allow", precision] if precision != "f32" else []
    command += ["--exact-arithmetic"] if exact else []
    command += ["--max-error", max_error] if max_error else []
    command += ["--no-pin"] if options.pin == "none" else []
    line = shlex.join(map(str, command))
    if planned.exists() and made_by.exists() and made_by.read_text() == line and not options.again:
        return planned
    start = time.perf_counter()
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    print(f"optimised {stem} in {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
    (work / f"{stem}.result.json").write_text(result)
    made_by.write_text(line)
    return planned
