"""diff_in_ci.py BASELINE.json: fails if a step of training needs more energy than the baseline allows; without the file,
this run becomes the baseline."""
import os
import sys

import viridian  # before torch, as docs/python.md explains

import torch

model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
with viridian.account(model, warmup=5, steps=50) as now:
    for _ in range(55):
        model(torch.randn(64, 512)).sum().backward()
        now.step()

if os.path.exists(sys.argv[1]):
    print(viridian.diff(sys.argv[1], now).check(max_increase=0.5))
else:
    now.save(sys.argv[1])
    print("saved the baseline:", now)
