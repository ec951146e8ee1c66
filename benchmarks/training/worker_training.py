"""worker_training.py STEP.onnx THREADS INPUTS MODE: PyTorch's process of speed.py. It takes training steps of the task of that
file's name (speed_tasks.py), on the same inputs and of the same architecture, with weights of its own, because PyTorch reads no
.onnx. MODE: eager, compile, or autotune (compiled with `max-autotune`, without graphs of CUDA), then perhaps .fused for attention
as one operator (GPT-2), .huge, which concerns the environment alone (systems.py), and .bf16 for autocast or .weights.bf16 for
weights, moments and everything else in bf16. Images are
channels last, as PyTorch's guide advises for processors, and optimisers are the fused ones.
worker_training.py --parameters TASK: prints how many parameters the network has."""
import contextlib
import pathlib
import sys

import numpy
import torch
import torchvision

import networks
from speed_tasks import TASKS

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
import worker  # noqa: E402


def build(task, fused=False):
    name = task.zoo[0]
    if name == "gpt2":
        return networks.Transformer(50257, 768, 12, 12, int(task.option("--sequence", 128)), places=1024, fused=fused)
    if name == "encoder_layer":
        return torch.nn.TransformerEncoderLayer(1024, 16, 4096, dropout=float(task.option("--dropout", 0.1)), batch_first=True)
    own = {"mlp": networks.Mlp, "small_cnn": networks.Cnn, "small_resnet": networks.Resnet,
           "small_transformer": lambda: networks.Transformer(tokens=256, width=128, context=128),
           "mha": lambda: networks.SelfAttention(float(task.option("--dropout", 0.1))),
           "dcgan_generator": networks.Generator, "dcgan_discriminator": networks.Discriminator,
           "inception_v3": lambda: torchvision.models.inception_v3(weights=None, aux_logits=False, init_weights=False)}
    return own[name]() if name in own else getattr(torchvision.models, name)(weights=None)


def loss_of(task):
    if "mse" in task.gradient:
        return torch.nn.functional.mse_loss
    return lambda out, labels: torch.nn.functional.cross_entropy(out.flatten(0, -2), labels.flatten())


def optimizer_of(task, model):
    if "adamw" in task.gradient:
        return torch.optim.AdamW(model.parameters(), 1e-5, weight_decay=0, fused=True)
    return torch.optim.SGD(model.parameters(), 1e-5, momentum=0.9, fused=True)


def prepare():
    task = TASKS[pathlib.Path(sys.argv[1]).stem]
    mode, *more = sys.argv[4].split(".")
    torch.set_num_threads(int(sys.argv[2]))
    torch.manual_seed(1)
    folder = pathlib.Path(sys.argv[3])
    labels = torch.from_numpy(numpy.load(folder / "labels.npy"))
    given = [file for file in folder.glob("*.npy") if file.name != "labels.npy" and not file.name.startswith("viridian.")]
    x = torch.from_numpy(numpy.load(given[0]))
    model = build(task, "fused" in more).train()
    if x.dim() == 4:
        model, x = model.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
    if "weights" in more:  # tokens and labels of classes stay integers
        model = model.bfloat16()
        x, labels = (tensor.bfloat16() if tensor.is_floating_point() else tensor for tensor in (x, labels))
    optimizer, loss_function = optimizer_of(task, model), loss_of(task)
    def forward(x, labels):
        return loss_function(model(x), labels)
    if mode != "eager":
        forward = torch.compile(forward, mode={"compile": "default", "autotune": "max-autotune-no-cudagraphs"}[mode])
    low = (lambda: torch.autocast("cpu", torch.bfloat16)) if "bf16" in more and "weights" not in more else contextlib.nullcontext

    def run():
        with low():
            loss = forward(x, labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    run()
    return run


if __name__ == "__main__":
    if sys.argv[1] == "--parameters":
        print(sum(parameter.numel() for parameter in build(TASKS[sys.argv[2]]).parameters()))
    else:
        worker.serve(prepare)
