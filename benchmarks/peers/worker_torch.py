"""worker_torch.py MODEL THREADS INPUTS eager|compile: the network of that file's name as torchvision (BERT: torch.nn) has it,
because PyTorch reads no .onnx. Architecture, shapes and inputs are the same, the weights are its own; f32.
worker_torch.py --has NAME: exit code 0 if it has the network NAME."""
import pathlib
import sys

import numpy as np
import torch
import torchvision

import worker


class Bert(torch.nn.Module):
    """BERT-base's encoder and pooler (Devlin et al., 2019), sequence 128."""

    def __init__(self, layers=12, hidden=768, heads=12, words=30522):
        super().__init__()
        self.word, self.position, self.kind = (torch.nn.Embedding(n, hidden) for n in (words, 512, 2))
        self.norm = torch.nn.LayerNorm(hidden, eps=1e-12)
        layer = torch.nn.TransformerEncoderLayer(hidden, heads, 4 * hidden, 0, "gelu", 1e-12, batch_first=True)
        self.encoder = torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.pooler = torch.nn.Linear(hidden, hidden)

    def forward(self, ids):
        x = self.word(ids) + self.position(torch.arange(ids.shape[1])) + self.kind(torch.zeros_like(ids))
        x = self.encoder(self.norm(x))
        return x, torch.tanh(self.pooler(x[:, 0]))


def build(name):
    if name == "empty":
        return torch.nn.ReLU()
    if name == "bert_base":
        return Bert()
    extra = {"init_weights": False} if name == "inception_v3" else {}
    return getattr(torchvision.models, name)(weights=None, **extra)


def prepare():
    mode = sys.argv[4]
    torch.set_num_threads(int(sys.argv[2]))
    torch.manual_seed(1)
    files = sorted(pathlib.Path(sys.argv[3]).glob("*.npy"))
    tokens = [file for file in files if file.name == "input_ids.npy"]  # this BERT takes neither a mask nor kinds of tokens
    inputs = torch.from_numpy(np.load((tokens or files)[0]))
    model = build(pathlib.Path(sys.argv[1]).name.split(".")[0]).eval()
    if mode == "compile":
        torch._inductor.config.freezing = True
        model = torch.compile(model)
    elif inputs.dim() == 4:  # what PyTorch's own guide advises for convolutions on processors
        model, inputs = model.to(memory_format=torch.channels_last), inputs.contiguous(memory_format=torch.channels_last)

    without_gradients = torch.no_grad if mode == "compile" else torch.inference_mode

    def run():
        with without_gradients():
            return model(inputs)

    run()
    return run


if __name__ == "__main__":
    if sys.argv[1] == "--has":
        sys.exit(sys.argv[2] != "bert_base" and not hasattr(torchvision.models, sys.argv[2]))
    worker.serve(prepare)
