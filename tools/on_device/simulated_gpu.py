"""A GPU that is simulated: operators of PyTorch are queued as kernels, each of which lasts as long, and draws as many watts,
as a rule says for its name and shapes; the watts go to the load file of the scripted NVML (tests/meter/fake/
fake_load.hpp), the kernels into a list that stands for what the profiler would have seen. Its clock runs by itself: when
this processor is late, the queue runs empty, but no kernel gets longer. Nothing here is measured on hardware."""
import hashlib
import os
import random
import time

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from event_timer import operator
from load_file import HOST_WATTS, IDLE_WATTS, LoadFile

LAUNCH_NS, QUEUED_NS = 10_000, 200_000_000  # from the call to the kernel; how much work waits at most
JITTER = 0.02  # of a kernel's time
HEAVY = ("mm", "addmm", "bmm", "baddbmm", "convolution", "convolution_backward", "linear")


def rule(kind):
    """Seconds and watts of a kind of kernel: fixed by its name."""
    draw = hashlib.sha256(kind.encode()).digest()
    heavy = kind.split("_kernel")[0].removeprefix("simulated_") in HEAVY
    seconds = (3e-3 if heavy else 0.8e-3) * (0.5 + draw[0] / 255.0)
    return seconds, 140.0 + (180.0 if heavy else 0.0) + 120.0 * draw[1] / 255.0


def sleep_until(moment_ns):
    time.sleep(max(0.0, 1e-9 * (moment_ns - time.time_ns())))


class SimulatedEvent:
    def __init__(self, moment_ns):
        self.moment_ns = moment_ns

    def synchronize(self):
        sleep_until(self.moment_ns)

    def elapsed_time(self, later):
        return 1e-6 * (later.moment_ns - self.moment_ns)


class SimulatedGpu(TorchDispatchMode):
    def __init__(self, load, pace=1.0):
        super().__init__()
        self.load, self.pace, self.free, self.random = load, pace, 0, random.Random(7)
        self.kernels = []  # (name, begin ns, end ns, launched ns, device)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        name = operator(function)
        if name is None:
            return result
        shapes = "x".join(str(one.numel()) for one in args if isinstance(one, torch.Tensor))
        kind = f"simulated_{name}_kernel<{shapes}>"
        seconds, watts = rule(kind)
        now = time.time_ns()
        begin = max(now + LAUNCH_NS, self.free)
        self.free = begin + round(1e9 * self.pace * seconds * (1.0 + JITTER * self.random.uniform(-1.0, 1.0)))
        self.load.set(begin, watts)
        self.load.set(self.free, HOST_WATTS)
        self.kernels.append((kind, begin, self.free, now, 0))
        sleep_until(self.free - QUEUED_NS)
        return result

    def device_of(self, _args, _kwargs):
        return 0

    def event(self, _device):
        return SimulatedEvent(max(time.time_ns() + LAUNCH_NS, self.free))

    def synchronize(self, _device=0):
        sleep_until(self.free)

    def idle(self):
        self.synchronize()
        self.load.set(time.time_ns(), IDLE_WATTS)

    def take(self):
        taken, self.kernels = self.kernels, []
        return taken


def simulated(options):
    """One that idles, with its load in options.output, and the environment in which the scripted NVML plays that."""
    load = os.path.abspath(os.path.join(options.output, "load"))
    open(load, "wb").close()
    gpu = SimulatedGpu(LoadFile(load), options.pace)
    gpu.idle()
    return gpu, {"VIRIDIAN_FAKE_NVML": f"load={load} {options.sensor}"}
