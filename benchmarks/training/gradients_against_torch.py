"""Gradients of exported networks against PyTorch's.

gradients_against_torch.py VIRIDIAN [NETWORK...] [--ways reference:old,cpu:old,cpu:new] [--quick] [--kept FILE.json] [--page FILE.md]

Each network is exported in training mode, by PyTorch's old exporter (TorchScript) or its new one (torch.export, from version 2
on), with parameters unfolded. `viridian gradient --loss gradient --optimizer none --gradients` makes its step, `viridian run`
evaluates it, and every parameter's gradient is compared with what PyTorch's autograd gives in double for the same weights,
inputs and gradient of the output. A way is DEVICE:EXPORTER. On `reference` the step is f64 and must agree to 1e-9, and on
`cpu` it is f32 and must agree to 1e-4.

Networks of torchvision get small images, because the reference kernels are slow. AlexNet and VGG average each channel
before their classifier, whose first matrix is made for that. Dropout is off. ONNX keeps attributes in f32, so PyTorch computes
with the nearest f32 of an epsilon, of SELU's two numbers and of HardSigmoid's slope. With fewer values a channel than here,
batch normalisation amplifies rounding (mobilenet_v2: 3e-5 with two values, 1e-10 with twelve). ResNets begin with small
branches (torchvision's zero_init_residual): without that, rounding in f32 moves PyTorch's own gradients of ResNet-50 by 3 %.
--kept holds the rows of a run that was stopped, which goes on from there.
"""
import argparse
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy
import torch
from torch import nn

warnings.filterwarnings("ignore")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
import distance  # noqa: E402
import torch_blocks  # noqa: E402

# relative L2 of each gradient
ALLOWED = {"reference": 1e-9, "cpu": 1e-4}
NEAR = 3  # times as far from double as PyTorch's own gradients in f32
DRAWS = 3
LEAST = {"reference": 1e-3, "cpu": 1e-2}  # of the median size of gradients: less is rounding


