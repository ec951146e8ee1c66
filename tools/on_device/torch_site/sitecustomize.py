"""Loaded by Python before a program that `viridian record --torch` starts: once the program imports torch, its profiler
runs until the program ends, and the trace goes to the file that VIRIDIAN_TORCH_TRACE names, on the clock of the power
log. Calls of modules are in it by their qualified names (module_scopes.py). The program itself stays as it is. VIRIDIAN_TORCH_EVENTS: operators on a GPU are timed by events (event_timer.py);
VIRIDIAN_TORCH_ENDS: SIGTERM will end the program, and the trace is then written first."""
import atexit
import importlib
import importlib.abc
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = os.environ.pop("VIRIDIAN_TORCH_TRACE", "")  # processes that the program starts are not traced
EVENTS = os.environ.pop("VIRIDIAN_TORCH_EVENTS", "")
ENDS = os.environ.pop("VIRIDIAN_TORCH_ENDS", "")


def timer_of_events():
    """Around all that the program does from here on. Anything but `cuda` is a load file: simulated."""
    from event_timer import Cuda, EventTimer
    if EVENTS == "cuda":
        gpu = Cuda()
    else:
        from load_file import LoadFile
        from simulated_gpu import SimulatedGpu
        gpu = SimulatedGpu(LoadFile(EVENTS)).__enter__()
    return EventTimer(gpu).__enter__()


def end_cleanly(finish):
    """On SIGTERM: the trace first, then the program as if it had called sys.exit."""
    import signal

    def end(_signal, _frame):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        finish()
        raise SystemExit(128 + signal.SIGTERM)

    try:
        if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, end)
    except ValueError:  # torch is imported by a thread: only the main one may
        pass


def trace(torch):
    ours = ("kineto", "module_scopes", "torch_recording", "event_timer", "load_file", "simulated_gpu")
    theirs = {name: sys.modules.pop(name) for name in ours if name in sys.modules}
    sys.path.insert(0, os.path.dirname(HERE))
    import kineto
    import module_scopes
    import torch_recording
    timer = timer_of_events() if EVENTS else None
    sys.path.pop(0)
    for name in ours:  # the program may have modules of these names
        sys.modules.pop(name, None)
    sys.modules.update(theirs)
    recording, owner = torch_recording.TorchRecording(torch, kineto, module_scopes, TARGET, timer), os.getpid()

    def finish():
        if os.getpid() != owner:
            return
        atexit.unregister(finish)
        about_modules = recording.stop()
        if about_modules is not None:
            import json
            with open(TARGET + ".modules", "w", encoding="utf-8") as file:
                json.dump(about_modules, file)

    recording.start()
    atexit.register(finish)
    if ENDS:
        end_cleanly(finish)


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

# The machine's own sitecustomize, which this one hides. Without one this module must be back in its place when its
# import ends: the import system looks it up there.
sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != HERE]
ours = sys.modules.pop("sitecustomize", None)
try:
    importlib.import_module("sitecustomize")
except ImportError as error:
    if error.name != "sitecustomize":
        raise
    if ours is not None:
        sys.modules["sitecustomize"] = ours
