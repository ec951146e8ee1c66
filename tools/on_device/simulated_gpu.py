"""A GPU that is simulated on this processor: each operator of PyTorch lasts as long, and draws as many watts, as a rule
says for its name and shapes; the watts go to the load file of the scripted NVML (tests/meter/fake/fake_load.hpp), the
kernels into a list that stands for what the profiler would have seen. Nothing here is measured on hardware."""
import hashlib
import os
import struct
import time

import torch
from torch.utils._python_dispatch import TorchDispatchMode

IDLE_WATTS, HOST_WATTS = 70.0, 95.0  # nothing to do for long; between two kernels
# No kernel on a GPU either.
QUIET = {"t", "transpose", "view", "_unsafe_view", "detach", "detach_", "expand", "as_strided", "permute", "slice",
         "select", "unsqueeze", "squeeze", "alias", "empty", "empty_like", "empty_strided", "new_empty", "reshape",
         "split", "unbind", "is_same_size", "_local_scalar_dense", "_reshape_alias", "lift_fresh", "resize_", "set_",
         "new_empty_strided", "zeros"}
HEAVY = ("mm", "addmm", "bmm", "baddbmm", "convolution", "convolution_backward", "linear")


class LoadFile:
    """Steps (Unix ns, watts), appended before and after each piece of work."""

    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def set(self, time_ns, watts):
        os.write(self.file, struct.pack("<qd", time_ns, watts))


def rule(kind):
    """Seconds and watts of a kind of kernel: fixed by its name."""
    draw = hashlib.sha256(kind.encode()).digest()
    heavy = kind.split("_kernel")[0].removeprefix("simulated_") in HEAVY
    seconds = (3e-3 if heavy else 0.8e-3) * (0.5 + draw[0] / 255.0)
    return seconds, 140.0 + (180.0 if heavy else 0.0) + 120.0 * draw[1] / 255.0


class SimulatedGpu(TorchDispatchMode):
    def __init__(self, load, pace=1.0):
        super().__init__()
        self.load, self.pace, self.kernels = load, pace, []  # (name, begin_ns, end_ns)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.__name__.split(".")[0]
        if name in QUIET or not str(function).startswith("aten."):
            return function(*args, **(kwargs or {}))
        shapes = "x".join(str(one.numel()) for one in args if isinstance(one, torch.Tensor))
        kind = f"simulated_{name}_kernel<{shapes}>"
        seconds, watts = rule(kind)
        begin = time.time_ns()
        self.load.set(begin, watts)
        result = function(*args, **(kwargs or {}))
        rest = self.pace * seconds - 1e-9 * (time.time_ns() - begin)
        if rest > 0:
            time.sleep(rest)
        end = time.time_ns()
        self.load.set(end, HOST_WATTS)
        self.kernels.append((kind, begin, end))
        return result

    def idle(self):
        self.load.set(time.time_ns(), IDLE_WATTS)

    def take(self):
        taken, self.kernels = self.kernels, []
        return taken