class First(nn.Module):
    """The first output alone."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, *inputs):
        out = self.inner(*inputs)
        if isinstance(out, dict):
            out = out["out"]
        return out[0] if isinstance(out, tuple) else out


class Mlp(nn.Module):
    def __init__(self, activation):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(7, 11), activation, nn.Linear(11, 5), activation, nn.Linear(5, 3))

    def forward(self, x):
        return self.layers(x)


class Convolutions(nn.Module):
    """Groups, dilations, strides that do not divide, padding, and a transposed convolution."""

    def __init__(self, norm):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), norm(8), nn.ReLU(),
                                    nn.Conv2d(8, 8, 3, groups=4, dilation=2, padding=2), nn.LeakyReLU(0.125),
                                    nn.ConvTranspose2d(8, 6, 3, stride=2, padding=1, output_padding=1), nn.SiLU(),
                                    nn.AvgPool2d(2, stride=2, padding=1), nn.MaxPool2d(3, stride=2, ceil_mode=True),
                                    nn.Conv2d(6, 4, 1))

    def forward(self, x):
        return self.layers(x).mean((2, 3))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(48, 3, 40, dropout=0.0, batch_first=True)

    def forward(self, x):
        return self.layer(x)


class Gpt(nn.Module):
    """A decoder block with a causal mask that is added."""

    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = (part.view(x.shape[0], x.shape[1], self.heads, self.size).transpose(1, 2)
                   for part in self.attention(self.norm1(x)).split(x.shape[2], 2))
        scores = q @ k.transpose(-1, -2) / self.size ** 0.5
        hidden = torch.triu(torch.full((x.shape[1], x.shape[1]), -1e4, dtype=x.dtype), 1)
        mixed = (torch.softmax(scores + hidden, -1) @ v).transpose(1, 2).reshape(x.shape)
        x = x + self.projection(mixed)
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x)), approximate="tanh"))


def image(size=64, batch=3):
    return (torch.randn(batch, 3, size, size),)


def vision(name, size=64, **options):
    import torchvision
    return lambda: (First(getattr(torchvision.models, name)(weights=None, **options)), image(size))


def short(name, size):
    """A network with a classifier of one value a channel."""
    def make():
        import torchvision
        model = getattr(torchvision.models, name)(weights=None)
        model.avgpool = nn.AdaptiveAvgPool2d(1)
        place = next(i for i, layer in enumerate(model.classifier) if isinstance(layer, nn.Linear))
        model.classifier[place] = nn.Linear(256 if name == "alexnet" else 512, 4096)
        return First(model), image(size)
    return make


def swin():
    """swin_t with heads of 16 channels: the exporter computes 1 / sqrt(channels) in f32, which is exact for 16 and not for 32."""
    import torchvision
    return torchvision.models.SwinTransformer(patch_size=[4, 4], embed_dim=96, depths=[2, 2, 6, 2], num_heads=[6, 12, 24, 48], window_size=[7, 7])


def tokens(*shape, below=50):
    return torch.randint(0, below, shape)


NETWORKS = {
    "mlp_relu": lambda: (Mlp(nn.ReLU()), (torch.randn(4, 7),)),
    "mlp_gelu": lambda: (Mlp(nn.GELU()), (torch.randn(4, 7),)),
    "mlp_tanh": lambda: (Mlp(nn.Tanh()), (torch.randn(4, 7),)),
    "mlp_elu": lambda: (Mlp(nn.ELU()), (torch.randn(4, 7),)),
    "mlp_selu": lambda: (Mlp(nn.SELU()), (torch.randn(4, 7),)),
    "mlp_softplus": lambda: (Mlp(nn.Softplus()), (torch.randn(4, 7),)),
    "mlp_hardswish": lambda: (Mlp(nn.Hardswish()), (torch.randn(4, 7),)),
    "mlp_mish": lambda: (Mlp(nn.Mish()), (torch.randn(4, 7),)),
    "mlp_prelu": lambda: (Mlp(nn.PReLU()), (torch.randn(4, 7),)),
    "convolutions_batch_norm": lambda: (Convolutions(nn.BatchNorm2d), image(21)),
    "convolutions_group_norm": lambda: (Convolutions(lambda n: nn.GroupNorm(2, n)), image(21)),
    "convolutions_instance_norm": lambda: (Convolutions(lambda n: nn.InstanceNorm2d(n, affine=True)), image(21)),
    "encoder_layer": lambda: (Attention(), (torch.randn(2, 5, 48),)),
    "bert": lambda: (First(torch_blocks.Bert(layers=2, width=192, vocabulary=60)), (tokens(2, 9), torch.ones(2, 9))),
    "gpt_block": lambda: (Gpt(), (torch.randn(2, 7, 64),)),
    "bert_layer": lambda: (torch_blocks.BertLayer(64, 4, 96), (torch.randn(2, 7, 64), torch.ones(2, 7))),
    "alexnet": short("alexnet", 80),
    "vgg11": short("vgg11", 32),
    "vgg11_bn": short("vgg11_bn", 64),
    "squeezenet1_1": vision("squeezenet1_1", 48),
    "resnet18": vision("resnet18", zero_init_residual=True),
    "resnet34": vision("resnet34", zero_init_residual=True),
    "resnet50": vision("resnet50", zero_init_residual=True),
    "resnext50_32x4d": vision("resnext50_32x4d", zero_init_residual=True),
    "wide_resnet50_2": vision("wide_resnet50_2", zero_init_residual=True),
    "mobilenet_v2": vision("mobilenet_v2"),
    "mobilenet_v3_small": vision("mobilenet_v3_small"),
    "mobilenet_v3_large": vision("mobilenet_v3_large"),
    "mnasnet0_5": vision("mnasnet0_5"),
    "mnasnet1_0": vision("mnasnet1_0"),
    "shufflenet_v2_x0_5": vision("shufflenet_v2_x0_5"),
    "shufflenet_v2_x1_0": vision("shufflenet_v2_x1_0"),
    "efficientnet_b0": vision("efficientnet_b0"),
    "efficientnet_b1": vision("efficientnet_b1"),
    "efficientnet_v2_s": vision("efficientnet_v2_s"),
    "regnet_x_400mf": vision("regnet_x_400mf"),
    "regnet_y_400mf": vision("regnet_y_400mf"),
    "densenet121": vision("densenet121"),
    "googlenet": vision("googlenet", 32, aux_logits=False, init_weights=False),
    "inception_v3": vision("inception_v3", 75, aux_logits=False, init_weights=False),
    "convnext_tiny": vision("convnext_tiny"),
    "vit_b_32": vision("vit_b_32", 64, image_size=64),
    "swin_t": lambda: (First(swin()), image(32)),
}
QUICK = ["mlp_relu", "mlp_gelu", "mlp_mish", "mlp_prelu", "convolutions_batch_norm", "convolutions_group_norm",
         "convolutions_instance_norm", "encoder_layer", "bert", "gpt_block", "resnet18", "shufflenet_v2_x0_5"]


class Hardsigmoid(nn.Module):
    """With the slope that ONNX's attribute holds."""

    def forward(self, x):
        return (x * float(numpy.float32(1 / 6)) + 0.5).clamp(0, 1)


