"""What a table says of itself: machine, versions, threads, their places and priority, order, what else ran meanwhile. Every
line is read from the machine or the processes, not typed."""
import datetime
import os
import pathlib
import platform
import shlex
import subprocess
import sys

from systems import compiled

TOLD = ["avx2", "avx512f", "avx512_bf16", "amx_bf16"]


def machine():
    """The class of the machine: processor, cores, instruction sets, memory."""
    fields, flags = {}, set()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    flags = set(fields.get("flags", "").split())
    memory = int(pathlib.Path("/proc/meminfo").read_text().split()[1]) / 2**20
    virtual = ", a virtual machine" if "hypervisor" in flags else ""
    return (f"{fields.get('model name', platform.machine())} (family {fields.get('cpu family', '?')}, model {fields.get('model', '?')}), "
            f"{os.cpu_count()} processors{virtual}, {' '.join(name for name in TOLD if name in flags)}, {memory:.0f} GiB, "
            f"Linux {platform.release().split('-')[0]}")


def versions(settings, kinds, torch_version):
    """`kinds`: names of systems before their colon."""
    told = [subprocess.run([settings.viridian, "--version"], capture_output=True, text=True).stdout.split("\n")[0]]
    for kind, name in (("onnxruntime", "ONNX Runtime"), ("openvino", "OpenVINO")):
        if kind in kinds:
            program = compiled(kind, settings.work / "workers")
            told.append(f"{name} {subprocess.run([program, '--version'], capture_output=True, text=True, check=True).stdout.strip()}")
    return ", ".join(told + ([f"PyTorch {torch_version}"] if "torch" in kinds else []))


class Meanwhile:
    """What shared the processors with the systems: use as `with meanwhile.during(systems)` around their turns."""

    def __init__(self):
        self.all = self.used = self.stolen = self.ours = 0.0
        self.systems = []

    @staticmethod
    def ticks():
        fields = [int(x) for x in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
        user, nice, system, idle, waiting, irq, soft, stolen = fields[:8]
        return user + nice + system + idle + waiting + irq + soft + stolen, user + nice + system, stolen

    def of_systems(self):
        own = os.times()
        return own.user + own.system + sum(sum(system.seconds_of_threads().values()) for system in self.systems)

    def during(self, systems):
        self.systems = systems
        return self

    def __enter__(self):
        self.before, self.before_ours = self.ticks(), self.of_systems()

    def __exit__(self, *_):
        now, ticks = self.ticks(), os.sysconf("SC_CLK_TCK")
        self.all += (now[0] - self.before[0]) / ticks
        self.used += (now[1] - self.before[1]) / ticks
        self.stolen += (now[2] - self.before[2]) / ticks
        self.ours += self.of_systems() - self.before_ours

    def text(self):
        if self.all == 0:
            return "not known"
        others = max(0.0, self.used - self.ours) / self.all
        return f"other processes took {100 * others:.1f} % of the processors' time, the hypervisor {100 * self.stolen / self.all:.1f} %"


def placing(pin, seen):
    """`seen`: for each system, the number of processors that each of its working threads may use."""
    asked = {"all": "each thread on a processor of its own, by each system's own option", "none": "no thread pinned, in any system"}[pin]
    expected = 1 if pin == "all" else len(os.sched_getaffinity(0))
    known = [(name, count) for name, counts in seen for count in counts if count is not None]
    loose = sorted({name for name, count in known if count != expected})
    if loose:
        return f"{asked}; **not so in {', '.join(loose)}**, as the kernel says"
    return f"{asked}; the kernel confirms it for {len(known)} of {sum(len(counts) for _, counts in seen)} threads that worked"


def table_of(pairs):
    return "\n".join(["| setting | |", "|---|---|", *(f"| {name} | {value} |" for name, value in pairs)])


def today():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%-d %B %Y, %H:%M UTC")


def command():
    """The command of this process, without the folders of absolute paths, which say something on one machine only."""
    script = pathlib.Path(sys.argv[0]).resolve().relative_to(pathlib.Path(__file__).resolve().parents[2])
    given = [pathlib.Path(word).name if word.startswith("/") else word for word in sys.argv[1:]]
    return f"`{shlex.join([str(script), *given])}`"


def common(settings, options, kinds, torch_version):
    """The rows that every table has."""
    return [("date", today()),
            ("machine", machine()),
            ("command", command()),
            ("versions", versions(settings, kinds, torch_version)),
            ("threads", f"{settings.threads} for every system"),
            ("rounds", f"{options.rounds}, a turn of {options.seconds} s for each system in each, the first run of a turn not counted")]


def written(text, output):
    """Prints the text and writes it to the file, if one is given."""
    print(text, flush=True)
    if output:
        path = pathlib.Path(output)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
