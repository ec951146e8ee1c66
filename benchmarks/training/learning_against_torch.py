"""What a network learns in Viridian and in PyTorch: bits per character of a text, and digits drawn by code.

learning_against_torch.py VIRIDIAN [--epochs N] [--page FILE.md]     (a python with PyTorch; ONNX Runtime if it has it)

A network written in PyTorch (networks.py) is exported in training mode. `viridian train` trains it in one command, and PyTorch
trains it from the same weights, with the same optimiser, rate and batch, its own order of samples and its own dropout.

- The text is Debian's licences (/usr/share/common-licenses), the network a transformer of two blocks that reads 64 bytes. The
  last tenth of the text judges. Viridian may need at most 0.02 bits a character more than PyTorch.
- The digits are drawn from a font of 5 by 7 points at random places, with noise; the network has two convolutions. A fifth of them
  judges. Viridian must name 98 % of them.

Both trained files run in ONNX Runtime, if the python has it, and must be right about as many samples as Viridian's own
evaluation says.
"""
import argparse
import copy
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy
import torch

import networks

CONTEXT, SHARE, BITS, RIGHT, IGNORED = 64, 0.1, 0.02, 0.98, -100
LICENCES = pathlib.Path("/usr/share/common-licenses")


def export(model, x, path):
    old = {"dynamo": False} if torch.__version__ >= "2" else {}
    torch.onnx.export(copy.deepcopy(model).train(), (x,), str(path), input_names=["x"], output_names=["scores"], opset_version=16,
                      training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False, dynamic_axes=None, **old)


def viridian_train(viridian, folder, data, *more):
    command = [viridian, "train", folder / "model.onnx", "--data", data, "-o", folder / "trained.onnx", *more, "--json"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr or done.stdout)
    return json.loads(done.stdout)["epochs"]