class Selu(nn.Module):
    """With the numbers that ONNX's attributes hold."""

    def forward(self, x):
        scale, slope = float(numpy.float32(1.0507009873554804934193349852946)), float(numpy.float32(1.6732632423543772848170429916717))
        return scale * torch.where(x > 0, x, slope * torch.expm1(x.clamp(max=0)))


def comparable(model):
    """Dropout and stochastic depth draw their own numbers, which two runtimes cannot share. ONNX keeps attributes in
    f32, so both sides get the nearest f32 epsilon."""
    for module in model.modules():
        if hasattr(module, "eps"):
            module.eps = float(numpy.float32(module.eps))
        if isinstance(module, nn.Dropout) or type(module).__name__ == "StochasticDepth":
            module.p = 0.0
            module.eval()
    return model


def as_exported(model):
    """A copy that computes with the attributes that an ONNX file holds."""
    model = copy.deepcopy(model)
    for module in list(model.modules()):
        for name, child in list(module._modules.items()):
            if isinstance(child, (nn.Hardsigmoid, nn.SELU)):
                setattr(module, name, Hardsigmoid() if isinstance(child, nn.Hardsigmoid) else Selu())
    return model


def call(command):
    done = subprocess.run(command, capture_output=True, text=True)
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


def gradients_of(viridian, model, inputs, seed, element, way, folder):
    """Every parameter's gradient by Viridian, by name."""
    device, exporter = way.split(":")
    model = copy.deepcopy(model).to(element)
    inputs = tuple(x.to(element) if x.is_floating_point() else x for x in inputs)
    names = [f"x{i}" for i in range(len(inputs))]
    (export_new if exporter == "new" else export_old)(model, inputs, names, folder / "model.onnx")
    step = json.loads(call([viridian, "gradient", str(folder / "model.onnx"), "--loss", "gradient", "--optimizer", "none",
                            "--gradients", "--json", "-o", str(folder / "step.onnx")]))
    given = []
    zero = torch.tensor(0)  # Dropout of ratio 0 keeps everything, whatever is drawn
    numbers = [(name, zero) for name in ("viridian.seed", "viridian.first_sample") if name in step["inputs"]]
    for name, tensor in list(zip(names, inputs)) + [("gradient", seed.to(element))] + numbers:
        numpy.save(folder / f"{name}.npy", tensor.detach().numpy())
        given += ["--inputs", f"{name}={folder / name}.npy"]
    call([viridian, "run", str(folder / "step.onnx"), "--device", device, "--rounds", "0", "-o", str(folder / "out"), *given])
    found = {path.name[:-len(".gradient.npy")]: numpy.load(path) for path in (folder / "out").glob("*.gradient.npy")}
    # A parameter of a module that occurs twice has two names.
    known = {f"{place}.{name}" if place else name: value for place, module in model.named_modules(remove_duplicate=False)
             for name, value in module._parameters.items()}
    first = {id(value): name for name, value in model.named_parameters()}
    return {first[id(known[name])] if name in known else name: value for name, value in found.items()}


def gradients_of_torch(model, inputs, seed, element):
    model = as_exported(model).to(element)
    out = model(*(x.to(element) if x.is_floating_point() else x for x in inputs))
    out.backward(seed.to(element))
    return {key: value.grad.numpy() for key, value in model.named_parameters() if value.grad is not None}


