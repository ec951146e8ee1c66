"""Joules of each epoch from a monitor in another process, which may be the only one that can read the meters.

    viridian serve &
    python examples/python/monitored_training.py                                  # the socket of this user's monitor
    python examples/python/monitored_training.py 127.0.0.1:50417 monitor.token    # TCP, with the monitor's token"""
import sys

from viridian.monitor import Monitor  # before torch, as docs/python.md explains

import torch

target, token_file = (*sys.argv[1:], None, None)[:2]
model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256))
optimizer = torch.optim.Adam(model.parameters())
inputs = torch.randn(128, 256)

with Monitor(target, token_file=token_file).session(name="example") as session:
    for epoch in range(3):
        for _ in range(40):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(inputs), inputs)
            loss.backward()
            optimizer.step()
        spent = session.mark(f"epoch {epoch}")
        print(f"epoch {epoch}: loss {loss.item():.4f}, {spent.joules:.3f} J in {spent.seconds:.3f} s ({spent.provenance})")
print(f"training: {session.whole.joules:.3f} J in {session.whole.seconds:.3f} s")
