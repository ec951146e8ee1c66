"""Models that PyTorch exported, at several operator sets, evaluate to what PyTorch computes.

torch_models.py MODEL_TOOL   (Debian's python3 with python3-torch and python3-torchvision; random weights)
"""
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import torch
import torchvision

warnings.filterwarnings("ignore")


class Recurrent(torch.nn.Module):
    """Embedding, bidirectional LSTM, GRU, linear."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(20, 8)
        self.lstm = torch.nn.LSTM(8, 6, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = torch.nn.GRU(12, 5, batch_first=True)
        self.head = torch.nn.Linear(5, 3)

    def forward(self, tokens):
        return self.head(self.gru(self.lstm(self.embedding(tokens))[0])[0]).softmax(-1)


class TinyVit(torch.nn.Module):
    """Patches, class token, two encoder layers, head: the shape of a vision transformer."""

    def __init__(self, width=16, patches=16):
        super().__init__()
        self.patch = torch.nn.Conv2d(3, width, 8, 8)
        self.token = torch.nn.Parameter(torch.randn(1, 1, width))
        self.position = torch.nn.Parameter(torch.randn(1, patches + 1, width))
        layer = torch.nn.TransformerEncoderLayer(width, 4, 32, activation="gelu", batch_first=True)
        self.encoder = torch.nn.TransformerEncoder(layer, 2)
        self.norm = torch.nn.LayerNorm(width)
        self.head = torch.nn.Linear(width, 10)

    def forward(self, image):
        x = self.patch(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.position
        for layer in self.encoder.layers:  # written out: the fused path has no export
            y = layer.self_attn(x, x, x, need_weights=False)[0]
            x = layer.norm1(x + y)
            x = layer.norm2(x + layer.linear2(torch.nn.functional.gelu(layer.linear1(x))))
        return self.head(self.norm(x)[:, 0])


class Controlled(torch.nn.Module):
    """A loop whose count and a branch whose side are data."""

    def forward(self, x, count):
        total = x
        for i in range(int(count)):
            total = total * 2 + i
        if bool(total.sum() > 0):
            total = total - x
        else:
            total = total + x
        return total


def evaluate(binary, model, inputs):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for i, value in enumerate(inputs):
            np.save(folder / f"input_{i}.npy", value.numpy())
        done = subprocess.run([binary, "run", str(model), str(folder)], capture_output=True, text=True)
        if done.returncode != 0:
            return done.stderr.strip()
        return np.load(folder / "output_0.npy")


def cases():
    image = torch.rand(1, 3, 64, 64)
    yield "squeezenet1_1", torchvision.models.squeezenet1_1(weights=None), (image,), (9, 11, 13, 17)
    yield "mobilenet_v2", torchvision.models.mobilenet_v2(weights=None), (image[:, :, :32, :32],), (13,)
    yield "shufflenet", torchvision.models.shufflenet_v2_x0_5(weights=None), (image[:, :, :32, :32],), (11,)
    yield "resnet18", torchvision.models.resnet18(weights=None), (image[:, :, :32, :32],), (9, 17)
    yield "recurrent", Recurrent(), (torch.randint(0, 20, (2, 7)),), (9, 11, 13, 17)
    yield "tiny_vit", TinyVit(), (image[:, :, :32, :32],), (11, 13, 17)
    yield "controlled", torch.jit.script(Controlled()), (torch.rand(2, 3), torch.tensor(3)), (11, 13, 17)


def main(binary):
    torch.manual_seed(5)
    passed, wrong = 0, []
    for name, module, inputs, opsets in cases():
        module = module.eval()
        with torch.no_grad():
            expected = module(*inputs).numpy()
        for opset in opsets:
            with tempfile.TemporaryDirectory() as folder:
                model = pathlib.Path(folder) / "model.onnx"
                torch.onnx.export(module, inputs, str(model), opset_version=opset, verbose=False)
                got = evaluate(binary, model, inputs)
            label = f"{name}, operator set {opset}"
            if isinstance(got, str):
                wrong.append(f"{label}: {got}")
            elif got.shape != expected.shape or not np.allclose(got, expected, rtol=1e-3, atol=1e-5):
                wrong.append(f"{label}: outputs differ")
            else:
                passed += 1
    print("\n".join(wrong))
    print(f"{passed} exported models evaluate as PyTorch {torch.__version__} does, {len(wrong)} do not")
    return 1 if wrong else 0


sys.exit(main(sys.argv[1]))
