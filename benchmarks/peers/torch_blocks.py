"""Parts of transformers and recurrent networks, written the way model libraries write them (not torch.nn.Transformer)."""
import math

import torch
from torch import nn


class BertLayer(nn.Module):
    """One encoder layer with an additive mask, post-normalisation (Devlin et al., 2018)."""

    def __init__(self, width=768, heads=12, inner=3072):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key, self.value = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.output = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width, eps=1e-12)
        self.intermediate, self.dense = nn.Linear(width, inner), nn.Linear(inner, width)
        self.output_norm = nn.LayerNorm(width, eps=1e-12)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, self.size).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.size)
        scores = scores + (1.0 - mask[:, None, None, :]) * -10000.0
        mixed = torch.matmul(torch.softmax(scores, -1), v).permute(0, 2, 1, 3).contiguous()
        x = self.attention_norm(self.output(mixed.view(x.shape)) + x)
        return self.output_norm(self.dense(nn.functional.gelu(self.intermediate(x))) + x)


class Bert(nn.Module):
    """Embeddings, two layers, pooler: token indices in."""

    def __init__(self, layers=2, width=768, vocabulary=30522):
        super().__init__()
        self.words, self.places, self.kinds = (nn.Embedding(n, width) for n in (vocabulary, 512, 2))
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(BertLayer(width) for _ in range(layers))
        self.pooler = nn.Linear(width, width)

    def forward(self, tokens, mask):
        places = torch.arange(tokens.shape[1], device=tokens.device).unsqueeze(0)
        x = self.norm(self.words(tokens) + self.places(places) + self.kinds(torch.zeros_like(tokens)))
        for layer in self.layers:
            x = layer(x, mask)
        return x, torch.tanh(self.pooler(x[:, 0]))


class GptBlock(nn.Module):
    """One decoder block with a causal mask, pre-normalisation and GELU by tanh (GPT-2); with `past` it decodes one token and
    returns the longer cache."""

    def __init__(self, width=768, heads=12):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.register_buffer("causal", torch.tril(torch.ones(1024, 1024, dtype=torch.bool)).view(1, 1, 1024, 1024))

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, self.size).transpose(1, 2)

    def forward(self, x, past_key=None, past_value=None):
        q, k, v = (self.split(part) for part in self.attention(self.norm1(x)).split(x.shape[-1], dim=2))
        if past_key is not None:
            k, v = torch.cat([past_key, k], 2), torch.cat([past_value, v], 2)
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.size)
        visible = self.causal[:, :, k.shape[2] - q.shape[2]:k.shape[2], :k.shape[2]]
        scores = torch.where(visible, scores, torch.full([], torch.finfo(scores.dtype).min))
        mixed = torch.matmul(torch.softmax(scores, -1), v).transpose(1, 2).contiguous().view(x.shape)
        x = x + self.projection(mixed)
        y = self.up(self.norm2(x))
        y = 0.5 * y * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (y + 0.044715 * torch.pow(y, 3.0))))
        x = x + self.down(y)
        return x if past_key is None else (x, k, v)


