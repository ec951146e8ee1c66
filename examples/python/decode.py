"""Greedy decoding with a small Llama-like model: one plan, called for each token, and the joules of a token."""
import viridian  # before torch, as docs/python.md explains

import torch
from _tiny_llama import TinyLlama

TOKENS = 48
torch.manual_seed(0)
model = TinyLlama().eval()
empty = torch.zeros(model.heads, model.length, model.size)


def decode(net):
    token, keys, values, said = torch.tensor([7]), empty, empty, []
    for place in range(TOKENS):
        logits, keys, values = net(token, torch.tensor([place]), keys, values)
        token = logits.argmax(-1)
        said.append(int(token))
    return said


net = viridian.optimize(model, example_inputs=(torch.tensor([7]), torch.tensor([0]), empty, empty), budget="20,5s")
with viridian.measure("decode") as m, torch.no_grad():
    runs = [decode(net) for _ in range(50)]
print(f"{m.joules / (len(runs) * TOKENS):.3g} J a token ({m.provenance}):", *runs[0][:12])
with torch.no_grad():
    print("same tokens as PyTorch:", runs[0] == decode(model))
