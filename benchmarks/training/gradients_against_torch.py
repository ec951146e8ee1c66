"""Gradients of exported networks against PyTorch's.

gradients_against_torch.py VIRIDIAN [NETWORK...] [--ways reference:old,cpu:old,cpu:new] [--quick] [--kept FILE.json] [--page FILE.md]

Each network is exported in training mode, by PyTorch's old exporter (TorchScript) or its new one (torch.export, from version 2
on), with parameters unfolded. `viridian gradient --loss gradient --optimizer none --gradients` makes its step, `viridian run`
evaluates it, and every parameter's gradient is compared with what PyTorch's autograd gives in double for the same weights,
inputs and gradient of the output. A way is DEVICE:EXPORTER. On `reference` the step is f64 and must agree to 1e-9, and on
`cpu` it is f32 and must agree to 1e-4.

In f32, rounding may open a rectifier that stays closed in double, or move a maximum, and one such element moves all gradients
before it. Gradients that do not agree are therefore compared once more on the same branches: PyTorch in double takes, in each
rectifier and maximum, the branches that the run in f32 took (branches_of_torch.py). PyTorch's own gradients in f32 are compared
in the same two ways.

Nine of the networks are one perceptron with nine activations, and three are one small network of convolutions with three
normalisations; the Transformers are written here in the style of Hugging Face's. Networks of torchvision get small images, because the reference kernels are slow. AlexNet and VGG average each channel
before their classifier, whose first matrix is made for that. Dropout is off. ONNX keeps attributes in f32, so PyTorch computes
with the nearest f32 of an epsilon, of SELU's two numbers and of HardSigmoid's slope. With fewer values a channel than here,
batch normalisation amplifies rounding (mobilenet_v2: 3e-5 with two values, 1e-10 with twelve). ResNets begin with small
branches (torchvision's zero_init_residual): without that, rounding in f32 moves PyTorch's own gradients of ResNet-50 by 3 %.
--kept holds the rows of a run that was stopped, which goes on from there.
"""
import argparse
import contextlib
import copy
import dataclasses
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy
import torch
from torch import nn

import branches_of_torch
import distance
from exported import NETWORKS, QUICK, as_exported, comparable

warnings.filterwarnings("ignore")
# relative L2 of each gradient
ALLOWED = {"reference": 1e-9, "cpu": 1e-4}
NEAR = 3  # times as far from double as PyTorch's own gradients in f32
LEAST = {"reference": 1e-3, "cpu": 1e-2}  # of the median size of gradients: less is rounding
ZERO = {"reference": 0, "cpu": 1e-9}  # of it: a gradient in double that is less is zero, and counts with the median size


def call(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[-1])
    return done.stdout


def export_old(model, inputs, names, path):
    old = {"dynamo": False} if torch.__version__ >= "2" else {}
    torch.onnx.export(model, inputs, str(path), input_names=names, output_names=["out"],
                      training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False, opset_version=16, **old)


def export_new(model, inputs, names, path):
    """The exporter's own optimiser would fold parameters, so it is left out; only sequences become plain splits. The exporter
    writes batch normalisation as it infers, even in training, so its training mode is put back."""
    import onnx
    import onnxscript
    program = torch.onnx.export(model, inputs, dynamo=True, input_names=names, output_names=["out"],
                                training=torch.onnx.TrainingMode.TRAINING, optimize=False, verbose=False)
    onnxscript.optimizer.fold_constants(program.model, should_fold=lambda node: False)
    onnxscript.optimizer.remove_unused_nodes(program.model)
    program.save(str(path), external_data=False)
    proto = onnx.load(str(path))
    training = {module for module in model.modules() if isinstance(module, nn.modules.batchnorm._BatchNorm) and module.training}
    for node in proto.graph.node:
        if node.op_type == "BatchNormalization" and training:
            node.attribute.append(onnx.helper.make_attribute("training_mode", 1))
    onnx.save(proto, str(path))


