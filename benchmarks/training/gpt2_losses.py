"""Losses of the first 100 steps of GPT-2 small in Viridian and in three runs of PyTorch.

gpt2_losses.py VIRIDIAN [--steps 100] [--kept FILE.json] [--page FILE.md]     (a python with PyTorch; about 45 minutes on two cores)

The network is GPT-2 small: 12 layers of width 768 with 12 heads, 50,257 tokens, 1,024 places, 124 million parameters, in f32. It reads
the bytes of Debian's licences (/usr/share/common-licenses) in batches of 4 x 256, in order, with AdamW at a rate of 0.0003 and a
weight decay of 0.01 of matrices. Dropout is off, so that correct runs differ by rounding alone; losses_against_torch.py compares a
network with dropout.

PyTorch runs three times from the same weights: on two threads, on one, and with its fused attention. The largest relative difference
between two of these is the band. Viridian's losses are within it if they are no farther from the nearest of the three runs.
"""
import argparse
import json
import pathlib
import sys
import tempfile

import numpy
import torch

import networks
from losses_against_torch import Task, export, groups, losses_of_torch, losses_of_viridian

LICENCES = pathlib.Path("/usr/share/common-licenses")
BATCH, CONTEXT, TOKENS = 4, 256, 50257
OPTIONS = ["--optimizer", "adamw", "--weight-decay", "0.01", "--rate", "0.0003"]
RUNS = {"PyTorch, 2 threads": (False, 2), "PyTorch, fused attention": (True, 2), "PyTorch, 1 thread": (False, 1)}


def network(fused=False):
    return networks.Transformer(TOKENS, 768, 12, 12, CONTEXT, dropout=0, places=1024, fused=fused, spread=0.02)


def windows(count):
    text = b"".join(path.read_bytes() for path in sorted(LICENCES.iterdir()) if not path.is_symlink())
    if len(text) <= count * CONTEXT:
        sys.exit(f"{LICENCES} holds {len(text)} bytes, and {count * CONTEXT + 1} are needed")
    tokens = numpy.frombuffer(text[:count * CONTEXT + 1], numpy.uint8).astype(numpy.int64)
    return tokens[:-1].reshape(count, CONTEXT), tokens[1:].reshape(count, CONTEXT)


class NoMasks:
    """Stands for torch.nn.functional.dropout of probability 0."""

    def begin(self, *_):
        pass

    def __call__(self, x, *_, **__):
        return x


def run(viridian, name, steps):
    if name in RUNS:
        fused, threads = RUNS[name]
        task = Task(lambda: network(fused), windows(BATCH * steps), BATCH, OPTIONS,
                    lambda model: torch.optim.AdamW(groups(model, 0.01), 3e-4, weight_decay=0))
        return losses_of_torch(task, steps, threads, NoMasks()).tolist()
    task = Task(network, windows(BATCH * steps), BATCH, OPTIONS, None)
    with tempfile.TemporaryDirectory() as folder:
        export(task, pathlib.Path(folder) / "model.onnx")
        return losses_of_viridian(viridian, task, steps, 2, pathlib.Path(folder), epochs=1).tolist()


def apart(one, other):
    return numpy.abs(numpy.array(one) - other) / numpy.abs(numpy.array(other))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("viridian")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--kept")
    parser.add_argument("--page")
    options = parser.parse_args()
    kept = pathlib.Path(options.kept) if options.kept else None
    losses = json.loads(kept.read_text()) if kept and kept.exists() else {}
    for name in ["Viridian, 2 threads", *RUNS]:
        if name not in losses:
            losses[name] = run(options.viridian, name, options.steps)
            print(f"{name}: {losses[name][0]:.6f} to {losses[name][-1]:.6f}", flush=True)
            if kept:
                kept.write_text(json.dumps(losses))
    ours, theirs = losses["Viridian, 2 threads"], [losses[name] for name in RUNS]
    band = numpy.maximum.reduce([apart(one, other) for one in theirs for other in theirs])
    nearest = numpy.minimum.reduce([apart(ours, other) for other in theirs])
    within = nearest.max() <= band.max()
    rows = [[name, *(f"{losses[name][step]:.6f}" for step in (0, 9, 24, 49, options.steps - 1))] for name in losses]
    told = (f"Viridian's losses are at most {nearest.max():.1e} from the nearest run of PyTorch, and PyTorch's runs come apart by at most "
            f"{band.max():.1e}: {'within the band' if within else '**outside of the band**'}. The steps of which each loss is "
            f"within the band of its own step: {int((nearest <= band).sum())} of {options.steps}.")
    print(told)
    if options.page:
        import page
        heads = ["run", *(f"loss of step {step}" for step in (1, 10, 25, 50, options.steps))]
        page.write(options.page, f"GPT-2 small: the losses of {options.steps} steps", *(" ".join(part.split()) for part in __doc__.split("\n\n")[2:]),
                   page.table(heads, rows), told, page.settings(options.viridian, f"PyTorch {torch.__version__}"))
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
