"""nvml_log.py POWER.csv [--period-ms 1.9]: reads the GPU's power and energy through ctypes and NVML until its standard
input closes; writes Viridian's power log (docs/meter.md), one row where a value or its stamp is new. The counter has no stamps:
at the end its rows get the times of its renewals (beat.py; `# counter_beat_ns N`, or `none`). Twice a second comes a
comment `# state TIME_NS SM_MHZ MEMORY_MHZ CELSIUS`. A process of its own: the program under measurement holds Python's lock. `--nvml` names another library (the scripted one)."""
import argparse
import ctypes
import os
import select
import statistics
import sys
import time

from beat import renewed

HEADER = "time_ns,meter,device,scope,kind,value,window_ns"
AVERAGE, INSTANT = 185, 186  # NVML_FI_DEV_POWER_AVERAGE, NVML_FI_DEV_POWER_INSTANT (nvml.h)
FOLDERS = ("", "/usr/lib/x86_64-linux-gnu/", "/usr/lib64/", "/usr/local/nvidia/lib64/", "/usr/local/nvidia/lib/")


def states(lines, begin=0, end=1 << 62):
    """Medians of what the log's `lines` say between two times: {"sm_mhz": .., "memory_mhz": .., "celsius": ..}."""
    names = ("sm_mhz", "memory_mhz", "celsius")
    seen = {name: [] for name in names}
    for line in lines:
        words = line.split()
        if len(words) == 6 and words[:2] == ["#", "state"] and begin <= int(words[2]) <= end:
            for name, word in zip(names, words[3:]):
                if word != "?":
                    seen[name].append(int(word))
    return {name: statistics.median(values) for name, values in seen.items() if values}


class Value(ctypes.Union):
    _fields_ = [("real", ctypes.c_double), ("number", ctypes.c_uint), ("wide", ctypes.c_ulonglong)]


class Field(ctypes.Structure):  # nvmlFieldValue_t
    _fields_ = [("id", ctypes.c_uint), ("scope", ctypes.c_uint), ("stamp_us", ctypes.c_longlong),
                ("latency_us", ctypes.c_longlong), ("type", ctypes.c_uint), ("status", ctypes.c_int), ("value", Value)]


class Gpu:
    """One GPU's meters. Raises RuntimeError with a sentence when NVML or the GPU cannot be read."""

    def __init__(self, library="", index=0):
        names = [library] if library else [folder + "libnvidia-ml.so.1" for folder in FOLDERS]
        self.nvml = next((one for one in map(self._load, names) if one is not None), None)
        if self.nvml is None:
            raise RuntimeError("there is no NVML library here; install the NVIDIA driver, or name one with --nvml")
        self._check(self.nvml.nvmlInit_v2(), "NVML does not start")
        self.handle = ctypes.c_void_p()
        self._check(self.nvml.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(index), ctypes.byref(self.handle)),
                    f"there is no GPU {index}")
        self.device = f"cuda:{index}"
        self.fields = (Field * 2)()
        self.wide, self.milliwatts = ctypes.c_ulonglong(), ctypes.c_uint()

    @staticmethod
    def _load(name):
        try:
            return ctypes.CDLL(name)
        except OSError:
            return None

    def _check(self, status, what):
        if status != 0:
            self.nvml.nvmlErrorString.restype = ctypes.c_char_p
            raise RuntimeError(f"{what}: {self.nvml.nvmlErrorString(status).decode()}")

    def text(self, function, *first):
        buffer = ctypes.create_string_buffer(96)
        return buffer.value.decode() if getattr(self.nvml, function)(*first, buffer, 95) == 0 else "unknown"

    def name(self):
        return self.text("nvmlDeviceGetName", self.handle)

    def driver(self):
        return self.text("nvmlSystemGetDriverVersion")

    def read(self):
        """[(kind, Unix ns, value, window ns)]: what the GPU answers, in microjoules and microwatts."""
        rows = []
        now = time.time_ns()
        if self.nvml.nvmlDeviceGetTotalEnergyConsumption(self.handle, ctypes.byref(self.wide)) == 0:
            rows.append(("energy_uj", now, self.wide.value * 1000, 0))
        for field, number in zip(self.fields, (AVERAGE, INSTANT)):
            field.id, field.scope, field.stamp_us, field.status = number, 0, 0, 3
        now = time.time_ns()
        answered = False
        if self.nvml.nvmlDeviceGetFieldValues(self.handle, 2, self.fields) == 0:
            for field, kind in zip(self.fields, ("average_uw", "power_uw")):
                if field.status == 0:
                    answered = True
                    value = field.value.number if field.type == 1 else field.value.wide
                    stamp = field.stamp_us * 1000 if field.stamp_us > 0 else now
                    rows.append((kind, stamp, value * 1000, 1_000_000_000 if kind == "average_uw" else 0))
        if not answered and self.nvml.nvmlDeviceGetPowerUsage(self.handle, ctypes.byref(self.milliwatts)) == 0:
            rows.append(("power_uw", now, self.milliwatts.value * 1000, 0))
        return rows


    def state(self):
        """(MHz of the multiprocessors, of the memory, degrees Celsius), None where the GPU does not say."""
        found = []
        for function, which in (("nvmlDeviceGetClockInfo", 1), ("nvmlDeviceGetClockInfo", 2),
                                ("nvmlDeviceGetTemperature", 0)):  # NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU
            ask = getattr(self.nvml, function, None)
            answered = ask and ask(self.handle, ctypes.c_uint(which), ctypes.byref(self.milliwatts)) == 0
            found.append(self.milliwatts.value if answered else None)
        return found


