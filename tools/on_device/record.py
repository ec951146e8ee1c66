#!/usr/bin/env python3
"""record.py --workload bert_base -o DIR: records a real PyTorch workload on an NVIDIA GPU: power and energy from NVML,
modules and operators of three steps, kernels of the rest, all on one clock. Needs Python with PyTorch, and this folder;
no settings of the GPU are touched. DIR gets

    power.csv           Viridian's power log (docs/meter.md)
    modules.json.gz     three steps by PyTorch's profiler, modules as scopes
    kernels.vtrace[.gz] the kernels of the rest (docs/trace.md, "Binary")
    record.json         what it is, how it was made, how far the two clocks may be apart

Where CUPTI may not trace (`--kernels`), operators are timed by events instead (event_timer.py).
`--simulated` runs tiny sizes on this processor beside the scripted NVML: the same code, nothing measured."""
import argparse
import contextlib
import gzip
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

import kineto
import vtrace

HERE = os.path.dirname(os.path.abspath(__file__))
SENSOR = "period_us=100000 window_us=1000000 instant_us=25000 counter_us=20000 noise_mw=200"


class Power:
    """nvml_log.py beside us, until `stop`."""

    def __init__(self, path, library, environment, period_ms):
        command = [sys.executable, os.path.join(HERE, "nvml_log.py"), path, "--period-ms", str(period_ms)]
        self.process = subprocess.Popen(command + (["--nvml", library] if library else []), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=dict(os.environ, **environment))
        if self.process.stdout.readline() != b"ready\n":
            sys.exit(self.process.wait() or 1)

    def stop(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            sys.exit("the power log ended early")


class Recorder:
    def __init__(self, options, torch, work, gpu, timer):
        self.options, self.torch, self.work, self.gpu, self.timer = options, torch, work, gpu, timer
        self.chunks, self.kernels, self.offsets, self.anchors = [], [], [], []
        self.last_modules = None

    def synchronize(self):
        if self.options.device == "cuda":
            self.torch.cuda.synchronize()
        if self.gpu is not None:
            self.gpu.synchronize()

    def take(self):
        """What ran, where it is not the profiler that sees it."""
        simulated = self.gpu.take() if self.gpu is not None else []
        return self.timer.take() if self.timer is not None else simulated

    def anchor(self):
        name = f"{kineto.ANCHOR}.{len(self.anchors)}"
        before = time.time_ns()
        with self.torch.profiler.record_function(name):
            pass
        self.anchors.append((name, before, time.time_ns()))
        if self.options.device == "cuda":
            before = time.time_ns()
            self.synchronize()
            self.anchors.append((kineto.SYNCHRONIZE, before, time.time_ns()))

    @contextlib.contextmanager
    def modules(self):
        """Each call of a module becomes a scope of the trace, by the part of the name that is its own."""
        from workloads import local_names
        open_scopes, handles = [], []

        def enter(name):
            def hook(_module, _inputs):
                scope = self.torch.profiler.record_function(name)
                scope.__enter__()
                open_scopes.append(scope)
            return hook

        def leave(_module, _inputs, _outputs):
            open_scopes.pop().__exit__(None, None, None)

        for module, name in local_names(self.work.model, self.work.root):
            handles += [module.register_forward_pre_hook(enter(name)), module.register_forward_hook(leave)]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def step(self):
        with contextlib.ExitStack() as modes:
            for mode in (self.gpu, self.timer):  # the timer's events enclose what the GPU does
                if mode is not None:
                    modes.enter_context(mode)
            self.work.step()

    def chunk(self, kind, steps, until):
        """Runs until `steps` are done or the monotonic time `until` has passed."""
        profiler = self.torch.profiler
        activities = [profiler.ProfilerActivity.CUDA] if self.options.device == "cuda" and self.timer is None else []
        if kind == "modules" or not activities:
            activities.append(profiler.ProfilerActivity.CPU)
        self.anchors = []
        done = 0
        with contextlib.ExitStack() as stack:
            profiled = kind == "modules" or (kind == "kernels" and self.timer is None)
            prof = stack.enter_context(profiler.profile(activities=activities)) if profiled else None
            if kind == "modules":
                stack.enter_context(self.modules())
            begin = time.time_ns()
            self.anchor()
            while done < steps and (done == 0 or time.monotonic() < until):
                self.step()
                done += 1
            self.synchronize()
            self.anchor()
            end = time.time_ns()
        found = self.take()
        if self.gpu is not None:
            self.gpu.idle()
        about = {"kind": kind, "begin_ns": begin, "end_ns": end, "steps": done}
        self.chunks.append(about)
        if kind == "kernels" and prof is None:
            about["kernels"] = len(found)
            about["trace_ahead_ns"] = [-self.timer.doubt_ns, self.timer.doubt_ns]
            self.kernels += sorted((begin, end, name, "kernel", device, 7) for name, begin, end, _, device in found)
        if prof is None:
            return
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "chunk.json")
            prof.export_chrome_trace(path)
            data = kineto.load(path, self.anchors)
        low, high = kineto.clock_offset(data, self.anchors)
        about["trace_ahead_ns"] = [low, high]
        if low is not None:
            self.offsets.append((low, high))
            if low > 0 or high < 0:  # zero is not among what the anchors allow
                kineto.shift(data, -(low + high) // 2)
                about["shifted_ns"] = -(low + high) // 2
        if found:
            kineto.add_kernels(data, found)
        kineto.name_kernels(data)
        found = kineto.kernels(data)
        about["kernels"] = len(found)
        if kind == "modules":
            self.last_modules = data
        else:
            self.kernels += found


def event_timer(options, gpu):
    """Where the profiler does not see kernels; else None."""
    if options.device == "cpu" and gpu is None:
        return None
    from event_timer import Cuda, EventTimer, cupti_traces
    if options.kernels == "auto" and gpu is None and not cupti_traces():
        print("CUPTI may not trace here (`viridian doctor` says why): operators are timed by events", flush=True)
        options.kernels = "events"
    return EventTimer(gpu or Cuda()) if options.kernels == "events" else None


def run(recorder, options):
    """Warm-up, idle, three steps with modules, chunks of kernels, power alone for what is left, idle."""
    for _ in range(options.warm_up):
        recorder.step()
    recorder.synchronize()
    recorder.take()
    if recorder.gpu is not None:
        recorder.gpu.idle()
    time.sleep(options.idle)
    recorder.chunk("modules", 3, float("inf"))
    start = time.monotonic()
    while time.monotonic() < start + min(options.traced, options.seconds) \
            and len(recorder.kernels) < options.most_kernels:
        recorder.chunk("kernels", 1 << 30, min(start + options.seconds, time.monotonic() + options.chunk))
    alone = options.traced < options.seconds  # however long the kernels' last chunk took to export
    while alone or time.monotonic() < start + options.seconds:
        alone = False
        recorder.chunk("power", 1 << 30, start + options.seconds)
    time.sleep(options.idle)
    return time.monotonic() - start


def parse():
    from workloads import SIZES
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--workload", choices=SIZES, required=True)
    arguments.add_argument("-o", "--output", required=True)
    arguments.add_argument("--seconds", type=float, default=300.0, help="of work with power")
    arguments.add_argument("--traced", type=float, default=300.0, help="seconds of it with kernels")
    arguments.add_argument("--most-kernels", type=int, default=600_000)
    arguments.add_argument("--chunk", type=float, default=20.0, help="seconds between exports of the profiler")
    arguments.add_argument("--idle", type=float, default=2.0, help="seconds of nothing before and after")
    arguments.add_argument("--warm-up", type=int, default=5, help="steps")
    arguments.add_argument("--period-ms", type=float, default=1.9, help="between readings of the meter; no divisor of its own period")
    arguments.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    arguments.add_argument("--size", choices=("paper", "tiny"))
    arguments.add_argument("--kernels", choices=("auto", "cupti", "events"), default="auto",
                           help="seen by CUPTI; or, where it may not trace, operators between events")
    arguments.add_argument("--nvml", default=os.environ.get("VIRIDIAN_NVML", ""), help="another NVML library")
    arguments.add_argument("--simulated", action="store_true", help="tiny, on the CPU, scripted NVML (--nvml)")
    arguments.add_argument("--sensor", default=SENSOR, help="words for the scripted NVML")
    arguments.add_argument("--pace", type=float, default=1.0, help="how long a simulated kernel lasts")
    options = arguments.parse_args()
    if options.simulated:
        options.device = "cpu"
    options.size = options.size or ("tiny" if options.device == "cpu" else "paper")
    return options


def main():
    options = parse()
    import torch
    from workloads import workload
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("PyTorch sees no GPU here; try --simulated with --nvml, or run it where there is one")
    if options.device == "cpu":
        torch.set_num_threads(1)  # what else the machine does shall not stretch the kernels
    os.makedirs(options.output, exist_ok=True)
    gpu, environment = None, {}
    if options.simulated:
        from simulated_gpu import simulated
        gpu, environment = simulated(options)
    work = workload(options.workload, options.size, options.device)
    work.first_step()
    path = os.path.join(options.output, "power.csv")
    power = Power(path, options.nvml, environment, options.period_ms)
    timer = event_timer(options, gpu)
    recorder = Recorder(options, torch, work, gpu, timer)
    begin = time.time_ns()
    seconds = run(recorder, options)
    power.stop()
    files = {"power": "power.csv", "modules": "modules.json.gz"}
    with gzip.GzipFile(os.path.join(options.output, files["modules"]), "wb", 9, mtime=0) as file:
        file.write(json.dumps(recorder.last_modules, separators=(",", ":")).encode())
    files["kernels"] = os.path.basename(vtrace.write(os.path.join(options.output, "kernels.vtrace"), recorder.kernels,
                                                     options.workload))
    if options.simulated:
        os.remove(os.path.join(options.output, "load"))
    with open(path, encoding="utf-8") as file:
        gpu_name = next((line[6:].strip() for line in file if line.startswith("# gpu ")), "unknown")
    known = [bound for bound in recorder.offsets if bound[0] is not None]
    record = {
        "schema": "viridian.recording/1", "workload": options.workload, "about": work.about, "gpu": gpu_name,
        "simulated": options.simulated, "torch": torch.__version__, "cuda": torch.version.cuda,
        "python": platform.python_version(), "begin_ns": begin, "seconds": seconds, "files": files,
        "clock": {"zero": "unix", "trace_ahead_ns": [max((low for low, _ in known), default=None),
                                                     min((high for _, high in known), default=None)]},
        "kernels": len(recorder.kernels), "seen_by": "events" if timer is not None else "cupti", "chunks": recorder.chunks, "command": sys.argv,
    }
    if options.simulated:
        record["note"] = "simulated: not yet measured on hardware"
        record["sensor"] = options.sensor
    with open(os.path.join(options.output, "record.json"), "w", encoding="utf-8") as file:
        json.dump(record, file, indent=1)
        file.write("\n")
    print(f"{gpu_name}: {seconds:.1f} s, {len(recorder.kernels)} kernels, "
          f"{sum(chunk['steps'] for chunk in recorder.chunks)} steps; wrote {options.output}")


if __name__ == "__main__":
    main()
