"""BERT (Devlin et al. 2019) and ALBERT (Lan et al. 2020) with their pre-training heads, in torch.nn, seeded. Modules
carry the names of the original code, so that qualified names read as in SMARAGDINE: bert/encoder/layer_0/output/dense.
"""
import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    """`einsum` contracts as ALBERT's code does, else by matmul as BERT's."""

    def __init__(self, hidden, heads, einsum):
        super().__init__()
        self.heads, self.einsum = heads, einsum
        self.query, self.key, self.value = (Dense(hidden, hidden, einsum) for _ in range(3))
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        batch, length, hidden = x.shape
        parts = [p(x).view(batch, length, self.heads, -1) for p in (self.query, self.key, self.value)]
        if self.einsum:
            query, key, value = parts
            scores = torch.einsum("bfnd,btnd->bnft", query, key) / math.sqrt(hidden // self.heads)
            return torch.einsum("bnft,btnd->bfnd", self.dropout(scores.softmax(-1)), value).reshape(x.shape)
        query, key, value = (p.transpose(1, 2) for p in parts)
        scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(hidden // self.heads)
        return torch.matmul(self.dropout(scores.softmax(-1)), value).transpose(1, 2).reshape(x.shape)


class Dense(nn.Linear):
    def __init__(self, inputs, outputs, einsum):
        super().__init__(inputs, outputs)
        self.einsum = einsum

    def forward(self, x):
        return torch.einsum("...i,oi->...o", x, self.weight) + self.bias if self.einsum else super().forward(x)


class Output(nn.Module):
    """Dense, dropout, residual, normalisation: of attention and of the block."""

    def __init__(self, inputs, hidden, einsum):
        super().__init__()
        self.dense = Dense(inputs, hidden, einsum)
        self.dropout = nn.Dropout(0.1)
        self.LayerNorm = nn.LayerNorm(hidden, eps=1e-12)

    def forward(self, x, residual):
        return self.LayerNorm(self.dropout(self.dense(x)) + residual)


class Attention(nn.Module):
    def __init__(self, hidden, heads, einsum):
        super().__init__()
        self.self = SelfAttention(hidden, heads, einsum)
        self.output = Output(hidden, hidden, einsum)

    def forward(self, x):
        return self.output(self.self(x), x)


class Intermediate(nn.Module):
    def __init__(self, hidden, einsum):
        super().__init__()
        self.dense = Dense(hidden, 4 * hidden, einsum)

    def forward(self, x):
        return nn.functional.gelu(self.dense(x))


class Transformer(nn.Module):
    def __init__(self, hidden, heads, einsum):
        super().__init__()
        self.attention = Attention(hidden, heads, einsum)
        self.intermediate = Intermediate(hidden, einsum)
        self.output = Output(4 * hidden, hidden, einsum)

    def forward(self, x):
        x = self.attention(x)
        return self.output(self.intermediate(x), x)


class Embeddings(nn.Module):
    def __init__(self, vocabulary, width, length):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocabulary, width)
        self.position_embeddings = nn.Embedding(length, width)
        self.token_type_embeddings = nn.Embedding(2, width)
        self.LayerNorm = nn.LayerNorm(width, eps=1e-12)
        self.dropout = nn.Dropout(0.1)
        self.register_buffer("positions", torch.arange(length))

    def forward(self, tokens, segments):
        x = self.word_embeddings(tokens) + self.position_embeddings(self.positions) + self.token_type_embeddings(segments)
        return self.dropout(self.LayerNorm(x))


class Encoder(nn.Module):
    """BERT: `layers` blocks, each with its weights. ALBERT: one block, `layers` times."""

    def __init__(self, layers, hidden, heads, shared, width):
        super().__init__()
        self.layers, self.shared = layers, shared
        if width != hidden:
            self.embedding_hidden_mapping_in = Dense(width, hidden, shared)
        self.mapped = width != hidden
        for i in range(1 if shared else layers):
            self.add_module("inner_group_0" if shared else f"layer_{i}", Transformer(hidden, heads, shared))

    def forward(self, x):
        if self.mapped:
            x = self.embedding_hidden_mapping_in(x)
        for i in range(self.layers):
            x = getattr(self, "inner_group_0" if self.shared else f"layer_{i}")(x)
        return x


class Body(nn.Module):
    def __init__(self, size, shared):
        super().__init__()
        width = size["embedding"] if shared else size["hidden"]
        self.embeddings = Embeddings(size["vocabulary"], width, size["sequence"])
        self.encoder = Encoder(size["layers"], size["hidden"], size["hidden"] // 32, shared, width)
        self.pooler = nn.Linear(size["hidden"], size["hidden"])

    def forward(self, tokens, segments):
        x = self.encoder(self.embeddings(tokens, segments))
        return x, torch.tanh(self.pooler(x[:, 0]))


class Predictions(nn.Module):
    """Masked words: the transform, then the word embeddings once more."""

    def __init__(self, hidden, width, vocabulary):
        super().__init__()
        self.transform = nn.Linear(hidden, width)
        self.LayerNorm = nn.LayerNorm(width, eps=1e-12)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, x, embeddings):
        return nn.functional.linear(self.LayerNorm(nn.functional.gelu(self.transform(x))), embeddings, self.bias)


class Network(nn.Module):
    """Stages of SMARAGDINE §5.2: "pre-training" (masked words and sentence order), "fine-tuning" and "prediction"
    (one label per sequence). `forward` gives the loss, or the labels' scores in prediction."""

    def __init__(self, kind, stage, size):
        super().__init__()
        shared = kind == "albert"
        self.stage = stage
        self.add_module(kind, Body(size, shared))
        self.body = kind
        width = size["embedding"] if shared else size["hidden"]
        if stage == "pre-training":
            self.predictions = Predictions(size["hidden"], width, size["vocabulary"])
        self.classifier = nn.Linear(size["hidden"], 2)

    def forward(self, data):
        x, pooled = getattr(self, self.body)(data["tokens"], data["segments"])
        scores = self.classifier(pooled)
        if self.stage == "prediction":
            return scores
        loss = nn.functional.cross_entropy(scores, data["labels"])
        if self.stage == "pre-training":
            masked = x.flatten(0, 1)[data["masked"]]
            words = self.predictions(masked, getattr(self, self.body).embeddings.word_embeddings.weight)
            loss = loss + nn.functional.cross_entropy(words, data["words"])
        return loss


def batch(size, generator):
    """Words drawn by Zipf's law, 15 % of them masked: no corpus is needed to spend a step's energy."""
    count, length = size["batch"], size["sequence"]
    weights = 1.0 / torch.arange(1, size["vocabulary"] + 1, dtype=torch.float)
    tokens = torch.multinomial(weights, count * length, replacement=True, generator=generator).view(count, length)
    masked = torch.randperm(count * length, generator=generator)[: int(0.15 * count * length)]
    words = tokens.flatten()[masked].clone()
    tokens.view(-1)[masked] = 0
    segments = (torch.arange(length) >= length // 2).long().expand(count, length)
    labels = torch.randint(0, 2, (count,), generator=generator)
    return {"tokens": tokens, "segments": segments, "labels": labels, "masked": masked, "words": words}