def torch_train(model, x, labels, batch, epochs, rate):
    torch.manual_seed(2)
    model = copy.deepcopy(model).train()
    decayed = [value for value in model.parameters() if value.dim() > 1]
    optimizer = torch.optim.AdamW([{"params": decayed}, {"params": [v for v in model.parameters() if v.dim() <= 1], "weight_decay": 0}],
                                  rate, weight_decay=0.01)
    steps = len(x) // batch * epochs
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(epochs):
        for places in torch.randperm(len(x))[:len(x) // batch * batch].reshape(-1, batch):
            out = model(x[places])
            loss = torch.nn.functional.cross_entropy(out.flatten(0, -2), labels[places].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return model.eval()


def judged(scores_of, x, labels, batch):
    """(mean cross-entropy, right answers, answers) over all samples, the last batch filled up with the first samples."""
    loss = right = count = 0
    for start in range(0, len(x), batch):
        places = numpy.arange(start, start + batch) % len(x)
        kept = min(batch, len(x) - start)
        scores = numpy.asarray(scores_of(x[places]), numpy.float64)[:kept]
        wanted = labels[places[:kept]].ravel()
        scores = scores.reshape(-1, scores.shape[-1])[wanted != IGNORED]
        wanted = wanted[wanted != IGNORED]
        scores -= scores.max(1, keepdims=True)
        loss += (numpy.log(numpy.exp(scores).sum(1)) - scores[numpy.arange(len(wanted)), wanted]).sum()
        right += (scores.argmax(1) == wanted).sum()
        count += len(wanted)
    return loss / count, int(right), count


def in_onnxruntime(path, x, labels, batch):
    try:
        import onnxruntime
    except ImportError:
        return None
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return judged(lambda given: session.run(None, {"x": given})[0], x, labels, batch)


def in_torch(model, x, labels, batch):
    with torch.no_grad():
        return judged(lambda given: model(torch.from_numpy(given)).numpy(), x, labels, batch)


def characters(options, folder):
    """Rows of the table, and whether the bound is kept."""
    text = b"\n".join(path.read_bytes() for path in sorted(LICENCES.iterdir()) if path.is_file() and not path.is_symlink())
    (folder / "licences.txt").write_bytes(text)
    passes = options.epochs or 20
    bytes_ = numpy.frombuffer(text, numpy.uint8).astype(numpy.int64)
    windows = -(-(len(text) - 1) // CONTEXT)  # the last one is shorter: an evaluation counts every byte but the first
    x, labels = numpy.zeros((windows, CONTEXT), numpy.int64), numpy.full((windows, CONTEXT), IGNORED)
    x.ravel()[:len(text) - 1], labels.ravel()[:len(text) - 1] = bytes_[:-1], bytes_[1:]
    torch.manual_seed(3)
    model = networks.Transformer(tokens=256, width=64, context=CONTEXT)
    export(model, torch.from_numpy(x[:16]), folder / "model.onnx")
    epochs = viridian_train(options.viridian, folder, folder / "licences.txt", "--bytes", "--context", CONTEXT, "--eval-share", SHARE,
                            "--epochs", passes, "--rate", 0.002, "--schedule", "cosine", "--metric", "bits-per-character",
                            "--metric", "top-1")
    last = epochs[-1]["metrics"]
    kept = math.floor(windows * SHARE + 0.5)
    trained = torch_train(model, torch.from_numpy(x[:-kept]), torch.from_numpy(labels[:-kept]), 16, passes, 0.002)
    loss, right, count = in_torch(trained, x[-kept:], labels[-kept:], 16)
    peer = in_onnxruntime(folder / "trained.onnx", x[-kept:], labels[-kept:], 16)
    bits = last["bits-per-character"]
    rows = [["bits per character", f"{len(text)} bytes, {passes} epochs", f"{bits:.4f}", f"{loss / math.log(2):.4f}",
             "not here" if peer is None else f"{peer[0] / math.log(2):.4f}"],
            ["next byte right", "", f"{last['top-1']:.5f}", f"{right / count:.5f}", "not here" if peer is None else f"{peer[1] / peer[2]:.5f}"]]
    return rows, bits <= loss / math.log(2) + BITS and (peer is None or abs(peer[0] / math.log(2) - bits) < 1e-4)


def digits(options, folder):
    x, labels = networks.digits(5000, seed=4)
    held, passes = 1000, options.epochs or 3
    numpy.savez(folder / "train.npz", x=x[:-held], labels=labels[:-held])
    numpy.savez(folder / "held.npz", x=x[-held:], labels=labels[-held:])
    torch.manual_seed(3)
    model = networks.Cnn()
    export(model, torch.from_numpy(x[:50]), folder / "model.onnx")
    epochs = viridian_train(options.viridian, folder, folder / "train.npz", "--eval", folder / "held.npz", "--epochs", passes,
                            "--rate", 0.002, "--schedule", "cosine", "--metric", "top-1")
    top = epochs[-1]["metrics"]["top-1"]
    trained = torch_train(model, torch.from_numpy(x[:-held]), torch.from_numpy(labels[:-held]), 50, passes, 0.002)
    _, right, count = in_torch(trained, x[-held:], labels[-held:], 50)
    peer = in_onnxruntime(folder / "trained.onnx", x[-held:], labels[-held:], 50)
    row = ["digits right", f"4000 images, {passes} epochs", f"{top:.4f}", f"{right / count:.4f}",
           "not here" if peer is None else f"{peer[1] / peer[2]:.4f}"]
    return [row], top >= RIGHT and (peer is None or round(top * held) == peer[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("viridian")
    parser.add_argument("--epochs", type=int, help="default: 3 of the digits, 20 of the text")
    parser.add_argument("--tasks", default="digits,characters")
    parser.add_argument("--page")
    options = parser.parse_args()
    torch.set_num_threads(2)
    rows, good = [], True
    for name in options.tasks.split(","):
        with tempfile.TemporaryDirectory() as folder:
            more, kept = {"digits": digits, "characters": characters}[name](options, pathlib.Path(folder))
        rows += [[*row, "yes" if kept else "**no**"] for row in more]
        print("\n".join("  ".join(map(str, row)) for row in rows[-len(more):]), flush=True)
        good = good and kept
    if options.page:
        import page
        head = ["what", "data", "Viridian", "PyTorch", "Viridian's file in ONNX Runtime", "within"]
        parts = __doc__.split("\n\n")
        page.write(options.page, "What a network learns in Viridian and in PyTorch", " ".join(parts[2].split()), parts[3], page.table(head, rows),
                   page.settings(options.viridian, f"PyTorch {torch.__version__}"))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
