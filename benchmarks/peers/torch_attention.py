"""Networks whose time goes to attention of other kinds than BERT's: over many positions, over reduced keys, across channels,
over an odd number of patches."""
import torch
from torch import nn
from torch.nn import functional


class Layer(nn.Module):
    """Attention and a feed, each after a normalisation, as current code writes them."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        def split(y):
            return y.view(y.shape[0], y.shape[1], self.heads, -1).transpose(1, 2)

        y = self.norm1(x)
        y = functional.scaled_dot_product_attention(split(self.q(y)), split(self.k(y)), split(self.v(y)))
        x = x + self.o(y.transpose(1, 2).reshape(x.shape))
        return x + self.feed(self.norm2(x))


class AudioEncoder(nn.Module):
    """Thirty seconds of sound as 3,000 frames of 80 bands, halved to 1,500 positions (Radford et al., 2023, base size)."""

    def __init__(self, width=512, heads=8, layers=6):
        super().__init__()
        self.first, self.second = nn.Conv1d(80, width, 3, padding=1), nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.places = nn.Parameter(torch.randn(1, 1500, width) * 0.1)
        self.layers, self.norm = nn.ModuleList(Layer(width, heads) for _ in range(layers)), nn.LayerNorm(width)

    def forward(self, x):
        x = functional.gelu(self.second(functional.gelu(self.first(x)))).transpose(1, 2) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


class Patches(nn.Module):
    """Patches of 14 x 14 pixels and a token for the class: 257 of them (Dosovitskiy et al., 2021, small size)."""

    def __init__(self, width=384, heads=6, layers=12):
        super().__init__()
        self.cut = nn.Conv2d(3, width, 14, 14)
        self.token, self.places = nn.Parameter(torch.randn(1, 1, width) * 0.1), nn.Parameter(torch.randn(1, 257, width) * 0.1)
        self.layers, self.norm = nn.ModuleList(Layer(width, heads) for _ in range(layers)), nn.LayerNorm(width)
        self.head = nn.Linear(width, 1000)

    def forward(self, image):
        x = torch.cat([self.token, self.cut(image).flatten(2).transpose(1, 2)], 1) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x[:, 0]))


class Reduced(nn.Module):
    """Attention over keys of an image reduced by a strided convolution, and a feed with a depthwise convolution."""

    def __init__(self, width, heads, ratio):
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.kv, self.o = nn.Linear(width, width), nn.Linear(width, 2 * width), nn.Linear(width, width)
        self.reduce = nn.Conv2d(width, width, ratio, ratio) if ratio > 1 else None
        self.norm = nn.LayerNorm(width) if ratio > 1 else None
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.near = nn.Conv2d(4 * width, 4 * width, 3, padding=1, groups=4 * width)

    def forward(self, x, rows, columns):
        batch, count, width = x.shape
        y = z = self.norm1(x)
        if self.reduce is not None:
            z = self.reduce(y.transpose(1, 2).reshape(batch, width, rows, columns)).flatten(2).transpose(1, 2)
            z = self.norm(z)
        q = self.q(y).reshape(batch, count, self.heads, -1).permute(0, 2, 1, 3)
        k, v = self.kv(z).reshape(batch, -1, 2, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        weights = (q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5).softmax(-1)
        x = x + self.o((weights @ v).transpose(1, 2).reshape(batch, count, width))
        y = self.up(self.norm2(x))
        y = self.near(y.transpose(1, 2).reshape(batch, -1, rows, columns)).flatten(2).transpose(1, 2)
        return x + self.down(functional.gelu(y))


class Segmenter(nn.Module):
    """Four stages of a transformer over 256 x 256 pixels, 4,096 queries against 64 keys first, and a head over all stages (Xie et
    al., 2021, smallest size)."""

    def __init__(self, widths=(32, 64, 160, 256), heads=(1, 2, 5, 8), ratios=(8, 4, 2, 1), classes=19):
        super().__init__()
        before = (3,) + widths[:-1]
        self.cuts = nn.ModuleList(nn.Conv2d(b, w, 7 if i == 0 else 3, 4 if i == 0 else 2, 3 if i == 0 else 1)
                                  for i, (b, w) in enumerate(zip(before, widths)))
        self.starts = nn.ModuleList(nn.LayerNorm(w) for w in widths)
        self.blocks = nn.ModuleList(nn.ModuleList(Reduced(w, h, r) for _ in range(2)) for w, h, r in zip(widths, heads, ratios))
        self.ends = nn.ModuleList(nn.LayerNorm(w) for w in widths)
        self.sides = nn.ModuleList(nn.Linear(w, 256) for w in widths)
        self.join, self.norm, self.head = nn.Conv2d(1024, 256, 1, bias=False), nn.BatchNorm2d(256), nn.Conv2d(256, classes, 1)

    def forward(self, x):
        sides = []
        for cut, start, blocks, end, side in zip(self.cuts, self.starts, self.blocks, self.ends, self.sides):
            x = cut(x)
            rows, columns = x.shape[2:]
            x = start(x.flatten(2).transpose(1, 2))
            for block in blocks:
                x = block(x, rows, columns)
            x = end(x)
            y = side(x).transpose(1, 2).reshape(1, 256, rows, columns)
            sides.append(functional.interpolate(y, size=(64, 64), mode="bilinear", align_corners=False))
            x = x.transpose(1, 2).reshape(1, -1, rows, columns)
        return self.head(self.norm(self.join(torch.cat(sides[::-1], 1))).relu())


class ChannelLayer(nn.Module):
    """Attention of channels to channels, and a depthwise convolution over patches (El-Nouby et al., 2021)."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.heat = heads, nn.Parameter(torch.rand(heads, 1, 1) + 0.5)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.qkv, self.o = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.near = nn.Sequential(nn.Conv2d(width, width, 3, padding=1, groups=width), nn.GELU(), nn.BatchNorm2d(width),
                                  nn.Conv2d(width, width, 3, padding=1, groups=width))
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, rows, columns):
        batch, count, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(batch, count, 3, self.heads, -1).permute(2, 0, 3, 4, 1).unbind(0)
        q, k = functional.normalize(q, dim=-1), functional.normalize(k, dim=-1)
        weights = (q @ k.transpose(-2, -1) * self.heat).softmax(-1)
        x = x + self.o((weights @ v).permute(0, 3, 1, 2).reshape(batch, count, width))
        y = self.norm3(x).transpose(1, 2).reshape(batch, width, rows, columns)
        x = x + self.near(y).flatten(2).transpose(1, 2)
        return x + self.feed(self.norm2(x))


class Channels(nn.Module):
    def __init__(self, width=192, heads=4, layers=12):
        super().__init__()
        self.cut, self.layers = nn.Conv2d(3, width, 16, 16), nn.ModuleList(ChannelLayer(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 1000)

    def forward(self, image):
        x = self.cut(image)
        rows, columns = x.shape[2:]
        x = x.flatten(2).transpose(1, 2)
        for layer in self.layers:
            x = layer(x, rows, columns)
        return self.head(self.norm(x.mean(1)))


NETWORKS = {
    "audio_encoder": lambda: (AudioEncoder(), (torch.randn(1, 80, 3000),)),
    "segmenter": lambda: (Segmenter(), (torch.randn(1, 3, 256, 256),)),
    "channel_attention": lambda: (Channels(), (torch.randn(1, 3, 224, 224),)),
    "patches_257": lambda: (Patches(), (torch.randn(1, 3, 224, 224),)),
}
