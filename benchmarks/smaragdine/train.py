#!/usr/bin/env python3
"""train.py KIND STAGE FOLDER [--layers N ...]: a few runs of a few steps of a network under PyTorch's older profiler.

Writes FOLDER/trace-SEED.json for each run (the profiler's list, as `export_chrome_trace` does, with the sequence numbers that it knows and
leaves out, and times since 1970) and FOLDER/runs.json. Every module's call is a scope of its name."""
import argparse
import json
import pathlib
import time

import torch
from networks import Network, batch
from torch.autograd import profiler


def scope_modules(network):
    """`record_function` around every named module: the profiler's scopes become qualified names."""
    open_scopes = []

    def enter(name):
        def hook(*_):
            open_scopes.append(profiler.record_function(name))
            open_scopes[-1].__enter__()
        return hook

    def leave(*_):
        open_scopes.pop().__exit__(None, None, None)

    for path, module in network.named_modules():
        if path:
            module.register_forward_pre_hook(enter(path.rpartition(".")[2]))
            module.register_forward_hook(leave)


def clock():
    """The profiler's clock at a known instant: a scope whose start is bracketed by two readings."""
    before = time.time_ns()
    with profiler.record_function("clock"):
        after = time.time_ns()
    return (before + after) // 2


def write_trace(prof, path, unix_ns):
    events = prof.function_events
    zero_us = unix_ns / 1e3 - next(e.time_range.start for e in events if e.name == "clock")
    rows = [{"name": e.name, "ph": "X", "ts": round(e.time_range.start + zero_us), "dur": round(e.time_range.elapsed_us()),
             "tid": e.thread, "pid": "CPU functions",
             "args": {"Sequence number": e.sequence_nr} if e.sequence_nr >= 0 else {}}
            for e in events if e.name != "clock"]
    path.write_text("[" + ",\n".join(json.dumps(row) for row in rows) + "]\n")


def run(size, seed, folder):
    """One run: a network of its own, steps unrecorded to warm up, then steps under the profiler."""
    torch.manual_seed(seed)
    network = Network(size["kind"], size["stage"], size)
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-5, foreach=True)
    generator = torch.Generator().manual_seed(seed)
    batches = [batch(size, generator) for _ in range(size["warm"] + size["steps"])]
    training = size["stage"] != "prediction"
    network.train(training)
    about = {"seed": seed, "steps_ns": [], "cpu_ns": [], "losses": []}

    def step(data):
        with torch.set_grad_enabled(training):
            result = network(data)
        if training:
            optimizer.zero_grad(set_to_none=True)
            result.backward()
            optimizer.step()
        return float(result.mean().detach())

    def steps():
        for data in batches[size["warm"]:]:
            begin, cpu = time.time_ns(), time.process_time_ns()
            about["losses"].append(step(data))
            about["steps_ns"].append((begin, time.time_ns()))
            about["cpu_ns"].append(time.process_time_ns() - cpu)

    for data in batches[: size["warm"]]:
        step(data)
    if size["no_profile"]:
        steps()
    else:
        scope_modules(network)
        with profiler.profile(use_kineto=False) as prof:
            unix_ns = clock()
            steps()
        write_trace(prof, folder / f"trace-{seed}.json", unix_ns)
    return about


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["bert", "albert"])
    parser.add_argument("stage", choices=["pre-training", "fine-tuning", "prediction"])
    parser.add_argument("folder", type=pathlib.Path)
    for name, usual in (("layers", 6), ("hidden", 96), ("embedding", 16), ("sequence", 64), ("batch", 4),
                        ("vocabulary", 4096), ("steps", 6), ("warm", 1), ("runs", 5), ("seed", 1), ("threads", 1)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--no-profile", action="store_true", help="without the profiler: what it costs")
    size = vars(parser.parse_args())
    folder = size.pop("folder")
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(size["threads"])
    runs = [run(size, size["seed"] + i, folder) for i in range(size["runs"])]
    (folder / "runs.json").write_text(json.dumps({**size, "runs": runs}))


main()
