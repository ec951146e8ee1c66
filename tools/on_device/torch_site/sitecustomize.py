"""Loaded by every Python that a program under `viridian record --torch` starts, the program itself included. Once one
imports torch, its profiler runs until that process ends, and the trace goes into the folder VIRIDIAN_TORCH_FOLDER, on the
clock of the power log, with the calls of modules by their qualified names (module_scopes.py). The program stays as it is.

Each process has two files, `torch.PID.json.gz` and, from its `import torch` on, `torch.PID.about`: its number, its rank in
a distributed training, what its modules cost to time, and the thread that listens for SIGTERM. `record` collects them. A
process that runs no operator, such as a launcher, leaves neither, and nor does a DataLoader's worker.

VIRIDIAN_TORCH_EVENTS: operators on a GPU are timed by events (event_timer.py); VIRIDIAN_TORCH_ENDS: SIGTERM will end the
program, and the trace is then written first."""
import atexit
import functools
import importlib
import importlib.abc
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.environ.get("VIRIDIAN_TORCH_FOLDER", "")
EVENTS = os.environ.get("VIRIDIAN_TORCH_EVENTS", "")
ENDS = os.environ.get("VIRIDIAN_TORCH_ENDS", "")


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


def end_cleanly(finish, about):
    """On SIGTERM: the trace first, then the program as if it had called sys.exit. One that is ending already ends alone.
    Python calls a handler between two of its own instructions, so a process that waits in a call of C++ does not hear."""
    import signal
    import threading
    set_handler = signal.signal

    def end(_signal, _frame):
        if os.getpid() != about.process:  # forked since, without a trace of its own
            set_handler(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)
            return
        set_handler(signal.SIGTERM, signal.SIG_IGN)
        if finish():
            raise SystemExit(128 + signal.SIGTERM)

    @functools.wraps(set_handler)
    def of_program(number, handler):
        result = set_handler(number, handler)
        if number == signal.SIGTERM and os.getpid() == about.process:
            about.tell(listener=None)  # how the program ends is its own affair
        return result

    try:
        if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            set_handler(signal.SIGTERM, end)
            signal.signal = of_program
            about.tell(listener=threading.get_native_id())
    except ValueError:  # torch is imported by a thread: only the main one may
        pass


def time_of_birth():
    """In the system's ticks, as record reads it: a process's number may be used again."""
    with open("/proc/self/stat", encoding="utf-8", errors="replace") as file:
        return int(file.read().rpartition(")")[2].split()[19])


class About:
    """What `record` is told about this process."""

    def __init__(self):
        self.process = os.getpid()
        self.trace = os.path.join(FOLDER, f"torch.{self.process}.json.gz")
        self.path = os.path.join(FOLDER, f"torch.{self.process}.about")
        self.facts = {"process": self.process, "born": time_of_birth()}
        for name in ("RANK", "LOCAL_RANK"):  # as torchrun and its like tell their workers
            if os.environ.get(name, "").isdigit():
                self.facts[name.lower()] = int(os.environ[name])
        self.write()

    def tell(self, **facts):
        self.facts.update(facts)
        self.write()

    def write(self):
        try:
            with open(self.path + ".new", "w", encoding="utf-8") as file:
                json.dump(self.facts, file)
            os.replace(self.path + ".new", self.path)
        except OSError:  # the recording's folder is gone, and its program goes on
            pass

    def withdraw(self):
        for path in (self.trace, self.path):
            if os.path.exists(path):
                os.remove(path)


def learn_rank(torch, about):
    """A process that multiprocessing started learns its rank from its own code."""
    distributed = getattr(torch, "distributed", None)
    original = getattr(distributed, "init_process_group", None)
    if original is None:
        return

    @functools.wraps(original)
    def init_process_group(*arguments, **options):
        result = original(*arguments, **options)
        if os.getpid() == about.process:
            about.tell(rank=distributed.get_rank())
        return result

    distributed.init_process_group = init_process_group


def at_end(finish):
    """Also of a process that multiprocessing forks, which ends without the functions of atexit."""
    atexit.register(finish)
    from multiprocessing import util
    util.Finalize(None, finish, exitpriority=-100)


def leave_out_data_workers(torch, leave):
    """A DataLoader's worker that is started anew imports torch and is told what it is afterwards."""
    worker = getattr(getattr(torch.utils.data, "_utils", None), "worker", None)
    original = getattr(worker, "_worker_loop", None)
    if original is None:
        return

    @functools.wraps(original)
    def _worker_loop(*arguments, **options):
        leave()
        return original(*arguments, **options)

    worker._worker_loop = _worker_loop


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
    about = About()
    recording = torch_recording.TorchRecording(torch, kineto, module_scopes, about.trace, timer)
    running = [True]

    def first_end():
        return os.getpid() == about.process and bool(running) and running.pop()

    def finish():
        """Returns whether this call was the first."""
        if not first_end():
            return False
        about.tell(ending=True)
        modules = recording.stop()
        if recording.is_empty:
            about.withdraw()
        else:
            about.tell(modules=modules)
        return True

    def leave():
        if first_end():
            recording.abandon()
            about.withdraw()

    learn_rank(torch, about)
    leave_out_data_workers(torch, leave)
    recording.start()
    at_end(finish)
    if ENDS:
        end_cleanly(finish, about)


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


if FOLDER:
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
