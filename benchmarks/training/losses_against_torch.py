"""Losses of training against PyTorch's, step by step, from the same start and data.

losses_against_torch.py VIRIDIAN [--networks mlp,resnet,transformer] [--steps 200] [--page FILE.md] [--work FOLDER]

Three networks written in PyTorch (networks.py) are exported in training mode. `viridian train --in-order --log` trains each,
and PyTorch trains it with the same batches in the same order. Dropout takes the masks that Viridian draws, computed by
philox.py from the paper. PyTorch also trains on one and on two threads, and in double: these show how far two correct runs
come apart, because training amplifies rounding. Losses are compared by their relative difference.

- The first 20 losses must be within 1e-5.
- All 200 must be within three times PyTorch's own spread: the largest difference between any two of its three runs.
"""
import argparse
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy
import torch

import networks
import philox

warnings.filterwarnings("ignore")
SEED, FIRST, ALLOWED, SPREADS, SAYS_NOTHING = 5, 20, 1e-5, 3, 0.1
EPOCHS = 10


class Task:
    """A network, its samples for one epoch, and an optimiser by its options in both programs."""

    def __init__(self, network, samples, batch, options, optimizer):
        torch.manual_seed(7)
        self.network, self.inputs, self.labels, self.batch = network(), *samples, batch
        self.options, self.optimizer = options, optimizer


def groups(model, decay):
    """Biases and normalisations do not decay, as in Viridian."""
    kept = [value for value in model.parameters() if value.dim() > 1]
    return [{"params": kept, "weight_decay": decay}, {"params": [value for value in model.parameters() if value.dim() <= 1]}]


def tasks(steps):
    count = -(-steps // EPOCHS)
    return {
        "mlp": lambda: Task(networks.Mlp, networks.digits(32 * count, wrong=0.2), 32,
                            ["--optimizer", "sgd", "--momentum", "0.9", "--rate", "0.01"],
                            lambda model: torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)),
        "resnet": lambda: Task(lambda: networks.Resnet(8), networks.digits(8 * count, wrong=0.2, scale=1, size=8), 8,
                               ["--optimizer", "sgd", "--momentum", "0.9", "--nesterov", "--weight-decay", "0.0005", "--rate", "0.01"],
                               lambda model: torch.optim.SGD(groups(model, 5e-4), 0.01, momentum=0.9, nesterov=True, weight_decay=0)),
        "transformer": lambda: Task(networks.Transformer, networks.sentences(16 * count), 16,
                                    ["--optimizer", "adamw", "--weight-decay", "0.01", "--rate", "0.001"],
                                    lambda model: torch.optim.AdamW(groups(model, 0.01), 0.001, weight_decay=0)),
    }


class GivenMasks:
    """Stands for torch.nn.functional.dropout. The n-th call of a training step takes the mask of stream n."""

    def __init__(self):
        self.drawn, self.step, self.first, self.calls = {}, 0, 0, 0

    def begin(self, step, first):
        self.step, self.first, self.calls = step, first, 0

    def __call__(self, x, p=0.5, training=True, inplace=False):
        key = (self.step, self.calls)
        self.calls += 1
        ratio = numpy.float32(p)
        if key not in self.drawn:
            self.drawn[key] = torch.from_numpy(philox.mask(SEED, key[1], self.step, self.first, ratio, tuple(x.shape)))
        scale = float(numpy.float32(1 / (1 - float(ratio))))
        return torch.where(self.drawn[key], x * scale, torch.zeros((), dtype=x.dtype))