class RotaryBlock(nn.Module):
    """One decoder block of the Llama kind: RMS normalisation, rotary positions, grouped keys, gated SiLU."""

    def __init__(self, width=512, heads=8, groups=2, length=64):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.q, self.o = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.k, self.v = (nn.Linear(width, groups * self.size, bias=False) for _ in range(2))
        self.gate, self.up = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, 3 * width, bias=False)
        self.down = nn.Linear(3 * width, width, bias=False)
        self.scale1, self.scale2 = nn.Parameter(torch.ones(width)), nn.Parameter(torch.ones(width))
        angles = torch.outer(torch.arange(length).float(), 1e4 ** -(torch.arange(0, self.size, 2) / self.size))
        self.register_buffer("cos", torch.cat([angles, angles], -1).cos())
        self.register_buffer("sin", torch.cat([angles, angles], -1).sin())

    @staticmethod
    def norm(x, scale):
        return scale * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))

    def rotate(self, x):
        half = x.shape[-1] // 2
        return x * self.cos + torch.cat([-x[..., half:], x[..., :half]], -1) * self.sin

    def forward(self, x):
        batch, length, width = x.shape
        y = self.norm(x, self.scale1)
        q = self.rotate(self.q(y).view(batch, length, self.heads, self.size).transpose(1, 2))
        k = self.rotate(self.k(y).view(batch, length, self.groups, self.size).transpose(1, 2))
        v = self.v(y).view(batch, length, self.groups, self.size).transpose(1, 2)
        k, v = (t.repeat_interleave(self.heads // self.groups, 1) for t in (k, v))
        mask = torch.full((length, length), float("-inf")).triu(1)
        scores = torch.softmax(torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.size) + mask, -1)
        x = x + self.o(torch.matmul(scores, v).transpose(1, 2).reshape(batch, length, width))
        y = self.norm(x, self.scale2)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    """A whole language model: tokens, positions where the blocks have none of their own, blocks, the next token's scores."""

    def __init__(self, blocks, width, vocabulary, places=0):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(places, width) if places else None
        self.blocks = nn.ModuleList(blocks)
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.words(tokens)
        if self.places is not None:
            x = x + self.places(torch.arange(tokens.shape[1], device=tokens.device)).unsqueeze(0)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class FusedAttention(nn.Module):
    """What current code writes: scaled_dot_product_attention."""

    def __init__(self, width=256, heads=4):
        super().__init__()
        self.heads, self.inner, self.outer = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.inner(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.outer(y.transpose(1, 2).reshape(batch, length, width))


class Tagger(nn.Module):
    """Embedding, two bidirectional LSTM layers, GRU, linear."""

    def __init__(self, recurrent=nn.LSTM):
        super().__init__()
        self.embedding = nn.Embedding(5000, 128)
        self.first = recurrent(128, 128, num_layers=2, bidirectional=True, batch_first=True)
        self.second = nn.GRU(256, 64, batch_first=True)
        self.head = nn.Linear(64, 17)

    def forward(self, tokens):
        return self.head(self.second(self.first(self.embedding(tokens))[0])[0]).log_softmax(-1)


class UNet(nn.Module):
    """Transposed convolutions, skip connections, group normalisation, leaky activations."""

    def __init__(self, width=32):
        super().__init__()

        def block(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(8, o), nn.LeakyReLU(0.1),
                                 nn.Conv2d(o, o, 3, padding=1), nn.BatchNorm2d(o), nn.SiLU())

        self.down1, self.down2, self.middle = block(3, width), block(width, 2 * width), block(2 * width, 4 * width)
        self.up2, self.up1 = nn.ConvTranspose2d(4 * width, 2 * width, 2, 2), nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.out2, self.out1 = block(4 * width, 2 * width), block(2 * width, width)
        self.head = nn.Conv2d(width, 4, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(nn.functional.max_pool2d(a, 2))
        c = self.middle(nn.functional.avg_pool2d(b, 2))
        b = self.out2(torch.cat([self.up2(c), b], 1))
        y = self.head(self.out1(torch.cat([self.up1(b), a], 1)))
        return nn.functional.interpolate(y, scale_factor=2, mode="bilinear", align_corners=False)


class T5Block(nn.Module):
    """One encoder and one decoder layer of the T5 kind: biases by bucketed distance, no other bias, RMS normalisation, unscaled
    scores, attention to the encoder, gated GELU."""

    def __init__(self, width=512, heads=8, inner=1024, buckets=32):
        super().__init__()
        self.heads, self.size, self.buckets = heads, width // heads, buckets
        self.attentions = nn.ModuleList(nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(4)) for _ in range(3))
        self.feeds = nn.ModuleList(nn.ModuleList([nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False),
                                                  nn.Linear(inner, width, bias=False)]) for _ in range(2))
        self.scales = nn.ParameterList(nn.Parameter(torch.ones(width)) for _ in range(5))
        self.distance = nn.Embedding(buckets, heads)

    def bias(self, length, device):
        place = torch.arange(length, device=device)
        apart = place[None, :] - place[:, None]
        half = self.buckets // 2
        side, apart = (apart > 0).long() * half, apart.abs()
        far = half // 2 + (torch.log(apart.float().clamp(min=1) / (half // 2)) / math.log(16) * (half - half // 2)).long()
        bucket = side + torch.where(apart < half // 2, apart, far.clamp(max=half - 1))
        return self.distance(bucket).permute(2, 0, 1).unsqueeze(0)

    def norm(self, x, i):
        return self.scales[i] * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))

    def attend(self, i, x, other, bias):
        def split(y):
            return y.view(y.shape[0], -1, self.heads, self.size).transpose(1, 2)

        q, k, v, o = self.attentions[i]
        scores = torch.matmul(split(q(x)), split(k(other)).transpose(3, 2))
        weights = nn.functional.softmax((scores if bias is None else scores + bias).float(), dim=-1).type_as(scores)
        return o(torch.matmul(weights, split(v(other))).transpose(1, 2).contiguous().view(x.shape))

    def feed(self, i, x):
        gate, up, down = self.feeds[i]
        return down(nn.functional.gelu(gate(x), approximate="tanh") * up(x))

    def forward(self, x, y):
        z = self.norm(x, 0)
        x = x + self.attend(0, z, z, self.bias(x.shape[1], x.device))
        x = x + self.feed(0, self.norm(x, 1))
        z = self.norm(y, 2)
        causal = torch.full((y.shape[1], y.shape[1]), -1e9).triu(1)
        y = y + self.attend(1, z, z, self.bias(y.shape[1], y.device) + causal)
        y = y + self.attend(2, self.norm(y, 3), x, None)
        return y + self.feed(1, self.norm(y, 4))


