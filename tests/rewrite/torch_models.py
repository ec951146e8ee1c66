"""What PyTorch's exporter takes apart is recognised again, at operator sets 11 to 17, and outputs stay.

torch_models.py SIMPLIFY_TOOL   (Debian's python3 with python3-torch; random weights)
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import torch

warnings.filterwarnings("ignore")


class Block(torch.nn.Module):
    """A transformer layer as Hugging Face writes it."""

    def __init__(self, width=24, heads=3, causal=False, tanh=False):
        super().__init__()
        self.heads, self.causal, self.tanh = heads, causal, tanh
        for name in ("query", "key", "value", "out"):
            setattr(self, name, torch.nn.Linear(width, width))
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.dropout = torch.nn.Dropout(0.1)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, -1).permute(0, 2, 1, 3)

    def gelu(self, x):
        if self.tanh:
            return 0.5 * x * (1.0 + torch.tanh(0.7978845608028654 * (x + 0.044715 * torch.pow(x, 3.0))))
        return torch.nn.functional.gelu(x)

    def forward(self, x, mask):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = torch.matmul(q, k.transpose(-1, -2)) / (q.size(-1) ** 0.5) + mask
        weights = self.dropout(torch.softmax(scores, -1))
        y = torch.matmul(weights, v).permute(0, 2, 1, 3).contiguous()
        x = self.norm1(x + self.out(y.view(y.size(0), y.size(1), -1)))
        return self.norm2(x + self.down(self.gelu(self.up(x))))


class ConvNorm(torch.nn.Module):
    """Convolutions with batch norm, exported unfolded."""

    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Conv2d(3, 5, 3, padding=1, bias=False), torch.nn.BatchNorm2d(5), torch.nn.ReLU(),
            torch.nn.ZeroPad2d(1), torch.nn.Conv2d(5, 10, 3, stride=2, groups=5), torch.nn.BatchNorm2d(10),
            torch.nn.ConvTranspose2d(10, 4, 2, stride=2), torch.nn.BatchNorm2d(4), torch.nn.Hardswish())

    def forward(self, x):
        return torch.nn.functional.avg_pool2d(self.body(x), 3, stride=1, padding=1)


def cases():
    x, mask = torch.randn(2, 5, 24), torch.zeros(2, 1, 1, 5)
    for opset in (11, 13, 17):
        for tanh in (False, True):
            yield f"block {tanh=} operator set {opset}", Block(tanh=tanh), (x, mask), opset, {}, {
                "LayerNormalization": 2, "Gelu": 1, "ReduceMean": 0, "Erf": 0, "Pow": 0, "Shape": 0}
        keep = {"training": torch.onnx.TrainingMode.PRESERVE, "do_constant_folding": False}
        yield f"conv norm, operator set {opset}", ConvNorm(), (torch.randn(1, 3, 9, 7),), opset, keep, {
            "BatchNormalization": 0, "Pad": 0, "Mul": 0, "Add": 0, "HardSwish": 1}


def main(binary):
    torch.manual_seed(3)
    wrong, passed = [], 0
    for name, module, inputs, opset, options, wanted in cases():
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "model.onnx"
            torch.onnx.export(module.eval(), inputs, str(model), opset_version=opset, **options)
            done = subprocess.run([binary, str(model)], capture_output=True, text=True)
        after = dict((op, int(n)) for op, n in re.findall(r"(\w+) (\d+)", re.search(r"after: (.*)", done.stdout + "\nafter: ")[1]))
        misses = [f"{op} {after.get(op, 0)} instead of {n}" for op, n in wanted.items() if after.get(op, 0) != n]
        if done.returncode != 0 or misses or "certificate replays" not in done.stdout:
            wrong.append(f"{name}: {', '.join(misses)}\n{done.stdout}{done.stderr}")
        else:
            passed += 1
    print("\n".join(wrong))
    print(f"{passed} exported models simplified, {len(wrong)} wrong")
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
