"""The networks whose exported gradients are compared with PyTorch's, small enough for reference kernels."""
import copy
import pathlib
import sys

import numpy
import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
import torch_blocks  # noqa: E402


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
