#!/usr/bin/env python3
"""Joules per training epoch, from a monitor in another process:

    viridian serve &
    python3 examples/monitored_training.py                                  # the socket of this user's monitor
    python3 examples/monitored_training.py 127.0.0.1:50417 monitor.token    # TCP, with the monitor's token
"""
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from viridian_monitor import Monitor  # noqa: E402


def main(target=None, token_file=None, epochs=5, steps=40):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    inputs = torch.randn(128, 256)
    with Monitor(target, token_file=token_file).session(name="example") as session:
        for epoch in range(epochs):
            for _ in range(steps):
                optimizer.zero_grad()
                loss = torch.nn.functional.mse_loss(model(inputs), inputs)
                loss.backward()
                optimizer.step()
            spent = session.mark(f"epoch {epoch}")
            share = next((e.process_share for e in spent.energies if e.HasField("process_share")), None)
            print(f"epoch {epoch}: loss {loss.item():.4f}, {spent.joules:.3f} J in {spent.seconds:.3f} s "
                  f"({spent.provenance}" + (f"; {share:.0%} of the CPU's work is ours)" if share is not None else ")"))
            for warning in spent.warnings:
                print("  warning:", warning)
    print(f"training: {session.whole.joules:.3f} J in {session.whole.seconds:.3f} s")


if __name__ == "__main__":
    main(*sys.argv[1:3])
