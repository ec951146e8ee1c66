"""Loaded by Python before a program that `viridian record --torch` starts: once the program imports torch, its profiler
runs until the program ends, and the trace goes to the file that VIRIDIAN_TORCH_TRACE names, on the clock of the power
log. The program itself stays as it is."""
import atexit
import importlib
import importlib.abc
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = os.environ.pop("VIRIDIAN_TORCH_TRACE", "")  # processes that the program starts are not traced


def trace(torch):
    sys.path.insert(0, os.path.dirname(HERE))
    import kineto
    sys.path.pop(0)
    profiler, anchors, owner = torch.profiler, [], os.getpid()
    kinds = [profiler.ProfilerActivity.CPU]
    if torch.cuda.is_available():
        kinds.append(profiler.ProfilerActivity.CUDA)
    prof = profiler.profile(activities=kinds)

    def anchor():
        name, before = f"{kineto.ANCHOR}.{len(anchors)}", time.time_ns()
        with profiler.record_function(name):
            pass
        anchors.append((name, before, time.time_ns()))

    def finish():
        if os.getpid() != owner:
            return
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            torch.cuda.synchronize()
        anchor()
        prof.stop()
        import gzip
        import json
        raw = TARGET + ".raw.json"
        prof.export_chrome_trace(raw)
        data = kineto.load(raw, anchors)
        os.remove(raw)
        low, high = kineto.clock_offset(data, anchors)
        if low is not None and (low > 0 or high < 0):
            kineto.shift(data, -(low + high) // 2)
        data["viridianClock"] = {"trace_ahead_ns": [low, high]}
        with gzip.GzipFile(TARGET, "wb", 6, mtime=0) as file:
            file.write(json.dumps(data, separators=(",", ":")).encode())

    prof.start()
    anchor()
    atexit.register(finish)


class AfterTorch(importlib.abc.MetaPathFinder):
    """Lets torch be found as ever, and starts the profiler when its import is over."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module):
                run(module)
                trace(module)

            spec.loader.exec_module = exec_module
        return spec


if TARGET:
    import importlib.util
    sys.meta_path.insert(0, AfterTorch())

# The machine's own sitecustomize, which this one hides.
sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != HERE]
sys.modules.pop("sitecustomize", None)
try:
    importlib.import_module("sitecustomize")
except ImportError:
    pass
