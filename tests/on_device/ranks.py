#!/usr/bin/env python3
"""ranks.py VIRIDIAN: `viridian record --torch` traces every process of a program that runs operators, and `viridian account`
gives modules by rank and their sum, the power of the machine counted once. Two gloo processes on the CPU, started by a
launcher, by torchrun (if this Python's works) and by multiprocessing; helpers and DataLoader workers leave nothing."""
import json
import os
import subprocess
import sys
import tempfile

viridian = os.path.abspath(sys.argv[1])
python = sys.argv[2] if len(sys.argv) > 2 else "/usr/bin/python3"
STEPS = 4
WORK = f"""
import ctypes, os, sys, time
import torch, torch.distributed, torch.utils.data
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, 8, 3)
        self.fc = torch.nn.Linear(8, 4)
    def forward(self, x):
        return self.fc(torch.relu(self.stem(x)).mean((2, 3)))
class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 16 * {STEPS}
    def __getitem__(self, place):
        return torch.randn(3, 34, 34) * 2
def work(rank, workers, port):
    options = dict(num_workers=1, multiprocessing_context=workers) if workers else {{}}
    if port:
        torch.distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{{port}}", rank=rank, world_size=2)
    else:
        torch.distributed.init_process_group("gloo")
    net = torch.nn.parallel.DistributedDataParallel(Net())
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x in torch.utils.data.DataLoader(Images(), batch_size=16, **options):
        net(x).square().mean().backward()
        optimizer.step()
    if "deaf" in sys.argv and rank == 1:
        mutex = ctypes.create_string_buffer(64)
        for _ in range(2):  # the first call takes the mutex, the second waits for ever, and no signal ends that
            ctypes.CDLL(None).pthread_mutex_lock(mutex)
    while "forever" in sys.argv or "deaf" in sys.argv:
        net.module(x)
        time.sleep(0.01 if "deaf" in sys.argv else 0)
    if "killed" in sys.argv and rank == 1:
        os.kill(os.getpid(), 9)
    torch.distributed.destroy_process_group()
"""
TRAIN = WORK + """
work(int(os.environ["RANK"]), None, None)
"""
SPAWN = WORK + """
import socket, subprocess
if __name__ == "__main__":
    subprocess.run([sys.executable, "-c", "print('a helper without torch')"], check=True)
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    torch.multiprocessing.spawn(work, (sys.argv[1], port), nprocs=2)
"""
# As torchrun does it, whose own launcher does not run in every Python.
LAUNCH = """
import os, socket, subprocess, sys
import torch
with socket.socket() as one:
    one.bind(("127.0.0.1", 0))
    port = str(one.getsockname()[1])
both = [subprocess.Popen([sys.executable, *sys.argv[1:]], env=dict(os.environ, RANK=rank, LOCAL_RANK=rank, WORLD_SIZE="2",
                         MASTER_ADDR="127.0.0.1", MASTER_PORT=port)) for rank in "01"]
sys.exit(max(one.wait() for one in both))
"""
RANKS = ["torch.rank0.json.gz", "torch.rank1.json.gz"]


def check(right, what):
    if not right:
        sys.exit(f"FAILED: {what}")


