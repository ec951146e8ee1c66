"""Small networks as their authors would write them in PyTorch, and the data that they train on, both drawn from seeds."""
import math

import numpy
import torch
from torch import nn


class Mlp(nn.Module):
    """Three linear maps on images of digits."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))

    def forward(self, x):
        return self.layers(x)


class Block(nn.Module):
    """Two convolutions with batch normalisation, and a shortcut (He et al., 2016)."""

    def __init__(self, channels, width, stride):
        super().__init__()
        self.branch = nn.Sequential(nn.Conv2d(channels, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                                    nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))
        self.shortcut = nn.Sequential() if channels == width else nn.Sequential(
            nn.Conv2d(channels, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        return torch.relu(self.branch(x) + self.shortcut(x))


class Resnet(nn.Module):
    """One block a stage, for digits."""

    def __init__(self, width=16):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        self.stages = nn.Sequential(Block(width, width, 1), Block(width, 2 * width, 2), Block(2 * width, 4 * width, 2))
        self.head = nn.Linear(4 * width, 10)

    def forward(self, x):
        return self.head(self.stages(self.stem(x)).mean((2, 3)))


class Cnn(nn.Module):
    """Two convolutions with batch normalisation and pooling, for digits."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                                    nn.Conv2d(16, 32, 3, 1, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
                                    nn.Flatten(), nn.Dropout(0.5), nn.Linear(32 * 7 * 7, 10))

    def forward(self, x):
        return self.layers(x)


class Layer(nn.Module):
    """A block of GPT-2: normalisation before each branch, a causal mask, dropout on attention weights and on both branches.
    `fused`: attention is one operator of PyTorch's."""

    def __init__(self, width, heads, dropout, fused):
        super().__init__()
        self.heads, self.size, self.fused = heads, width // heads, fused
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, hidden):
        parts = self.attention(self.norm1(x)).split(x.shape[2], 2)
        q, k, v = (part.view(x.shape[0], x.shape[1], self.heads, self.size).transpose(1, 2) for part in parts)
        if self.fused:
            attended = nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout.p if self.training else 0, is_causal=True)
        else:
            attended = self.dropout(torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(self.size) + hidden, -1)) @ v
        x = x + self.dropout(self.projection(attended.transpose(1, 2).reshape(x.shape)))
        return x + self.dropout(self.down(nn.functional.gelu(self.up(self.norm2(x)), approximate="tanh")))


class Transformer(nn.Module):
    """Scores of the next token of a text. The output matrix is that of the words, as in GPT-2. `spread`: of the tables' weights."""

    def __init__(self, tokens=64, width=64, heads=4, layers=2, context=32, dropout=0.1, places=None, fused=False, spread=0.1):
        super().__init__()
        self.words, self.places = nn.Embedding(tokens, width), nn.Embedding(places or context, width)
        self.layers = nn.ModuleList(Layer(width, heads, dropout, fused) for _ in range(layers))
        self.norm, self.dropout = nn.LayerNorm(width), nn.Dropout(dropout)
        self.register_buffer("order", torch.arange(context), persistent=False)
        self.register_buffer("hidden", torch.triu(torch.full((context, context), -1e4), 1), persistent=False)
        for table in self.words, self.places:
            nn.init.normal_(table.weight, std=spread)

    def forward(self, x):
        x = self.dropout(self.words(x) + self.places(self.order))
        for layer in self.layers:
            x = layer(x, self.hidden)
        return self.norm(x) @ self.words.weight.T


class SelfAttention(nn.Module):
    """Multi-head attention of BERT-large on one sequence, by PyTorch's module, which is not asked for its weights."""

    def __init__(self, dropout):
        super().__init__()
        self.attention = nn.MultiheadAttention(1024, 16, dropout=dropout, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x, need_weights=False)[0]


class Generator(nn.Sequential):
    """DCGAN's generator of images of 64 x 64 from 100 numbers (Radford et al., 2016)."""

    def __init__(self):
        widths = [100, 512, 256, 128, 64]
        layers = []
        for stage, (before, width) in enumerate(zip(widths, widths[1:])):
            layers += [nn.ConvTranspose2d(before, width, 4, *((2, 1) if stage else (1, 0)), bias=False), nn.BatchNorm2d(width), nn.ReLU()]
        super().__init__(*layers, nn.ConvTranspose2d(64, 3, 4, 2, 1, bias=False), nn.Tanh())


class Discriminator(nn.Sequential):
    """DCGAN's discriminator: how real each image of 64 x 64 looks, from 0 to 1."""

    def __init__(self):
        layers = [nn.Conv2d(3, 64, 4, 2, 1, bias=False), nn.LeakyReLU(0.2)]
        for before, width in ((64, 128), (128, 256), (256, 512)):
            layers += [nn.Conv2d(before, width, 4, 2, 1, bias=False), nn.BatchNorm2d(width), nn.LeakyReLU(0.2)]
        super().__init__(*layers, nn.Conv2d(512, 1, 4, bias=False), nn.Sigmoid(), nn.Flatten(0))


# Rows of a font of 5 by 7 points, a number of five bits for each.
FONT = [[14, 17, 19, 21, 25, 17, 14], [4, 12, 4, 4, 4, 4, 14], [14, 17, 1, 2, 4, 8, 31], [31, 2, 4, 2, 1, 17, 14], [2, 6, 10, 18, 31, 2, 2],
        [31, 16, 30, 1, 1, 17, 14], [6, 8, 16, 30, 17, 17, 14], [31, 1, 2, 4, 8, 8, 8], [14, 17, 17, 14, 17, 17, 14], [14, 17, 17, 15, 1, 2, 12]]


def digits(count, seed=1, noise=0.3, wrong=0.0, scale=3, size=28):
    """Images [count, 1, size, size] of digits at random places with noise, and their labels, a share of which is drawn anew."""
    numbers = numpy.random.default_rng(seed)
    labels = numbers.integers(0, 10, count)
    images = numbers.normal(0, noise, (count, 1, size, size)).astype(numpy.float32)
    for image, label in zip(images, labels):
        points = numpy.array([[row >> (4 - column) & 1 for column in range(5)] for row in FONT[label]])
        shape = numpy.kron(points, numpy.ones((scale, scale)))
        top, left = numbers.integers(0, size - shape.shape[0] + 1), numbers.integers(0, size - shape.shape[1] + 1)
        image[0, top:top + shape.shape[0], left:left + shape.shape[1]] += shape
    labels = numpy.where(numbers.random(count) < wrong, numbers.integers(0, 10, count), labels)
    return images, labels.astype(numpy.int64)


def sentences(count, context=32, tokens=64, seed=1):
    """Windows [count, context] of a random language in which every token has four successors, and the tokens after them."""
    numbers = numpy.random.default_rng(seed)
    successors = numpy.random.default_rng(0).integers(0, tokens, (tokens, 4))
    text = numpy.zeros((count, context + 1), numpy.int64)
    text[:, 0] = numbers.integers(0, tokens, count)
    for place in range(context):
        text[:, place + 1] = successors[text[:, place], numbers.integers(0, 4, count)]
    return text[:, :-1].copy(), text[:, 1:].copy()