class Step:
    """The training step of an exported network."""

    def __init__(self, viridian, model, inputs, seed, way, folder):
        self.viridian, self.folder = viridian, folder
        self.device, exporter = way.split(":")
        element = torch.float64 if self.device == "reference" else torch.float32
        self.model = copy.deepcopy(model).to(element)
        inputs = tuple(x.to(element) if x.is_floating_point() else x for x in inputs)
        names = [f"x{i}" for i in range(len(inputs))]
        (export_new if exporter == "new" else export_old)(self.model, inputs, names, folder / "model.onnx")
        step = json.loads(call([viridian, "gradient", folder / "model.onnx", "--loss", "gradient", "--optimizer", "none", "--gradients",
                                "--json", "-o", folder / "step.onnx"]))
        zero = torch.tensor(0)  # Dropout of ratio 0 keeps everything, whatever is drawn
        numbers = [(name, zero) for name in ("viridian.seed", "viridian.first_sample") if name in step["inputs"]]
        self.given = []
        for name, tensor in list(zip(names, inputs)) + [("gradient", seed.to(element))] + numbers:
            numpy.save(folder / f"{name}.npy", tensor.detach().numpy())
            self.given += ["--inputs", f"{name}={folder / name}.npy"]

    def run(self):
        """All outputs by name."""
        told = json.loads(call([self.viridian, "run", self.folder / "step.onnx", "--device", self.device, "--rounds", "0", "--json", "-o",
                                self.folder / "out", *self.given]))
        return {entry["name"]: numpy.load(entry["file"]) for entry in told["outputs"]}

    def gradients(self, outputs):
        """Every parameter's gradient by its name in PyTorch. A parameter of a module that occurs twice has two names."""
        known = {f"{place}.{name}" if place else name: value for place, module in self.model.named_modules(remove_duplicate=False)
                 for name, value in module._parameters.items()}
        first = {id(value): name for name, value in self.model.named_parameters()}
        found = {name.removesuffix(".gradient"): value for name, value in outputs.items() if name.endswith(".gradient")}
        return {first[id(known[name])] if name in known else name: value for name, value in found.items()}


class Case:
    """A network with its inputs, and its gradients by PyTorch in double."""

    def __init__(self, name):
        torch.manual_seed(sum(map(ord, name)))
        model, self.inputs = NETWORKS[name]()
        self.model = comparable(model.train())
        with torch.no_grad():
            for parameter in self.model.parameters():  # no parameter is exactly 0, and no two channels are equal
                parameter += 0.01 * torch.randn_like(parameter)
            shape = copy.deepcopy(self.model)(*self.inputs).shape
        self.seed = torch.randn(shape, dtype=torch.float64)
        self.wanted = self.of_torch(torch.float64)

    def of_torch(self, element, mode=None):
        """PyTorch's gradients by name. `mode`: what its functions go through, of branches_of_torch.py."""
        model = as_exported(self.model).to(element)
        with mode or contextlib.nullcontext():
            out = model(*(x.to(element) if x.is_floating_point() else x for x in self.inputs))
        out.backward(self.seed.to(element))
        return {key: value.grad.numpy() for key, value in model.named_parameters() if value.grad is not None}

    def on_branches(self, found, kinks):
        """The cell of gradients in f32 beside PyTorch's in double on the branches of that run."""
        force = branches_of_torch.Force(kinks)
        wanted = self.of_torch(torch.float64, force)
        force.end()
        return Cell("cpu", distance.worst(found, self.wanted, LEAST["cpu"], ZERO["cpu"])[0],
                    *distance.worst(found, wanted, LEAST["cpu"], ZERO["cpu"])[::-1], force.apart)

    def of_f32(self):
        """The cell of PyTorch's own gradients in f32."""
        keep = branches_of_torch.Keep()
        return self.on_branches(self.of_torch(torch.float32, keep), keep.kept)

    def compare(self, viridian, way):
        """The cell of Viridian's gradients."""
        with tempfile.TemporaryDirectory() as folder:
            step = Step(viridian, self.model, self.inputs, self.seed, way, pathlib.Path(folder))
            found = step.gradients(step.run())
            missing = [key for key in self.wanted if key not in found and numpy.abs(self.wanted[key]).max() > 0]
            if missing:
                raise RuntimeError(f"no gradient of {', '.join(missing[:4])}{' and others' if len(missing) > 4 else ''}")
            cell = Cell(step.device, *distance.worst(found, self.wanted, LEAST[step.device], ZERO[step.device]))
            if step.device == "reference" or cell.good():
                return cell
            import branches
            kinks = branches.show(step.folder / "step.onnx")
            outputs = step.run()
            return self.on_branches(step.gradients(outputs), [(op, outputs[name]) for op, name in kinks])