def said(*arguments, code=0):
    done = subprocess.run([viridian, *arguments], capture_output=True, text=True, check=False)
    check(done.returncode == code, f"{arguments[:4]} returned {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def recorded(work, name, *command, options=(), code=0):
    run = os.path.join(work, name)
    out = said("record", "-o", run, "--torch", *options, "--", python, *command, code=code)
    with open(os.path.join(run, "record.json"), encoding="utf-8") as file:
        return run, json.load(file)["traces"], out


def check_two_ranks(run, traces, out, what):
    check("warning" not in out, f"{what}: a recording without fault warns: {out}")
    check([one["file"] for one in traces] == RANKS and [one["rank"] for one in traces] == [0, 1], f"{what}: {traces}")
    check(sorted(os.listdir(run)) == ["power.csv", "record.json", *RANKS], f"{what}: left {os.listdir(run)}")


def check_account(run):
    text = said("account", run, "-o", os.path.join(run, "account"))
    header = next(line for line in text.splitlines() if "joules" in line and "[low, high]" in line)
    check("rank 0" in header and "rank 1" in header, f"no columns for ranks: {header}")
    check("Parallel" not in text and "module.fc" not in text, f"the wrapper is a module: {text}")
    with open(os.path.join(run, "account.json"), encoding="utf-8") as file:
        result = json.load(file)
    rows = {row["name"]: row for row in result["footprint"]["rows"]}
    check({"stem", "fc"} <= set(rows), f"modules are missing: {sorted(rows)}")
    for name in ("stem", "fc"):
        check(rows[name]["calls"] == 2 * STEPS, f"{name} was called {rows[name]['calls']} times")
    for row in rows.values():
        parts = [one["joules"] for one in row["processes"]]
        check(abs(sum(parts) - row["joules"]) <= 1e-9 * max(row["joules"], 1e-9), f"ranks do not add up: {row}")
    check(all(one["joules"] > 0 for one in rows["stem"]["processes"]), f"a rank has no joules: {rows['stem']}")
    check([one["name"] for one in result["processes"]] == ["rank 0", "rank 1"], f"{result['processes']}")
    check([one["name"] for one in result["devices"]] == ["cpu:0"], "the machine is counted once for each rank")
    device = result["devices"][0]
    parts = sum(one["joules"] for one in result["processes"])
    parts += sum(device[part]["value"] for part in ("idle", "unattributed", "residual"))
    check(abs(parts / device["meter_total"]["value"] - 1) < 1e-9, "the books do not balance")
    apart = json.loads(said("account", "--json", "--power", os.path.join(run, "power.csv"),
                            *(word for rank in RANKS for word in ("--trace", os.path.join(run, rank)))))
    check([one["name"] for one in apart["processes"]] == RANKS, f"files are not the names: {apart['processes']}")
    one = json.loads(said("account", run, "--json", "--trace", os.path.join(run, RANKS[0])))
    check("processes" not in one and one["modules"], "one trace alone is not accounted alone")


if subprocess.run([python, "-c", "import torch, sys; sys.exit(not torch.distributed.is_available())"], stderr=subprocess.DEVNULL,
                  check=False).returncode != 0:
    print("skipped: this Python has no torch with distributed training")
    sys.exit(77)
with tempfile.TemporaryDirectory() as work:
    train, spawn, launch = (os.path.join(work, name) for name in ("train.py", "spawn.py", "launch.py"))
    for path, text in ((train, TRAIN), (spawn, SPAWN), (launch, LAUNCH)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    run, traces, out = recorded(work, "launched", launch, train)
    check_two_ranks(run, traces, out, "a launcher")
    check([one["local_rank"] for one in traces] == [0, 1], f"local ranks: {traces}")
    check("rank 1: " in out, f"what timing cost is not said for each rank: {out}")
    check_account(run)

    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    if subprocess.run([python, *torchrun, "--no_python", "true"], capture_output=True, check=False).returncode == 0:
        check_two_ranks(*recorded(work, "torchrun", *torchrun, train), "torchrun")
    else:
        print("not tried: torchrun does not run in this Python")
    for method in ("fork", "spawn", "forkserver"):
        check_two_ranks(*recorded(work, method, spawn, method), f"multiprocessing, data workers by {method}")

    run, traces, out = recorded(work, "killed", launch, train, "killed")
    check([one["file"] for one in traces] == ["torch.json.gz"] and traces[0]["rank"] == 0, f"killed: {traces}")
    check("rank 1" in out and "was killed" in out, f"it is not said that a rank left no trace: {out}")

    # Until both had imported torch and joined their group.
    for seconds in ("12", "40"):
        run, traces, out = recorded(work, "stopped", launch, train, "forever", options=("--force", "--seconds", seconds))
        if len(traces) == 2:
            break
    check("then stopped" in out and [one["file"] for one in traces] == RANKS, f"stopped: {out}")

    # A rank that cannot hear SIGTERM, because it waits in a call of C++, is killed after a minute, not after five.
    for seconds in (20, 60):  # until it waits
        run, traces, out = recorded(work, "deaf", launch, train, "deaf", options=("--force", "--seconds", str(seconds)))
        with open(os.path.join(run, "record.json"), encoding="utf-8") as file:
            took = json.load(file)["seconds"] - seconds
        if [one["rank"] for one in traces] == [0] and took >= 60:
            break
    check([one["file"] for one in traces] == ["torch.json.gz"] and traces[0]["rank"] == 0, f"deaf: {traces}")
    check("rank 1" in out and "was killed" in out, f"it is not said that a rank left no trace: {out}")
    check(60 <= took < 290, f"it took {took} s to end")
print("every rank has a trace, and they add up")
