"""Joules by layer of a training under PyTorch, in three lines of its own."""
import viridian  # before torch, as docs/python.md explains

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 32, 3), torch.nn.ReLU(), torch.nn.Conv2d(32, 32, 3), torch.nn.Flatten(),
                            torch.nn.Linear(32 * 28 * 28, 10))
optimizer = torch.optim.Adam(model.parameters())

with viridian.account(model, warmup=2, steps=10) as a:
    for _ in range(12):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(torch.randn(16, 3, 32, 32)), torch.randint(10, (16,)))
        loss.backward()
        optimizer.step()
        a.step()

print(a.modules(depth=2))