@dataclasses.dataclass
class Cell:
    """`error`: the distance of the worst gradient, which is that of `place`, from PyTorch in double. `same`: the distance on the
    same branches, where `apart` elements take others."""
    device: str
    error: float
    place: str
    same: float = None
    apart: int = 0

    def least(self):
        return self.error if self.same is None else min(self.error, self.same)

    def good(self):
        return self.least() <= ALLOWED[self.device]

    def __str__(self):
        if self.same is None or self.error <= ALLOWED[self.device]:
            return f"{self.error:.1e} ({self.place.removeprefix('inner.')})"
        return f"{self.error:.1e}; same branches {self.same:.1e} ({self.place.removeprefix('inner.')}), {self.apart} apart"


def judge(viridian, name, ways):
    """The network's row: its number of gradients, PyTorch's own in f32, and for each way a verdict and what the table says."""
    row = {"gradients": 0, "torch": "", "ways": {}}
    try:
        case = Case(name)
        f32 = case.of_f32() if any(way.startswith("cpu") for way in ways) else None
    except Exception as problem:
        row["ways"] = {way: ["refused", f"not compared: {problem}"[:200]] for way in ways}
        return row
    row["gradients"], row["torch"] = len(case.wanted), str(f32 or "")
    for way in ways:
        try:
            cell = case.compare(viridian, way)
            verdict = "far"
            if cell.good():
                verdict = "agrees" if cell.error <= ALLOWED[cell.device] else "same branches"
            elif f32 and cell.least() <= NEAR * f32.least():
                verdict = "near"
            row["ways"][way] = [verdict, str(cell)]
        except Exception as problem:  # a network that cannot be exported or is refused is a row of the table
            row["ways"][way] = ["refused", str(problem)[:300].replace("|", "/").replace("\n", " ")]
    return row


def told(rows, ways):
    """A line for each way."""
    for way in ways:
        verdicts = [row["ways"][way][0] for row in rows.values()]
        line = f"{verdicts.count('agrees')} of {len(rows)} networks agree to {ALLOWED[way.split(':')[0]]:g} on {way}"
        for verdict, words in (("same branches", "agree on the same branches"),
                               ("near", f"are at most {NEAR} times as far from double as PyTorch's own in f32"), ("far", "do not agree"),
                               ("refused", "were not compared")):
            if verdict in verdicts:
                line += f", {verdicts.count(verdict)} {words}"
        yield line


def write(options, rows, ways):
    import page
    table = [[name, row["gradients"], *([row["torch"]] if options.f32 else []),
              *(text if verdict in ("agrees", "same branches") else f"**{text}**" for verdict, text in map(row["ways"].get, ways))]
             for name, row in rows.items()]
    parts = [" ".join(part.split()) for part in __doc__.split("\n\n")[2:]]
    page.write(options.page, "Gradients against PyTorch's, in " + ("f32" if options.f32 else "double"), *(parts if options.f32 else [parts[0], parts[2]]),
               "\n".join(f"- {line}." for line in told(rows, ways)),
               page.table(["network", "gradients", *(["PyTorch in f32"] if options.f32 else []), *ways], table),
               "Every number is the relative L2 distance of the worst gradient from PyTorch's in double, with its parameter. A gradient that is "
               f"small counts as if it had {LEAST['cpu' if options.f32 else 'reference']:g} of the median size of the network's gradients"
               + (", and one that is zero in exact arithmetic, such as that of a bias before a normalisation, as if it had the median size. "
                  "*Same branches* is the distance from PyTorch in double on the branches of the run in f32, and *apart* is how many elements "
                  "of rectifiers and maxima take others in double." if options.f32 else ".") + " What is bold is above the bound.",
               page.settings(options.viridian, f"PyTorch {torch.__version__}"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("viridian")
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--ways", default="reference:old")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--kept", help="rows of an earlier run that was stopped, and of this one")
    parser.add_argument("--page")
    options = parser.parse_args()
    names = options.networks or (QUICK if options.quick else list(NETWORKS))
    ways = options.ways.split(",")
    options.f32 = any(way.startswith("cpu") for way in ways)
    kept = pathlib.Path(options.kept) if options.kept else None
    rows = json.loads(kept.read_text()) if kept and kept.exists() else {}
    for name in names:
        if name in rows:
            continue
        rows[name] = judge(options.viridian, name, ways)
        print(name, rows[name]["gradients"], rows[name]["torch"], *(f"{way}: {' '.join(said)}" for way, said in rows[name]["ways"].items()),
              sep="  ", flush=True)
        if kept:
            kept.write_text(json.dumps(rows))
    rows = {name: rows[name] for name in names}
    print("\n".join(told(rows, ways)))
    if options.page:
        write(options, rows, ways)
    return 1 if any(verdict in ("far", "near", "refused") for row in rows.values() for verdict, _ in row["ways"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