class Case:
    """A network with its inputs, and its gradients by PyTorch in double and in f32."""

    def __init__(self, name, draw):
        torch.manual_seed(sum(map(ord, name)) + 1000 * (draw - 1))
        model, self.inputs = NETWORKS[name]()
        self.model = comparable(model.train())
        with torch.no_grad():
            for parameter in self.model.parameters():  # no parameter is exactly 0, and no two channels are equal
                parameter += 0.01 * torch.randn_like(parameter)
            shape = copy.deepcopy(self.model)(*self.inputs).shape
        self.seed = torch.randn(shape, dtype=torch.float64)
        self.wanted = gradients_of_torch(self.model, self.inputs, self.seed, torch.float64)
        self.rounding, _ = distance.worst(gradients_of_torch(self.model, self.inputs, self.seed, torch.float32), self.wanted, LEAST["cpu"])

    def compare(self, viridian, way):
        """(largest relative error, the worst parameter)"""
        element = torch.float64 if way.startswith("reference") else torch.float32
        with tempfile.TemporaryDirectory() as folder:
            found = gradients_of(viridian, self.model, self.inputs, self.seed, element, way, pathlib.Path(folder))
        missing = [key for key in self.wanted if key not in found and numpy.abs(self.wanted[key]).max() > 0]
        if missing:
            raise RuntimeError(f"no gradient of {', '.join(missing[:4])}{' and others' if len(missing) > 4 else ''}")
        return distance.worst(found, self.wanted, LEAST[way.split(":")[0]])


def judge(viridian, name, ways):
    """The cells of the network's row, and the ways that failed. A rectifier that rounding opens in one program alone moves all
    gradients before it, so in f32 weights and inputs are drawn anew if the first ones do not agree."""
    cells, failed, rounding, count = {}, list(ways), [], 0
    for draw in range(1, DRAWS + 1):
        try:
            case = Case(name, draw)
        except Exception as problem:
            return [name, 0, str(problem)[:200]] + ["not compared"] * len(ways), list(ways)
        count = len(case.wanted)
        rounding.append(f"{case.rounding:.1e}")
        for way in list(failed):
            try:
                error, place = case.compare(viridian, way)
                good, said = error <= ALLOWED[way.split(":")[0]], f"{error:.1e} ({place.removeprefix('inner.')})"
            except Exception as problem:  # a network that cannot be exported or is refused is a row of the table
                good, said = False, str(problem)[:300].replace("|", "/").replace("\n", " ")
            if good:
                failed.remove(way)
                cells[way] = said if draw == 1 else f"{said}, draw {draw}"
            elif way not in cells:
                cells[way] = f"**{said}**"
        if not any(way.startswith("cpu") for way in failed):
            break
    return [name, count, ", ".join(rounding), *(cells[way] for way in ways)], failed


def near(row, cell):
    """Whether a gradient in f32 is above the bound because PyTorch's own are: the network amplifies rounding that much."""
    error = cell.strip("*").split()[0]
    return error[0].isdigit() and float(error) <= NEAR * float(row[2].split(",")[0])


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
    kept = pathlib.Path(options.kept) if options.kept else None
    results = json.loads(kept.read_text()) if kept and kept.exists() else {}
    for name in names:
        if name in results:
            continue
        row, failed = results[name] = judge(options.viridian, name, ways)
        print(f"{'FAILED' if failed else 'ok    '} " + "  ".join(map(str, row)), flush=True)
        if kept:
            kept.write_text(json.dumps(results))
    rows = [results[name][0] for name in names]
    missed = {way: [name for name in names if way in results[name][1]] for way in ways}
    told = []
    for place, way in enumerate(ways):
        told.append(f"{len(names) - len(missed[way])} of {len(names)} networks agree to {ALLOWED[way.split(':')[0]]:g} on {way}")
        if way.startswith("cpu"):
            close = sum(near(results[name][0], results[name][0][3 + place]) for name in missed[way])
            told[-1] += f", {close} more are at most {NEAR} times as far from double as PyTorch's own in f32"
    print("\n".join(told))
    if options.page:
        import page
        head = ["network", "gradients", "PyTorch in f32", *ways]
        page.write(options.page, "Gradients against PyTorch's", " ".join(__doc__.split("\n\n")[2].split()),
                   " ".join(__doc__.split("\n\n")[3].split()), "\n".join(f"- {line}." for line in told), page.table(head, rows),
                   "Every number is the relative L2 distance of the worst gradient from PyTorch's in double, with its parameter. *PyTorch in "
                   "f32* is that distance for PyTorch itself, for each draw of weights and inputs. A rectifier that rounding opens in one program "
                   "alone moves all gradients before it, so in f32 there are up to three draws. What is bold is above the bound.",
                   page.settings(options.viridian, f"PyTorch {torch.__version__}"))
    return 1 if any(missed.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