class Log:
    def __init__(self, path, gpu):
        self.file, self.gpu, self.last, self.rows = open(path, "w", encoding="utf-8"), gpu, {}, 0
        self.path, self.offset = path, time.time_ns() - time.monotonic_ns()
        self.next_state, self.asked, self.brackets = 0, 0, []
        self.file.write(f"{HEADER}\n# clock realtime\n# recorded_by nvml_log.py\n# gpu {gpu.name()}\n# driver {gpu.driver()}\n"
                        f"# monotonic_offset_ns {self.offset}\n")

    def add(self):
        offset = time.time_ns() - time.monotonic_ns()
        if abs(offset - self.offset) > 100_000:  # the clock was set
            self.offset = offset
            self.file.write(f"# monotonic_offset_ns {offset}\n")
        now = time.time_ns()
        if now >= self.next_state:
            self.next_state = now + 500_000_000
            words = " ".join("?" if one is None else str(one) for one in self.gpu.state())
            self.file.write(f"# state {now} {words}\n")
        asked, self.asked = self.asked, now
        for kind, stamp, value, window in self.gpu.read():
            last = self.last.get(kind)
            if last is not None and (stamp <= last[0] or (value == last[1] and kind == "energy_uj")):
                continue
            if last is not None and value == last[1] and stamp - last[0] < 10_000_000:
                continue  # a driver that stamps the question, not the reading
            if kind == "energy_uj":
                self.brackets.append((asked if last is not None else stamp, stamp))
            self.last[kind] = (stamp, value)
            self.rows += 1
            self.file.write(f"{stamp},nvml,{self.gpu.device},gpu,{kind},{value},{window}\n")

    def close(self):
        """The counter's rows get the times of its renewals; of the first the age is unknown."""
        times, period = renewed(self.brackets[1:]) if len(self.brackets) > 1 else ([], None)
        self.file.write(f"# counter_beat_ns {'none' if period is None else round(period)}\n")
        self.file.close()
        left = iter(times)
        with open(self.path, encoding="utf-8") as file, open(self.path + ".part", "w", encoding="utf-8") as out:
            seen = False
            for one in file:
                if ",energy_uj," in one:
                    one = f"{next(left)},{one.split(',', 1)[1]}" if seen else one
                    seen = True
                out.write(one)
        os.replace(self.path + ".part", self.path)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("output")
    arguments.add_argument("--period-ms", type=float, default=1.9)
    arguments.add_argument("--nvml", default=os.environ.get("VIRIDIAN_NVML", ""))
    arguments.add_argument("--gpu", type=int, default=0)
    options = arguments.parse_args()
    try:
        gpu = Gpu(options.nvml, options.gpu)
        if not gpu.read():
            raise RuntimeError("this GPU reports neither energy nor power")
    except RuntimeError as fault:
        sys.exit(str(fault))
    log, costs, period = Log(options.output, gpu), [], options.period_ms * 1e-3
    print("ready", flush=True)
    next_time = time.monotonic()
    while True:
        before = time.perf_counter()
        log.add()
        costs.append(time.perf_counter() - before)
        next_time = max(next_time + period, time.monotonic())
        wait = max(0.0, next_time - time.monotonic())
        if select.select([sys.stdin], [], [], wait)[0] and not sys.stdin.buffer.read1(1):
            break
    log.file.write(f"# read_us median {1e6 * statistics.median(costs):.1f}\n")
    log.close()


if __name__ == "__main__":
    main()
