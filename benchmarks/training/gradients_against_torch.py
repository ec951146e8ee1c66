"""Gradients of exported networks against PyTorch's, in double precision.

gradients_against_torch.py VIRIDIAN [NETWORK...] [--device reference|cpu] [--table FILE.md]

Each network is exported in training mode (torch.onnx.export, parameters unfolded). `viridian gradient --loss gradient
--optimizer none --gradients` makes its step, `viridian run` evaluates it, and every parameter's gradient is compared with
what PyTorch's autograd gives in double for the same weights, inputs and gradient of the output. On `reference` the step is
f64, and on `cpu` f32. Networks of torchvision get small images, because the reference kernels are slow. Dropout is off.
ONNX keeps attributes in f32: HardSigmoid's slope of 1/6 alone puts mobilenet_v3 4e-8 apart. With fewer values a channel
than here, batch normalisation amplifies rounding (mobilenet_v2: 3e-5 with two values, 1e-10 with twelve).
"""
import argparse
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
import torch_blocks  # noqa: E402

# relative L2 of each gradient
ALLOWED = {"reference": 1e-9, "cpu": 1e-4}


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
    "alexnet": vision("alexnet", 80),
    "vgg11": vision("vgg11", 32),
    "vgg11_bn": vision("vgg11_bn", 32),
    "squeezenet1_1": vision("squeezenet1_1", 48),
    "resnet18": vision("resnet18"),
    "resnet34": vision("resnet34"),
    "resnet50": vision("resnet50"),
    "resnext50_32x4d": vision("resnext50_32x4d"),
    "wide_resnet50_2": vision("wide_resnet50_2"),
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
    "swin_t": vision("swin_t", 32),
}
QUICK = ["mlp_relu", "mlp_gelu", "mlp_mish", "mlp_prelu", "convolutions_batch_norm", "convolutions_group_norm",
         "convolutions_instance_norm", "encoder_layer", "bert", "gpt_block", "resnet18", "shufflenet_v2_x0_5"]


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


def call(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[-1])
    return done.stdout


def gradients_of(viridian, model, inputs, seed, element, device, folder):
    """Every parameter's gradient by Viridian, by name."""
    model = model.to(element)
    inputs = tuple(x.to(element) if x.is_floating_point() else x for x in inputs)
    names = [f"x{i}" for i in range(len(inputs))]
    torch.onnx.export(model, inputs, str(folder / "model.onnx"), input_names=names, output_names=["out"],
                      training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False, opset_version=16)
    step = json.loads(call([viridian, "gradient", str(folder / "model.onnx"), "--loss", "gradient", "--optimizer", "none",
                            "--gradients", "--json", "-o", str(folder / "step.onnx")]))
    given = []
    zero = torch.tensor(0)  # Dropout of ratio 0 keeps everything, whatever is drawn
    numbers = [(name, zero) for name in ("viridian.seed", "viridian.first_sample") if name in step["inputs"]]
    for name, tensor in list(zip(names, inputs)) + [("gradient", seed.to(element))] + numbers:
        numpy.save(folder / f"{name}.npy", tensor.detach().numpy())
        given += ["--inputs", f"{name}={folder / name}.npy"]
    call([viridian, "run", str(folder / "step.onnx"), "--device", device, "--rounds", "1", "-o", str(folder / "out"), *given])
    return {path.name[:-len(".gradient.npy")]: numpy.load(path) for path in (folder / "out").glob("*.gradient.npy")}


def compare(viridian, name, device):
    """(largest relative error, parameters, the worst parameter)"""
    torch.manual_seed(sum(map(ord, name)))
    model, inputs = NETWORKS[name]()
    model = comparable(model.train())
    element = torch.float64 if device == "reference" else torch.float32
    with torch.no_grad():
        for parameter in model.parameters():  # no parameter is exactly 0, and no two channels are equal
            parameter += 0.01 * torch.randn_like(parameter)
    start = {key: value.clone() for key, value in model.state_dict().items()}
    exact = model.double()
    exact_inputs = tuple(x.double() if x.is_floating_point() else x for x in inputs)
    out = exact(*exact_inputs)
    seed = torch.randn(out.shape, dtype=torch.float64)
    out.backward(seed)
    wanted = {key: value.grad.numpy() for key, value in exact.named_parameters() if value.grad is not None}
    for parameter in model.parameters():
        parameter.grad = None
    model.load_state_dict(start)
    with tempfile.TemporaryDirectory() as folder:
        found = gradients_of(viridian, model, inputs, seed, element, device, pathlib.Path(folder))
    missing = [key for key in wanted if key not in found and numpy.abs(wanted[key]).max() > 0]
    if missing:
        raise RuntimeError(f"no gradient of {', '.join(missing[:4])}{' and others' if len(missing) > 4 else ''}")
    worst, place = 0.0, ""
    # A gradient that is zero but for rounding (a bias before a normalisation) is held against the others.
    typical = numpy.median([numpy.linalg.norm(value) / value.size ** 0.5 for value in wanted.values()])
    for key, value in wanted.items():
        size = max(numpy.linalg.norm(value), 1e-3 * typical * value.size ** 0.5)
        error = numpy.linalg.norm(found[key].astype(numpy.float64) - value) / size if key in found else 0.0
        if not error <= worst:
            worst, place = float(error), key
    return worst, len(wanted), place


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("viridian")
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--device", default="reference", choices=["reference", "cpu"])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--table")
    options = parser.parse_args()
    names = options.networks or (QUICK if options.quick else list(NETWORKS))
    lines, failed = [], []
    for name in names:
        try:
            error, count, place = compare(options.viridian, name, options.device)
            good = error <= ALLOWED[options.device]
            said = f"{error:.1e} ({place})"
        except Exception as problem:  # a network that cannot be exported or is refused is a row of the table
            good, count, said = False, 0, str(problem)[:300]
        print(f"{'ok    ' if good else 'FAILED'} {name:<28} {count:>4} parameters  {said}", flush=True)
        lines.append(f"| {name} | {count} | {said} | {'yes' if good else '**no**'} |")
        if not good:
            failed.append(name)
    print(f"{len(names) - len(failed)} of {len(names)} networks agree to {ALLOWED[options.device]:g} on {options.device}")
    if options.table:
        pathlib.Path(options.table).write_text(
            f"| network | parameters | largest relative error (parameter) | within {ALLOWED[options.device]:g} |\n|---|---|---|---|\n"
            + "\n".join(lines) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
