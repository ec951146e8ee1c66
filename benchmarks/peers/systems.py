"""The systems that are compared, each in a process of its own that runs one model on the same inputs, turn by turn: Viridian
by its command, ONNX Runtime and OpenVINO by the C interfaces of the libraries in their wheels (worker_*.cpp, compiled
here), PyTorch by worker_torch.py. Threads, their places and their priority are the same for all."""
import dataclasses
import json
import math
import os
import pathlib
import shlex
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
WORKING = 0.1  # share of a process's processor time from which a thread counts as one that worked


@dataclasses.dataclass
class Settings:
    """How every system runs. `pin`: "all" keeps each thread on a processor of its own, "none" pins nothing."""
    viridian: str
    work: pathlib.Path
    threads: int = 2
    pin: str = "all"
    nice: int = 0
    real_time: bool = False
    torch: str = ""  # a python that has PyTorch
    torch_worker: pathlib.Path = HERE / "worker_torch.py"

    def processors(self):
        """One processor for each thread, on cores of their own: those that Viridian takes."""
        first = {}
        for processor in sorted(os.sched_getaffinity(0)):
            siblings = pathlib.Path(f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list")
            first.setdefault(siblings.read_text() if siblings.exists() else processor, processor)
        if len(first) < self.threads:
            raise RuntimeError(f"{self.threads} threads cannot be pinned to {len(first)} cores; give --pin none")
        return list(first.values())[:self.threads]

    def prefix(self):
        return (["chrt", "-f", "10"] if self.real_time else []) + (["nice", "-n", str(self.nice)] if self.nice else [])


def compiled(worker, folder):
    """The program of worker_NAME.cpp, compiled against the library of the wheel that this Python has installed."""
    source, program = HERE / f"worker_{worker}.cpp", pathlib.Path(folder) / f"worker_{worker}"
    if worker == "onnxruntime":
        import onnxruntime
        library = next((pathlib.Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so.*"))
        flags = [f'-DONNXRUNTIME_LIBRARY="{library}"']
    else:
        import openvino
        root = pathlib.Path(openvino.__file__).parent
        library = next((root / "libs").glob("libopenvino_c.so.*"))
        flags = ["-isystem", root / "include", library, f"-Wl,-rpath,{root / 'libs'}"]
    newest = max(path.stat().st_mtime for path in (source, HERE / "worker.hpp", library))
    if not program.exists() or program.stat().st_mtime < newest:
        program.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["c++", "-std=c++20", "-O2", source, "-o", program, *flags], check=True)
    return program


# One heap that grows by huge pages and is not given back, as Viridian's arenas are kept, instead of memory that is mapped anew for each
# large tensor.
KEPT_HUGE_PAGES = ":".join(f"glibc.malloc.{name}" for name in (
    "hugetlb=1", "mmap_max=0", "arena_max=1", f"trim_threshold={1 << 36}", f"top_pad={1 << 28}"))


def command_of(settings, name, bound, plan, outputs):
    """The command and the environment of the system NAME, or NAME:WAY: the precision of a runtime, the mode of PyTorch. For
    Viridian, WAY only says how the plan was made."""
    kind, _, way = name.partition(":")
    pinned = settings.processors() if settings.pin == "all" else []
    threads, places = str(settings.threads), ",".join(map(str, pinned)) or "-"
    environment = dict(os.environ)
    if kind == "viridian":
        command = [settings.viridian, "run", plan or bound.model, "--paced", "--threads", threads, "--inputs", bound.inputs, "-o", outputs]
        return command + ([] if pinned else ["--no-pin"]), environment
    if kind == "torch":
        environment |= {"OMP_PROC_BIND": "true", "OMP_PLACES": ",".join(f"{{{p}}}" for p in pinned)} if pinned else {"OMP_PROC_BIND": "false"}
        if "huge" in way.split("."):
            environment["GLIBC_TUNABLES"] = KEPT_HUGE_PAGES
        return [settings.torch, settings.torch_worker, bound.model, threads, bound.inputs, way or "eager"], environment
    program = compiled(kind, settings.work / "workers")
    return [program, bound.model, bound.tensors, threads, places, way or "f32", outputs], environment


class System:
    """A running system. `times` holds a list of seconds for each turn."""

    def __init__(self, settings, name, bound, plan=None):
        self.name, self.bound, self.times, self.pinned = name, bound, [], settings.pin == "all"
        self.outputs = bound.folder / "outputs" / f"{name.replace(':', '.')}.{settings.nice}"
        self.outputs.mkdir(parents=True, exist_ok=True)
        command, environment = command_of(settings, name, bound, plan, self.outputs)
        self.command = [str(part) for part in settings.prefix() + command]
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        first = self.answer()
        self.ready, self.memory_before = first["ready"], first.get("memory_before", math.nan)  # older builds do not tell

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} stopped (what it says stands above): {shlex.join(self.command)}")
        return json.loads(line)

    def turn(self, seconds, counted=True):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        times = self.answer()
        if counted:
            self.times.append(times)
        return times

    def growth(self):
        """MiB by which the peak of the process has grown since its libraries were loaded and before it read the model."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return (int(line.split()[1]) * 1024 - self.memory_before) / 2**20
        return math.nan

    def seconds_of_threads(self):
        """{thread: processor seconds so far} of the process."""
        ticks, seconds = os.sysconf("SC_CLK_TCK"), {}
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                fields = (task / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # the thread has ended
                continue
            seconds[int(task.name)] = (int(fields[11]) + int(fields[12])) / ticks
        return seconds

    def places(self):
        """{thread: number of processors it may run on} of the threads that are running now, as the kernel says."""
        seen = {}
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                if (task / "stat").read_text().rpartition(")")[2].split()[0] == "R":
                    seen[int(task.name)] = len(os.sched_getaffinity(int(task.name)))
            except OSError:  # the thread has ended
                continue
        return seen

    def warm_up(self, seconds):
        """A turn that does not count, and up to nine more while a thread that works was not yet seen at its place. Returns for
        each thread that worked on how many processors it was allowed to run meanwhile, None if it was never seen running.
        Several looks are needed because OpenVINO pins its caller only during a run: a look between two runs finds it free."""
        before, allowed = self.seconds_of_threads(), {}
        for _ in range(10):
            self.look_during_turn(seconds, allowed)
            spent = {thread: now - before.get(thread, 0) for thread, now in self.seconds_of_threads().items()}
            working = [thread for thread in spent if spent[thread] > WORKING * sum(spent.values())]
            if all(thread in allowed and (allowed[thread] == 1 or not self.pinned) for thread in working):
                break
        return [allowed.get(thread) for thread in working]

    def look_during_turn(self, seconds, allowed):
        """Runs a turn that does not count, and notes in `allowed` on how few processors each thread was seen running."""
        done = threading.Event()

        def look():
            if os.sched_getscheduler(self.process.pid) == os.SCHED_FIFO:  # this thread alone must run beside real-time ones
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(os.sched_getparam(self.process.pid).sched_priority + 1))
            while not done.wait(seconds / 20):
                for thread, count in self.places().items():
                    allowed[thread] = min(count, allowed.get(thread, count))

        watch = threading.Thread(target=look)
        watch.start()
        self.turn(seconds, counted=False)
        done.set()
        watch.join()

    def priority(self):
        """As the kernel says."""
        policy = {os.SCHED_OTHER: "", os.SCHED_FIFO: "FIFO ", os.SCHED_RR: "round-robin "}.get(os.sched_getscheduler(self.process.pid), "other ")
        if policy:
            return f"{policy}{os.sched_getparam(self.process.pid).sched_priority}"
        return f"nice {os.getpriority(os.PRIO_PROCESS, self.process.pid)}"

    def close(self):
        """Ends the process. Returns its outputs' relative error against ONNX Runtime's, or None if it wrote none."""
        self.process.stdin.close()
        with self.process.stdout as rest:
            rest.read()
        if self.process.wait() != 0:
            raise RuntimeError(f"{self.name} failed at its end: {shlex.join(self.command)}")
        return self.bound.error(self.outputs) if any(self.outputs.iterdir()) else None


def torch_of(wanted):
    """(python, version) of a Python that has PyTorch and torchvision: the one wanted, else this one or Debian's; ("", "") if none has."""
    ask = "import torch, torchvision; print(torch.__version__)"
    for python in [wanted] if wanted else [sys.executable, "/usr/bin/python3"]:
        if not pathlib.Path(python).exists():
            continue
        done = subprocess.run([python, "-c", ask], capture_output=True, text=True)
        if done.returncode == 0:
            return python, done.stdout.strip()
        if wanted:
            raise RuntimeError(f"{python} has no PyTorch with torchvision; name one that has, or leave the option out")
    return "", ""


def has_network(settings, name):
    """Whether worker_torch.py has the zoo network NAME."""
    return subprocess.run([settings.torch, HERE / "worker_torch.py", "--has", name]).returncode == 0


def empty_call(settings, names):
    """{name: median seconds of a run} of a model that is one Relu of eight elements: what a call itself takes."""
    import onnx
    from models import Bound
    from turns import percentile
    folder = settings.work / "empty"
    folder.mkdir(parents=True, exist_ok=True)
    value = {name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [8]) for name in "xy"}
    graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "empty", [value["x"]], [value["y"]])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, folder / "empty.onnx")
    bound, taken = Bound(folder / "empty.onnx", folder, 2), {}
    for name in names:
        system = System(settings, name, bound)
        system.turn(0.2)
        error = system.close()
        assert error is None or error == 0, f"{name} computed Relu wrongly"
        taken[name] = percentile(system.times[0], 0.5)
    return taken
