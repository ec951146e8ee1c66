"""A training run that is killed at random moments ends in the same bytes as one that is not.

killed.py VIRIDIAN [--kills N] [--seed S] [--results FILE.md] [--machine TEXT]

Trains a small network on digits drawn by this script, with a checkpoint every few steps. A second run is killed with
SIGKILL at random moments, N times, and resumed each time until it ends. Both trained models must be the same bytes.
--results writes what happened as a page.
"""
import argparse
import datetime
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import numpy


RESULTS = """# Training runs that are killed

`tests/train/killed.py build/release/bin/viridian --kills {kills} --seed {seed}`, {machine}, {date},
{version}.

A run of 120 training steps of `small_cnn`, which has batch normalisation and dropout, with a moving
average of its weights, two threads and a checkpoint every 3 steps, was killed with SIGKILL {kills}
times, each time at a random moment up to the {whole:.1f} s that it takes uninterrupted, and resumed. It
came to its end {ends} times. In {lost} of the kills no checkpoint was written yet. The trained models
are {same} bytes as those of the uninterrupted run.
"""


def draw_samples(path, count=600, seed=1):
    """Noisy images [1, 28, 28] of ten shapes, with their labels."""
    numbers = numpy.random.default_rng(seed)
    shapes = (numbers.random((10, 7, 7)) < 0.4).astype(numpy.float32)
    labels = numbers.integers(0, 10, count)
    images = numpy.kron(shapes[labels], numpy.ones((1, 4, 4), numpy.float32))
    images += numbers.normal(0, 0.3, images.shape)
    numpy.savez(path, images=images[:, None].astype(numpy.float32), labels=labels.astype(numpy.int64))


def command(viridian, folder, name, more=()):
    return [viridian, "train", str(folder / "model.onnx"), "--data", str(folder / "samples.npz"), "--epochs", "4", "--rate",
            "0.001", "--ema", "0.99", "--threads", "2", "-o", str(folder / f"{name}.onnx"), *more]


def version_of(viridian):
    return subprocess.run([viridian, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("viridian")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--machine", default="a machine of no known class")
    options = parser.parse_args()
    moments = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        draw_samples(folder / "samples.npz")
        subprocess.run([options.viridian, "zoo", "small_cnn", "--training", "--batch", "20", "-o", str(folder / "model.onnx")], check=True,
                       stdout=subprocess.DEVNULL)
        start = time.monotonic()
        subprocess.run(command(options.viridian, folder, "whole"), check=True, stdout=subprocess.DEVNULL)
        whole = time.monotonic() - start
        points = ["--checkpoints", str(folder / "points"), "--every", "3", "--resume"]
        kills = ends = lost = 0
        while kills < options.kills:
            run = subprocess.Popen(command(options.viridian, folder, "killed", points), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
            try:
                run.wait(moments.uniform(0.02, 1.0) * whole)
            except subprocess.TimeoutExpired:
                run.send_signal(signal.SIGKILL)
                run.wait()
                kills += 1
                kept = sorted(path.name for path in (folder / "points").glob("*.safetensors"))
                lost += not kept
                continue
            if run.returncode != 0:
                print(f"a resumed run failed after {kills} kills")
                return 1
            ends += 1
            if (folder / "killed.onnx").read_bytes() != (folder / "whole.onnx").read_bytes():
                print(f"after {kills} kills the trained model differs from that of the uninterrupted run")
                return 1
            for path in (folder / "points").iterdir():
                path.unlink()
        subprocess.run(command(options.viridian, folder, "killed", points), check=True, stdout=subprocess.DEVNULL)
        same = (folder / "killed.onnx").read_bytes() == (folder / "whole.onnx").read_bytes()
        print(f"{kills} kills, {ends + 1} ends: the trained models are {'the same' if same else 'NOT the same'} bytes")
        if options.results:
            options.results.write_text(RESULTS.format(**vars(options), ends=ends + 1, lost=lost, whole=whole,
                                                      same="the same" if same else "NOT the same",
                                                      date=datetime.date.today().isoformat(),
                                                      version=version_of(options.viridian)))
        return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
