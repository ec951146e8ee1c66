"""A small Llama-like decoder for decode.py: RMS norms, rotary positions, a cache of keys and values, a gated MLP."""
import torch
from torch.nn import Linear, Parameter
from torch.nn.functional import silu


class TinyLlama(torch.nn.Module):
    def __init__(self, dim=128, heads=4, length=64, vocabulary=512):
        super().__init__()
        self.heads, self.size, self.length = heads, dim // heads, length
        self.embed, self.scales = torch.nn.Embedding(vocabulary, dim), Parameter(torch.ones(2, dim))
        self.qkv, self.out, self.head = (Linear(dim, many, bias=False) for many in (3 * dim, dim, vocabulary))
        self.gate, self.up, self.down = Linear(dim, 2 * dim), Linear(dim, 2 * dim), Linear(2 * dim, dim)
        self.rates = Parameter(1e4 ** (-torch.arange(0, self.size, 2) / self.size))

    def norm(self, x, scale):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * scale

    def forward(self, token, place, keys, values):  # [1], [1], and twice [heads, length, size]
        x = self.embed(token)
        q, k, v = self.qkv(self.norm(x, self.scales[0])).view(3, self.heads, 1, self.size).unbind()
        cos, sin = torch.cos(place * self.rates), torch.sin(place * self.rates)
        q, k = (torch.cat([a * cos - b * sin, a * sin + b * cos], -1) for a, b in (q.chunk(2, -1), k.chunk(2, -1)))
        places = torch.arange(self.length)
        keys, values = (torch.where((places == place).view(1, -1, 1), new, old) for new, old in ((k, keys), (v, values)))
        scores = torch.where(places <= place, q @ keys.transpose(1, 2) / self.size ** 0.5, torch.tensor(-1e9))
        x = x + self.out((torch.softmax(scores, -1) @ values).view(1, -1))
        y = self.norm(x, self.scales[1])
        return self.head(x + self.down(silu(self.gate(y)) * self.up(y))), keys, values
