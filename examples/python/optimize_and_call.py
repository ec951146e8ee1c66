"""A module of PyTorch, on a cheaper plan for this machine, called as before."""
import viridian  # before torch, as docs/python.md explains

import torch

model = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3), torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.Flatten(),
                            torch.nn.Linear(16 * 30 * 30, 10)).eval()
x = torch.randn(1, 3, 32, 32)
net = viridian.optimize(model, example_inputs=(x,), objective="energy", budget="50,10s")
print(net)
print("largest difference:", float((net(x) - model(x)).abs().max()))

net.save("net.onnx")
again = viridian.load("net.onnx")
assert torch.equal(again(x), net(x))
