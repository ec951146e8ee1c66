#!/usr/bin/env python3
"""modules.py VIRIDIAN: `viridian record --torch -- python3 train.py` names the modules of a program that was not changed,
and `viridian account` gives each its joules, forward, backward, recomputed and of the optimizer."""
import json
import os
import subprocess
import sys
import tempfile

viridian = os.path.abspath(sys.argv[1])
python = sys.argv[2] if len(sys.argv) > 2 else "/usr/bin/python3"
STEPS = 4
TRAIN = f"""
import threading
import torch
from torch.utils.checkpoint import checkpoint
options = {{}} if torch.__version__.startswith("1.") else {{"use_reentrant": True}}
class Block(torch.nn.Module):
    def __init__(self, again):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(8, 8, 3, padding=1)
        self.conv2 = torch.nn.Conv2d(8, 8, 3, padding=1)
        self.again = again
    def inside(self, x):
        return self.conv2(torch.relu(self.conv1(x)))
    def forward(self, x):
        return x + (checkpoint(self.inside, x, **options) if self.again else self.inside(x))
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, 8, 3)
        self.layer4 = torch.nn.Sequential(Block(False), Block(True))
        self.drop = torch.nn.Identity()
        self.fc = torch.nn.Linear(8, 4)
    def forward(self, x):
        return self.fc(self.drop(self.layer4(self.stem(x)).mean((2, 3))))
class Refuses(torch.nn.Module):
    def forward(self, x):
        raise ValueError("as the program wants it")
net = torch.nn.DataParallel(Net())
optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
loss = torch.nn.CrossEntropyLoss()
for _ in range({STEPS}):
    error = loss(net(torch.randn(16, 3, 34, 34)), torch.zeros(16, dtype=torch.long))
    optimizer.zero_grad()
    error.backward()
    optimizer.step()
try:
    Refuses()(torch.ones(1))
except ValueError:
    pass
assert "module" in net._modules and not any("viridian" in name for name in vars(net))
assert len(torch.fx.symbolic_trace(torch.nn.Sequential(net.module.layer4[0].conv1)).graph.nodes) == 3
torch.jit.trace(torch.nn.Linear(4, 4), torch.randn(1, 4))
"""


def check(right, what):
    if not right:
        sys.exit(f"FAILED: {what}")


def said(*arguments):
    done = subprocess.run([viridian, *arguments], capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"{arguments[:2]} returned {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


try:
    subprocess.run([python, "-c", "import torch"], check=True, capture_output=True)
except (OSError, subprocess.CalledProcessError):
    print("skipped: this Python has no torch")
    sys.exit(77)
with tempfile.TemporaryDirectory() as work:
    program, run = os.path.join(work, "train.py"), os.path.join(work, "run")
    with open(program, "w", encoding="utf-8") as file:
        file.write(TRAIN)
    out = said("record", "-o", run, "--torch", "--", python, program)
    check("calls of" in out and "us each" in out, f"what timing cost is not said: {out}")
    check(sorted(os.listdir(run)) == ["power.csv", "record.json", "torch.json.gz"], "something was left behind")
    with open(os.path.join(run, "record.json"), encoding="utf-8") as file:
        about = json.load(file)["traces"][0]["modules"]
    check(about["unseen"] == 0, f"calls that the profiler did not see: {about}")
    check(0 < about["nanoseconds_each"], f"cost not measured: {about}")
    check(0 < about["searches"] < 10 and about["search_seconds"] > 0, f"searches for names: {about}")

    result = json.loads(said("account", run, "--json"))
    rows = {row["name"]: row for row in result["footprint"]["rows"] if not row["itself"]}
    block = ["conv1", "conv2"]
    leaves = ["stem", "fc", "drop"] + [f"layer4.{i}.{conv}" for i in (0, 1) for conv in block]
    for name in leaves + ["CrossEntropyLoss", "Refuses", "(optimizer)"]:
        check(name in rows, f"no row `{name}`: {sorted(rows)}")
    counts = {module["name"]: (module["calls"], module["recomputed"]) for module in result["modules"]}
    check(counts["Net/layer4/0/conv1"] == (STEPS, 0), f"calls: {counts}")
    check(counts["Net/layer4/1/conv2"] == (STEPS, STEPS), f"recomputed calls: {counts}")
    check(counts["Net"] == (STEPS, 0), f"the wrapper's calls were counted too: {counts}")
    for conv in (f"layer4.{i}.{conv}" for i in (0, 1) for conv in block):
        check(rows[conv]["type"] == "Conv2d", f"class of {conv}: {rows[conv]}")
        check(rows[conv]["forward"] > 0 and rows[conv]["backward"] > 0, f"passes of {conv}: {rows[conv]}")
        check((rows[conv]["recompute"] > 0) == ("layer4.1" in conv), f"recomputation of {conv}: {rows[conv]}")
        check(rows[conv]["optimizer"] == 0, f"optimizer in {conv}")
    check(rows["(optimizer)"]["optimizer"] > 0, "the optimizer used nothing")
    check(rows["CrossEntropyLoss"]["backward"] > 0, "the loss has no backward pass")

    total = sum(row["joules"] for row in result["footprint"]["rows"])
    for device in result["devices"]:
        parts = total + sum(device[part]["value"] for part in ("idle", "unattributed", "residual"))
        whole = device["meter_total"]["value"]
        check(abs(parts - whole) < 1e-9 * whole, f"the rows do not add up: {parts}, {whole}")
    shallow = json.loads(said("account", run, "--by", "module", "--depth", "1", "--json"))["footprint"]
    names = {row["name"] for row in shallow["rows"]}
    check("layer4" in names or {"layer4.0", "layer4.1"} & names == set(), f"depth 1: {names}")
    check(abs(sum(row["joules"] for row in shallow["rows"]) - total) < 1e-9 * total, "depth 1 does not add up")
    kinds = {row["name"] for row in json.loads(said("account", run, "--by", "type", "--json"))["footprint"]["rows"]}
    check({"Conv2d", "Linear", "CrossEntropyLoss", "(optimizer)"} <= kinds, f"classes: {kinds}")
    text = said("account", run, "--depth", "2")
    check("layer4.1 (Block)" in text and "recompute" in text, text)
