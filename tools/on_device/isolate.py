"""isolate.py --workload bert_large -o DIR: the operators of one workload that run most often, each alone for five
seconds and more, so that even a slow meter is exact. DIR/truth.json gets joules and seconds per call and the kernel
that a call runs, by the name that record.py gives it (grid included); operators that run several kernels, or change
their own inputs (the same call again would not be the same work), are left out and counted."""
import argparse
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time

import kineto
import nvml_log
from record import SENSOR, Power, event_timer


def shape_of(one):
    return (tuple(one.shape), tuple(one.stride()), str(one.dtype))


def capture(torch, work):
    """{what tells calls apart: [function, args, kwargs, calls]} of one step."""
    from torch.utils._python_dispatch import TorchDispatchMode
    found = {}

    class Capture(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            result = function(*args, **kwargs)
            name = function.__name__.split(".")[0]
            tensors = [one for one in [*args, *kwargs.values()] if isinstance(one, torch.Tensor)]
            if str(function).startswith("aten.") and tensors and not name.endswith("_") and "out" not in kwargs:
                plain = [one for one in args if isinstance(one, (int, float, bool))]
                key = (name, str([shape_of(one) for one in tensors]), str(plain))
                found.setdefault(key, [function, tuple(args), dict(kwargs), 0])[3] += 1
            return result

    with Capture():
        work.step()
    return found


class Bench:
    def __init__(self, torch, device, gpu, timer):
        self.torch, self.device, self.gpu, self.timer = torch, device, gpu, timer

    def synchronize(self):
        if self.device == "cuda":
            self.torch.cuda.synchronize()
        if self.gpu is not None:
            self.gpu.synchronize()

    def calls(self, entry, count, timer=None):
        function, args, kwargs, _ = entry
        with self.torch.no_grad(), contextlib.ExitStack() as modes:
            for mode in (self.gpu, timer):
                if mode is not None:
                    modes.enter_context(mode)
            for _ in range(count):
                function(*args, **kwargs)

    def kernels(self, entry, count=4):
        """{name: (launches per call, seconds each)} by the profiler, or by events."""
        if self.timer is not None or self.gpu is not None:
            self.calls(entry, 2)
            seer = self.timer or self.gpu
            seer.take()
            self.calls(entry, count, self.timer)
            seen = [(begin, end, name) for name, begin, end, *_ in seer.take()]
        else:
            profiler = self.torch.profiler
            self.calls(entry, 2)
            self.synchronize()
            with profiler.profile(activities=[profiler.ProfilerActivity.CUDA]) as prof:
                self.calls(entry, count)
                self.synchronize()
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "chunk.json")
                prof.export_chrome_trace(path)
                data = kineto.load(path, [])
            kineto.name_kernels(data)
            seen = [one[:3] for one in kineto.kernels(data)]
        found = {}
        for begin, end, name in seen:
            found.setdefault(name, []).append(1e-9 * (end - begin))
        return {name: (len(times) / count, sum(times) / len(times)) for name, times in found.items()}

    def run(self, entry, seconds):
        """(begin ns, end ns, calls) of at least `seconds` of nothing else; again, at most twice, where the machine paused."""
        for _ in range(3):
            self.synchronize()
            if self.gpu is not None:
                self.gpu.take()
            begin, done, batch, paces = time.time_ns(), 0, 1, []
            while time.time_ns() - begin < 1e9 * seconds:
                before = time.perf_counter()
                self.calls(entry, batch)
                self.synchronize()
                spent = time.perf_counter() - before
                done += batch
                if spent < 0.2:
                    batch *= 2
                else:
                    paces.append(spent / batch)
            if not paces or max(paces) < 2.0 * statistics.median(paces):
                break
        return begin, time.time_ns(), done


def energy_readings(path):
    rows = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            parts = line.split(",")
            if len(parts) == 7 and parts[4] == "energy_uj":
                rows.append((int(parts[0]), int(parts[5])))
    return rows


def joules(rows, begin, end):
    """By the counter: the first and last readings inside, and their time. Edges and warm-up are outside."""
    inside = [row for row in rows if begin <= row[0] <= end]
    if len(inside) < 3:
        return None
    return 1e-6 * (inside[-1][1] - inside[0][1]), 1e-9 * (inside[-1][0] - inside[0][0])