class ConformerBlock(nn.Module):
    """Half feeds around attention and a convolution module with gated linear units (Gulati et al., 2020)."""

    def __init__(self, width=256, heads=4, kernel=15):
        super().__init__()

        def feed():
            return nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width))

        self.feed1, self.feed2 = feed(), feed()
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.convolution = nn.Sequential(
            nn.Conv1d(width, 2 * width, 1), nn.GLU(dim=1), nn.Conv1d(width, width, kernel, padding=kernel // 2, groups=width),
            nn.BatchNorm1d(width), nn.SiLU(), nn.Conv1d(width, width, 1))

    def forward(self, x):
        x = x + 0.5 * self.feed1(x)
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        x = x + self.convolution(self.norm2(x).transpose(1, 2)).transpose(1, 2)
        return self.norm3(x + 0.5 * self.feed2(x))


def past(length=64):
    return torch.randn(1, 12, length, 64)


BLOCKS = {
    "bert_layer": lambda: (BertLayer(), (torch.randn(1, 128, 768), torch.ones(1, 128))),
    "bert_2_layers": lambda: (Bert(), (torch.randint(0, 30522, (1, 64)), torch.ones(1, 64))),
    "gpt_prefill": lambda: (GptBlock(), (torch.randn(1, 64, 768),)),
    "gpt_decode": lambda: (GptBlock(), (torch.randn(1, 1, 768), past(), past())),
    "rotary_block": lambda: (RotaryBlock(), (torch.randn(1, 64, 512),)),
    "gpt": lambda: (Decoder([GptBlock() for _ in range(12)], 768, 10000, 1024), (torch.randint(0, 10000, (1, 64)),)),
    "llama": lambda: (Decoder([RotaryBlock() for _ in range(6)], 512, 8000), (torch.randint(0, 8000, (1, 64)),)),
    "encoder_layer": lambda: (nn.TransformerEncoderLayer(256, 4, 1024, activation="gelu", batch_first=True,
                                                         norm_first=True), (torch.randn(1, 64, 256),)),
    "t5_block": lambda: (T5Block(), (torch.randn(1, 48, 512), torch.randn(1, 32, 512))),
    "conformer_block": lambda: (ConformerBlock(), (torch.randn(1, 100, 256),)),
    "lstm_tagger": lambda: (Tagger(), (torch.randint(0, 5000, (1, 20)),)),
    "unet": lambda: (UNet(), (torch.randn(1, 3, 64, 64),)),
}
if hasattr(nn.functional, "scaled_dot_product_attention"):
    BLOCKS["fused_attention"] = lambda: (FusedAttention(), (torch.randn(1, 64, 256),))
