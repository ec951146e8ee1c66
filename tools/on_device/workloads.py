"""The networks that are recorded, in torch.nn alone, weights from a fixed seed. Each is a function `step()` that runs
one training step (forward, backward, update) or decodes tokens, and the modules whose names the trace shall carry.
Names follow BERT's own (bert/encoder/layer_0/attention/self/query), as SMARAGDINE prints them."""
import math

import torch
from torch import nn


class Self(nn.Module):
    def __init__(self, hidden, heads, causal=False):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.query, self.key, self.value = (nn.Linear(hidden, hidden) for _ in range(3))

    def forward(self, x, cache=None):
        batch, length, hidden = x.shape

        def split(y):
            return y.view(batch, length, self.heads, hidden // self.heads).transpose(1, 2)

        query, key, value = split(self.query(x)), split(self.key(x)), split(self.value(x))
        if cache is not None:
            key, value = torch.cat([cache[0], key], 2), torch.cat([cache[1], value], 2)
            cache[0], cache[1] = key, value
        scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(hidden // self.heads)
        mixed = torch.matmul(torch.softmax(scores, -1), value)
        return mixed.transpose(1, 2).reshape(batch, length, hidden)


class Output(nn.Module):
    def __init__(self, inner, hidden):
        super().__init__()
        self.dense, self.dropout, self.LayerNorm = nn.Linear(inner, hidden), nn.Dropout(0.1), nn.LayerNorm(hidden)

    def forward(self, x, residual):
        return self.LayerNorm(self.dropout(self.dense(x)) + residual)


class Attention(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.self, self.output = Self(hidden, heads), Output(hidden, hidden)

    def forward(self, x):
        return self.output(self.self(x), x)


class Intermediate(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.dense, self.gelu = nn.Linear(hidden, 4 * hidden), nn.GELU()

    def forward(self, x):
        return self.gelu(self.dense(x))


class Transformer(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.attention, self.intermediate = Attention(hidden, heads), Intermediate(hidden)
        self.output = Output(4 * hidden, hidden)

    def forward(self, x):
        x = self.attention(x)
        return self.output(self.intermediate(x), x)


class Embeddings(nn.Module):
    def __init__(self, vocabulary, length, hidden):
        super().__init__()
        self.word_embeddings, self.position_embeddings = nn.Embedding(vocabulary, hidden), nn.Embedding(length, hidden)
        self.LayerNorm, self.dropout = nn.LayerNorm(hidden), nn.Dropout(0.1)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.dropout(self.LayerNorm(self.word_embeddings(tokens) + self.position_embeddings(places)))


class Encoder(nn.Module):
    def __init__(self, layers, hidden, heads):
        super().__init__()
        self.layer = nn.ModuleList(Transformer(hidden, heads) for _ in range(layers))

    def forward(self, x):
        for layer in self.layer:
            x = layer(x)
        return x


class Bert(nn.Module):
    def __init__(self, layers, hidden, heads, length, vocabulary):
        super().__init__()
        self.embeddings, self.encoder = Embeddings(vocabulary, length, hidden), Encoder(layers, hidden, heads)
        self.pooler = nn.Linear(hidden, 2)

    def forward(self, tokens):
        return self.pooler(self.encoder(self.embeddings(tokens))[:, 0])


class Bottleneck(nn.Module):
    def __init__(self, inner, width, stride):
        super().__init__()
        outer = 4 * width
        self.conv1, self.bn1 = nn.Conv2d(inner, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, outer, 1, bias=False), nn.BatchNorm2d(outer)
        self.relu = nn.ReLU()
        self.downsample = None
        if stride != 1 or inner != outer:
            self.downsample = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x):
        kept = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.relu(self.bn2(self.conv2(x)))
        return self.relu(self.bn3(self.conv3(x)) + kept)


class ResNet(nn.Module):
    def __init__(self, blocks, width, classes):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width)
        self.relu, self.maxpool = nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        inner = width
        for stage, count in enumerate(blocks):
            parts = []
            for block in range(count):
                parts.append(Bottleneck(inner, width << stage, 2 if stage > 0 and block == 0 else 1))
                inner = 4 * (width << stage)
            setattr(self, f"layer{stage + 1}", nn.Sequential(*parts))
        self.fc = nn.Linear(inner, classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for stage in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = stage(x)
        return self.fc(x.mean((2, 3)))


class GptLayer(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.ln_1, self.attn, self.proj = nn.LayerNorm(hidden), Self(hidden, heads), nn.Linear(hidden, hidden)
        self.ln_2, self.fc, self.gelu, self.out = (nn.LayerNorm(hidden), nn.Linear(hidden, 4 * hidden), nn.GELU(),
                                                   nn.Linear(4 * hidden, hidden))

    def forward(self, x, cache):
        x = x + self.proj(self.attn(self.ln_1(x), cache))
        return x + self.out(self.gelu(self.fc(self.ln_2(x))))


class Gpt(nn.Module):
    def __init__(self, layers, hidden, heads, length, vocabulary):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, hidden), nn.Embedding(length, hidden)
        self.layer = nn.ModuleList(GptLayer(hidden, heads) for _ in range(layers))
        self.ln_f, self.head = nn.LayerNorm(hidden), nn.Linear(hidden, vocabulary, bias=False)

    def forward(self, token, place, caches):
        x = self.wte(token) + self.wpe(place)
        for layer, cache in zip(self.layer, caches):
            x = layer(x, cache)
        return self.head(self.ln_f(x))


class Workload:
    """`model` for the names, `step()` for the work, `about` for the record."""

    def __init__(self, name, about, root, build):
        self.name, self.about, self.root, self._build = name, about, root, build
        self._start()

    def _start(self):
        torch.manual_seed(20260101)
        self.model, self.step = self._build(self.about)

    def first_step(self):
        """One step; where the GPU's memory is too small, of half the batch, and so on."""
        while True:
            try:
                return self.step()
            except RuntimeError as fault:  # torch.cuda.OutOfMemoryError is one
                if "out of memory" not in str(fault) or self.about["batch"] == 1:
                    raise
            self.model = self.step = None
            torch.cuda.empty_cache()
            self.about = dict(self.about, batch=self.about["batch"] // 2)
            self._start()


def training(model, inputs, labels, device):
    model.to(device).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
    loss = nn.CrossEntropyLoss()

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss(model(inputs), labels).backward()
        optimizer.step()

    return model, step


def bert(about, device):
    a = about
    model = Bert(a["layers"], a["hidden"], a["heads"], a["sequence"], a["vocabulary"])
    tokens = torch.randint(a["vocabulary"], (a["batch"], a["sequence"]), device=device)
    return training(model, tokens, torch.randint(2, (a["batch"],), device=device), device)


def resnet(about, device):
    a = about
    images = torch.randn(a["batch"], 3, a["image"], a["image"], device=device)
    model = ResNet(a["blocks"], a["width"], a["classes"])
    return training(model, images, torch.randint(a["classes"], (a["batch"],), device=device), device)


def gpt(about, device):
    a = about
    model = Gpt(a["layers"], a["hidden"], a["heads"], a["sequence"], a["vocabulary"]).to(device).eval()
    empty = torch.zeros(a["batch"], a["heads"], 0, a["hidden"] // a["heads"], device=device)

    def step():  # the whole sequence, token by token, each from the one before
        with torch.no_grad():
            caches = [[empty, empty] for _ in range(a["layers"])]
            token = torch.zeros(a["batch"], 1, dtype=torch.long, device=device)
            for place in range(a["sequence"]):
                token = model(token, torch.full((1,), place, device=device), caches).argmax(-1)

    return model, step


# Paper: as in the papers, batches so large that a kernel takes near a millisecond: a meter sees them, a trace stays
# small. Tiny: the same code in seconds on a processor.
SIZES = {
    "bert_base": (bert, "bert", dict(batch=192, sequence=128, layers=12, hidden=768, heads=12, vocabulary=30522),
                  dict(batch=2, sequence=8, layers=2, hidden=16, heads=2, vocabulary=50)),
    "bert_large": (bert, "bert", dict(batch=96, sequence=256, layers=4, hidden=1024, heads=16, vocabulary=30522),
                   dict(batch=2, sequence=8, layers=1, hidden=32, heads=4, vocabulary=50)),
    "resnet50": (resnet, "resnet", dict(batch=128, image=224, blocks=(3, 4, 6, 3), width=64, classes=1000),
                 dict(batch=2, image=16, blocks=(1, 1, 1, 1), width=4, classes=10)),
    "gpt": (gpt, "gpt", dict(batch=64, sequence=256, layers=12, hidden=768, heads=12, vocabulary=50257),
            dict(batch=2, sequence=4, layers=2, hidden=16, heads=2, vocabulary=50)),
}


def workload(name, size, device):
    make, root, paper, tiny = SIZES[name]
    return Workload(name, dict(paper if size == "paper" else tiny), root, lambda about: make(about, device))


def local_names(model, root):
    """(module, the part of its name that its parent does not say): `layer_0` for the first of a list `layer`."""
    lists = {id(module) for module in model.modules() if isinstance(module, nn.ModuleList)}
    found = [(model, root)]
    for name, module in model.named_modules():
        if not name or id(module) in lists:
            continue
        parts = name.split(".")
        own = "_".join(parts[-2:]) if len(parts) > 1 and parts[-1].isdigit() else parts[-1]
        found.append((module, own))
    return found