def choose(bench, found, most):
    """The `most` dearest operators that launch one kernel, each kernel once; and how many were left out."""
    chosen, left_out, taken = [], 0, set()
    for key, entry in sorted(found.items(), key=lambda item: -item[1][3]):
        if len(chosen) == most:
            break
        try:
            kernels = bench.kernels(entry)
        except RuntimeError:  # an operator of the backward pass may refuse to run apart
            left_out += 1
            continue
        if not kernels:
            continue  # a view
        name, (launches, seconds) = next(iter(kernels.items()))
        if len(kernels) != 1 or launches != 1 or name in taken:
            left_out += 1
            continue
        taken.add(name)
        chosen.append((key, entry, name, seconds))
    return chosen, left_out


def add_watts(rows, power, readings, idle_watts):
    """Adds to each row what the power log says of the time in which its operator ran alone."""
    with open(power, encoding="utf-8") as file:
        lines = [line for line in file if line.startswith("# state ")]
    for row in rows:
        row.update(nvml_log.states(lines, row["begin_ns"], row["end_ns"]))
        energy = joules(readings, row["begin_ns"], row["end_ns"])
        if energy is None:
            continue
        row["watts"] = energy[0] / energy[1]
        row["seconds_per_call"] = 1e-9 * (row["end_ns"] - row["begin_ns"]) / row["calls"]
        # The pauses between two launches have idle power; what is left is the kernel's.
        row["busy"] = min(1.0, row["kernel_seconds"] / row["seconds_per_call"])
        row["kernel_watts"] = (row["watts"] - (1.0 - row["busy"]) * (idle_watts or 0.0)) / row["busy"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--workload", default="bert_large")
    arguments.add_argument("-o", "--output", required=True)
    arguments.add_argument("--seconds", type=float, default=6.0, help="of each operator")
    arguments.add_argument("--operators", type=int, default=10)
    arguments.add_argument("--kernels", choices=("auto", "cupti", "events"), default="auto")
    arguments.add_argument("--nvml", default=os.environ.get("VIRIDIAN_NVML", ""))
    arguments.add_argument("--simulated", action="store_true")
    arguments.add_argument("--sensor", default=SENSOR)
    arguments.add_argument("--pace", type=float, default=1.0)
    options = arguments.parse_args()
    import torch
    from workloads import workload
    device = options.device = "cpu" if options.simulated else "cuda"
    if options.simulated:
        torch.set_num_threads(1)
    if device == "cuda" and not torch.cuda.is_available():
        sys.exit("PyTorch sees no GPU here; try --simulated with --nvml, or run it where there is one")
    os.makedirs(options.output, exist_ok=True)
    gpu, environment = None, {}
    if options.simulated:
        from simulated_gpu import simulated
        gpu, environment = simulated(options)
    work = workload(options.workload, "tiny" if options.simulated else "paper", device)
    work.first_step()
    found = capture(torch, work)
    bench = Bench(torch, device, gpu, event_timer(options, gpu))
    chosen, left_out = choose(bench, found, options.operators)
    power = os.path.join(options.output, "power.csv")
    log = Power(power, options.nvml, environment, 1.9)
    if gpu is not None:
        gpu.idle()
    time.sleep(1.0)
    idle = [time.time_ns()]
    time.sleep(3.0 if not options.simulated else min(3.0, options.seconds))
    idle.append(time.time_ns())
    rows = []
    for key, entry, name, seconds in chosen:
        bench.run(entry, min(1.0, 0.2 * options.seconds))  # warm: clocks and temperature settle
        begin, end, calls = bench.run(entry, options.seconds)
        if gpu is not None:  # it knows how long each kernel was
            ran = gpu.take()
            seconds = 1e-9 * sum(one[2] - one[1] for one in ran) / len(ran)
        rows.append({"operator": key[0], "kernel": name, "calls_per_step": entry[3], "begin_ns": begin, "end_ns": end,
                     "calls": calls, "kernel_seconds": seconds})
    log.stop()
    readings = energy_readings(power)
    idle_energy = joules(readings, *idle)
    idle_watts = idle_energy[0] / idle_energy[1] if idle_energy else None
    add_watts(rows, power, readings, idle_watts)
    with open(os.path.join(options.output, "truth.json"), "w", encoding="utf-8") as file:
        json.dump({"schema": "viridian.isolation/1", "workload": options.workload, "about": work.about,
                   "simulated": options.simulated, "idle_watts": idle_watts, "left_out": left_out, "operators": rows},
                  file, indent=1)
        file.write("\n")
    if options.simulated:
        os.remove(os.path.join(options.output, "load"))
    print(f"{len(rows)} operators alone, {left_out} left out; wrote {options.output}/truth.json")


if __name__ == "__main__":
    main()