def losses_of_torch(task, steps, threads, masks, element=torch.float32):
    torch.set_num_threads(threads)
    model = copy.deepcopy(task.network).train().to(element)
    optimizer = task.optimizer(model)
    kept, torch.nn.functional.dropout = torch.nn.functional.dropout, masks
    losses = []
    try:
        for step in range(steps):
            masks.begin(step, step * task.batch)
            start = step * task.batch % len(task.inputs)
            x = torch.from_numpy(task.inputs[start:start + task.batch])
            out = model(x.to(element) if x.is_floating_point() else x)
            labels = torch.from_numpy(task.labels[start:start + task.batch])
            loss = torch.nn.functional.cross_entropy(out.reshape(-1, out.shape[-1]), labels.reshape(-1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    finally:
        torch.nn.functional.dropout = kept
    return numpy.array(losses)


def export(task, path):
    model = copy.deepcopy(task.network).train()
    old = {"dynamo": False} if torch.__version__ >= "2" else {}
    torch.onnx.export(model, (torch.from_numpy(task.inputs[:task.batch]),), str(path), input_names=["x"], output_names=["scores"],
                      training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False, opset_version=16, **old)


def losses_of_viridian(viridian, task, steps, threads, folder, epochs=EPOCHS):
    numpy.savez(folder / "samples.npz", x=task.inputs, labels=task.labels)
    command = [viridian, "train", folder / "model.onnx", "--data", folder / "samples.npz", "--in-order", "--epochs", epochs, "--seed", SEED,
               "--threads", threads, "--log", folder / "log", "-o", folder / "trained.onnx", *task.options]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr or done.stdout)
    return numpy.array([json.loads(line)["loss"] for line in (folder / "log").read_text().splitlines()])[:steps]


def apart(runs, others, steps=None):
    """The largest relative difference of a run of `runs` and one of `others` in the first steps."""
    return max(float((numpy.abs(one - other) / numpy.abs(other))[:steps].max()) for one in runs for other in others)


def compare(viridian, name, task, steps, folder):
    """What a row of the table holds, and whether both bounds are kept."""
    export(task, folder / "model.onnx")
    masks = GivenMasks()
    one, two = (losses_of_torch(task, steps, threads, masks) for threads in (1, 2))
    exact = losses_of_torch(task, steps, 1, masks, torch.float64)
    ours = [losses_of_viridian(viridian, task, steps, threads, folder) for threads in (1, 2)]
    if any(len(run) != len(one) for run in ours):
        sys.exit(f"{name}: {len(ours[0])} losses instead of {len(one)}")
    first = apart(ours, [one], FIRST)
    threads, rounding = apart([two], [one]), apart([one, two], [exact])
    whole = apart(ours, [one])
    bound = SPREADS * max(threads, rounding)
    kept = first <= ALLOWED and whole <= bound
    said = "**no**" if not kept else "yes" if bound < SAYS_NOTHING else f"the first {FIRST}; the bound on all says nothing"
    numbers = [first, apart([one, two], [exact], FIRST), whole, threads, rounding, apart(ours, [exact])]
    return [name, f"{one[0]:.4f}", f"{one[-1]:.4f}", *(f"{value:.1e}" for value in numbers), said], kept


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("viridian")
    parser.add_argument("--networks", default="mlp,resnet,transformer")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--page")
    options = parser.parse_args()
    head = ["network", "first loss", "last loss", f"first {FIRST}: ours", "PyTorch, f32 from double", "all: ours", "PyTorch, 2 threads from 1",
            "PyTorch, f32 from double", "ours from PyTorch in double", "within"]
    rows, good = [], True
    for name in options.networks.split(","):
        with tempfile.TemporaryDirectory() as folder:
            row, kept = compare(options.viridian, name, tasks(options.steps)[name](), options.steps, pathlib.Path(folder))
        print(f"{name}: " + ", ".join(f"{title} {value}" for title, value in zip(head[1:], row[1:])), flush=True)
        rows.append(row)
        good = good and kept
    if options.page:
        import page
        page.write(options.page, "Losses of training against PyTorch's", " ".join(__doc__.split("\n\n")[2].split()), page.table(head, rows),
                   f"Every number except the losses is the largest relative difference between the losses of two runs, in the first {FIRST} or in "
                   f"all {options.steps} steps. *Ours* are two runs, on one and on two threads, against PyTorch's on one thread. *Within* asks "
                   f"for two things: the first {FIRST} losses within {ALLOWED:g}, and all of them within {SPREADS} times PyTorch's own spread, "
                   "which is the larger of the two last columns about PyTorch alone. PyTorch divides the running variance of a batch "
                   "normalisation by n - 1, and Viridian by n, as ONNX says; losses of training do not depend on it. If PyTorch's own spread is "
                   f"so large that the bound is above {SAYS_NOTHING}, as that of the resnet, it says nothing about all {options.steps} losses.",
                   page.settings(options.viridian, f"PyTorch {torch.__version__}"))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
