"""One result for several sizes of the inputs: each call runs the plan that was made for its size."""
import viridian  # before torch, as docs/python.md explains

import torch

model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 10)).eval()
sizes = [torch.randn(batch, 64) for batch in (1, 8, 32)]
net = viridian.optimize(model, example_inputs=sizes, budget="20,5s")

for x in sizes:
    print(list(x.shape), "largest difference:", float((net(x) - model(x)).abs().max()))
try:
    net(torch.randn(5, 64))
except viridian.InputError as error:
    print(error)

net.save("sizes")  # a folder
again = viridian.load("sizes")
assert torch.equal(again(sizes[1]), net(sizes[1]))
