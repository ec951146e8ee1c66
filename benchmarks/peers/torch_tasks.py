"""Small networks of other tasks, written the way their users write them: text, sound, sequences, diffusion, detection."""
import math

import torch
from torch import nn


class MaskedText(nn.Module):
    """Tokens and a padding mask through PyTorch's own encoder."""

    def __init__(self, width=64):
        super().__init__()
        self.words, self.places = nn.Embedding(1000, width), nn.Parameter(torch.randn(1, 32, width) * 0.1)
        layer = nn.TransformerEncoderLayer(width, 4, 128, batch_first=True)
        self.encoder, self.head = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(width, 5)

    def forward(self, tokens, mask):
        return self.head(self.encoder(self.words(tokens) + self.places, src_key_padding_mask=mask)[:, 0])


class Recurrent(nn.Module):
    """A given first state, last states out, time first."""

    def __init__(self):
        super().__init__()
        self.gru, self.lstm = nn.GRU(40, 64, 2, bidirectional=True), nn.LSTM(128, 32)
        self.head = nn.Linear(32, 10)

    def forward(self, x, state):
        y, state = self.gru(x, state)
        z, (_, cell) = self.lstm(y)
        return self.head(z[-1]), state, cell


class Audio(nn.Module):
    """Dilated one-dimensional convolutions over samples; one head pools, one upsamples."""

    def __init__(self):
        super().__init__()

        def block(i, o, kernel, stride=1, dilation=1):
            padding = (kernel - 1) * dilation // 2
            return nn.Sequential(nn.Conv1d(i, o, kernel, stride, padding, dilation), nn.BatchNorm1d(o), nn.ELU())

        self.low = nn.Sequential(block(1, 32, 15, 5), block(32, 64, 9, 4), block(64, 64, 3, dilation=2))
        self.high = nn.Sequential(nn.MaxPool1d(4), block(64, 128, 3, dilation=4), nn.AdaptiveAvgPool1d(1))
        self.up, self.head = nn.ConvTranspose1d(64, 16, 4, 4), nn.Linear(128, 12)

    def forward(self, x):
        x = self.low(x)
        return self.head(self.high(x).flatten(1)).log_softmax(-1), torch.tanh(self.up(x))


class Diffusion(nn.Module):
    """A step of a denoising U-Net: group normalisation, embedded time, attention over pixels, a way down and up."""

    def __init__(self, c=64):
        super().__init__()
        self.first, self.norm1, self.conv1 = nn.Conv2d(4, c, 3, padding=1), nn.GroupNorm(32, c), nn.Conv2d(c, c, 3, padding=1)
        self.time, self.norm2, self.conv2 = nn.Linear(128, c), nn.GroupNorm(32, c), nn.Conv2d(c, c, 3, padding=1)
        self.norm3, self.attention = nn.GroupNorm(32, c, eps=1e-6), nn.MultiheadAttention(c, 4, batch_first=True)
        self.down, self.up = nn.Conv2d(c, 2 * c, 3, 2, 1), nn.Conv2d(2 * c, c, 3, padding=1)
        self.last = nn.Conv2d(2 * c, 4, 3, padding=1)

    def forward(self, x, t):
        frequencies = torch.exp(-math.log(10000.0) * torch.arange(64, dtype=torch.float32) / 64)
        angles = t[:, None].float() * frequencies[None]
        embedded = nn.functional.silu(torch.cat([angles.sin(), angles.cos()], -1))
        x = self.first(x)
        y = self.conv1(nn.functional.silu(self.norm1(x))) + self.time(embedded)[:, :, None, None]
        y = x + self.conv2(nn.functional.silu(self.norm2(y)))
        b, c, h, w = y.shape
        s = self.norm3(y).reshape(b, c, h * w).transpose(1, 2)
        y = y + self.attention(s, s, s, need_weights=False)[0].transpose(1, 2).reshape(b, c, h, w)
        z = self.up(nn.functional.interpolate(self.down(y), scale_factor=2.0, mode="nearest"))
        return self.last(torch.cat([y, z], 1))


class Yolo(nn.Module):
    """Backbone, spatial pyramid, two heads whose boxes are decoded and the best 50 taken."""

    def __init__(self):
        super().__init__()

        def block(i, o, kernel=3, stride=1):
            return nn.Sequential(nn.Conv2d(i, o, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(o), nn.SiLU())

        self.backbone = nn.Sequential(block(3, 16, stride=2), block(16, 32, stride=2), block(32, 64, stride=2))
        self.pool, self.mix, self.down = nn.MaxPool2d(5, 1, 2), block(256, 64, 1), block(64, 128, stride=2)
        self.heads = nn.ModuleList([nn.Conv2d(64, 27, 1), nn.Conv2d(128, 27, 1)])

    def decode(self, y, stride):
        b, _, h, w = y.shape
        y = y.view(b, 3, 9, h, w).permute(0, 1, 3, 4, 2).contiguous().sigmoid()
        rows, columns = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        grid = torch.stack([columns, rows], -1)[None, None].float()
        return torch.cat([(y[..., :2] * 2 - 0.5 + grid) * stride, (y[..., 2:4] * 2) ** 2 * 16, y[..., 4:]], -1).view(b, -1, 9)

    def forward(self, x):
        a = self.backbone(x)
        p1 = self.pool(a)
        p2 = self.pool(p1)
        a = self.mix(torch.cat([a, p1, p2, self.pool(p2)], 1))
        boxes = torch.cat([self.decode(self.heads[0](a), 8), self.decode(self.heads[1](self.down(a)), 16)], 1)
        scores, best = (boxes[..., 4] * boxes[..., 5:].amax(-1)).topk(50, -1)
        return torch.gather(boxes, 1, best[..., None].expand(-1, -1, 9)), scores


class Elementary(nn.Module):
    """Softmax, layer normalisation and GELU in elementary words; a product of integers."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(32, 32)
        self.register_buffer("table", torch.randint(-5, 5, (6, 4)))

    def forward(self, x, i):
        scores = self.linear(x)
        powers = torch.exp(scores - scores.amax(-1, keepdim=True))
        mean = x.mean(-1, keepdim=True)
        normal = (x - mean) / torch.sqrt(((x - mean) ** 2).mean(-1, keepdim=True) + 1e-5)
        y = 0.5 * normal * (1 + torch.erf(normal / math.sqrt(2)))
        return (powers / powers.sum(-1, keepdim=True)) @ y.transpose(-1, -2), torch.matmul(i, self.table), torch.where(i > 2, i // 3, -i)


TASKS = {
    "masked_text": lambda: (MaskedText(), (torch.randint(0, 1000, (2, 32)), torch.zeros(2, 32, dtype=torch.bool))),
    "recurrent": lambda: (Recurrent(), (torch.randn(17, 2, 40), torch.randn(4, 2, 64))),
    "audio": lambda: (Audio(), (torch.randn(1, 1, 8000),)),
    "diffusion": lambda: (Diffusion(), (torch.randn(1, 4, 32, 32), torch.tensor([500]))),
    "yolo": lambda: (Yolo(), (torch.randn(1, 3, 160, 160),)),
    "elementary": lambda: (Elementary(), (torch.randn(2, 7, 32), torch.randint(-9, 9, (3, 6)))),
}
