#!/usr/bin/env python3
"""A training step holds its states once, whether `viridian run` times it or `viridian train` trains with it.

step_memory.py VIRIDIAN"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

VIRIDIAN = sys.argv[1]
MIB = 2**20


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def viridian(*arguments):
    done = subprocess.run([VIRIDIAN, *map(str, arguments), "--json"], capture_output=True, text=True)
    check(done.returncode == 0, f"{arguments} ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def peak_of(*arguments):
    """The largest memory of a command, in bytes."""
    process = subprocess.Popen([VIRIDIAN, *map(str, arguments)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    check(status == 0, f"{arguments} ended with {status}")
    return usage.ru_maxrss * 1024


def npy(path, shape):
    """Writes zeros."""
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    count = 1
    for extent in shape:
        count *= extent
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + bytes(4 * count))


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        model, step, data = folder / "model.onnx", folder / "step.onnx", folder / "data"
        viridian("zoo", "encoder_layer", "--hidden", 1024, "--heads", 16, "--batch", 1, "--sequence", 8, "--training", "--dropout", 0,
                 "-o", model)
        made = viridian("gradient", model, "--loss", "mse", "--optimizer", "adamw", "-o", step)
        states = 4 * (made["elements"]["parameters"] + made["elements"]["moments"])
        base = peak_of("--version")
        ran = peak_of("run", step, "--rounds", 1, "--threads", 1) - base
        check(ran < 1.7 * states, f"`run` took {ran / MIB:.0f} MiB for states of {states / MIB:.0f} MiB")
        data.mkdir()
        for name in ("input", "labels"):
            npy(data / f"{name}.npy", (3, 8, 1024))
        # A third of the states are weights, which are written out at the end; accumulated gradients are another third.
        for name, more, most in (("train", [], 2), ("accumulate", ["--accumulate", 3], 2.6)):
            trained = peak_of("train", model, "--data", data, "--loss", "mse", "--optimizer", "adamw", "--threads", 1, "--epochs", 1,
                              "--checkpoints", folder / name, "-o", folder / f"{name}.onnx", *more) - base
            check(trained < most * states, f"`train` ({name}) took {trained / MIB:.0f} MiB for states of {states / MIB:.0f} MiB")


main()
