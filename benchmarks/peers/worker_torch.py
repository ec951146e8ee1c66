"""worker_torch.py MODEL THREADS BOUND [eager|compile]: the network of that file's name as torchvision (BERT: torch.nn) has it, since
PyTorch reads no .onnx. Same architecture and shapes, weights of its own; batch 1, f32."""
import pathlib
import sys

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
    if name == "bert_base":
        return Bert(), torch.randint(0, 2, (1, 128))
    extra = {"init_weights": False} if name == "inception_v3" else {}
    size = 299 if name == "inception_v3" else 224
    return getattr(torchvision.models, name)(weights=None, **extra), torch.randn(1, 3, size, size)


def prepare():
    mode = sys.argv[4] if len(sys.argv) > 4 else "eager"
    torch.set_num_threads(int(sys.argv[2]))
    torch.manual_seed(1)
    model, inputs = build(pathlib.Path(sys.argv[1]).stem)
    model.eval()
    if mode == "compile":
        torch._inductor.config.freezing = True
        model = torch.compile(model)
    elif inputs.dim() == 4:  # what PyTorch's own guide advises for convolutions on processors
        model, inputs = model.to(memory_format=torch.channels_last), inputs.contiguous(memory_format=torch.channels_last)

    def run():
        with torch.no_grad():
            return model(inputs)

    run()
    return run


if __name__ == "__main__":
    worker.serve(prepare)
