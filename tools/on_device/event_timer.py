"""Where CUPTI may not trace: each operator of PyTorch between two events that its stream passes, on Unix time. What is
timed is an operator (`mm <96x1024,1024x1024>`), not its kernels, and the gaps of its launches with it: good for kernels
that last longer than a launch. Operators that are compiled, or replayed from a graph, are not seen."""
import os
import tempfile
import time

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import kineto

# No kernel on a GPU either.
QUIET = {"t", "transpose", "view", "_unsafe_view", "detach", "detach_", "expand", "as_strided", "permute", "slice",
         "select", "unsqueeze", "squeeze", "alias", "empty", "empty_like", "empty_strided", "new_empty", "reshape",
         "split", "unbind", "is_same_size", "_local_scalar_dense", "_reshape_alias", "lift_fresh", "resize_", "set_",
         "new_empty_strided", "zeros"}
DRAIN = 4096  # operators: half of them are read, and those have run long since


def tensors_of(args, kwargs):
    for one in [*args, *kwargs.values()]:
        if isinstance(one, torch.Tensor):
            yield one
        elif isinstance(one, (list, tuple)):
            yield from (part for part in one if isinstance(part, torch.Tensor))


def operator(function):
    """Its name, or None where it launches nothing."""
    name = function.__name__.split(".")[0]
    return None if name in QUIET or not str(function).startswith("aten.") else name


class Cuda:
    """What the timer asks of a GPU; simulated_gpu.py answers the same."""

    def device_of(self, args, kwargs):
        if not torch.cuda.is_initialized() or torch.cuda.is_current_stream_capturing():
            return None
        return next((one.device.index for one in tensors_of(args, kwargs) if one.is_cuda), None)

    def event(self, device):
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(device))
        return event

    def synchronize(self, device):
        torch.cuda.synchronize(device)


class EventTimer(TorchDispatchMode):
    def __init__(self, gpu):
        super().__init__()
        self.gpu, self.owner = gpu, os.getpid()
        self.pending, self.done = [], []
        self.base = {}  # device: (event, its Unix ns)
        self.doubt_ns = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = operator(function)
        device = self.gpu.device_of(args, kwargs) if name and os.getpid() == self.owner else None
        if device is None:
            return function(*args, **kwargs)
        if device not in self.base:
            self.anchor(device)
        shapes = ",".join("x".join(map(str, one.shape)) for one in tensors_of(args, kwargs))
        launched, begin = time.time_ns(), self.gpu.event(device)
        result = function(*args, **kwargs)
        self.pending.append((f"{name} <{shapes}>", begin, self.gpu.event(device), launched, device))
        if len(self.pending) >= DRAIN:
            self.drain(DRAIN // 2)
        return result

    def anchor(self, device):
        """An event between two readings of the clock, the closest of a few."""
        best = None
        for _ in range(8):
            self.gpu.synchronize(device)
            before, event = time.time_ns(), self.gpu.event(device)
            event.synchronize()
            after = time.time_ns()
            if best is None or after - before < best[0]:
                best = (after - before, event, (before + after) // 2)
        self.base[device] = best[1:]
        self.doubt_ns = max(self.doubt_ns, best[0] // 2)

    def drain(self, count):
        for name, begin, end, launched, device in self.pending[:count]:
            end.synchronize()
            event, at = self.base[device]
            first, last = (at + round(1e6 * event.elapsed_time(one)) for one in (begin, end))
            self.base[device] = (end, last)  # milliseconds in 24 bits: short distances alone are exact
            self.done.append((name, first, last, launched, device))
        del self.pending[:count]

    def take(self):
        """[(name, begin ns, end ns, launched ns, device)] of all that ran; waits for it."""
        self.drain(len(self.pending))
        taken, self.done = self.done, []
        return taken


def cupti_traces():
    """Whether PyTorch's profiler sees kernels here."""
    profiler = torch.profiler
    if profiler.ProfilerActivity.CUDA not in profiler.supported_activities():
        return False
    with profiler.profile(activities=[profiler.ProfilerActivity.CUDA]) as prof:
        torch.ones(64, device="cuda").sum().item()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "chunk.json")
        prof.export_chrome_trace(path)
        return bool(kineto.kernels(kineto.load(path, [])))
