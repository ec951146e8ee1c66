"""load_steps.py LOAD.csv: puts a load on the GPU that steps on and off at several paces, and writes when (CSV
`time_ns,load`, for `viridian meter identify`). The load is matrix products on random data, a fraction of a millisecond
each, never more than two in the queue: it stops within one. No settings of the GPU are touched."""
import argparse
import random
import sys
import time

PACES = (0.02, 0.05, 0.1, 0.3, 1.0, 3.0)  # seconds


class Gpu:
    FULL = None

    def __init__(self):
        import torch
        if not torch.cuda.is_available():
            sys.exit("PyTorch sees no GPU here; use --simulated LOADFILE, or run it where there is one")
        self.torch, size = torch, 1024
        while True:  # a product of about 0.3 ms
            self.a = torch.randn(size, size, device="cuda", dtype=torch.bfloat16)
            self.b = torch.randn(size, size, device="cuda", dtype=torch.bfloat16)
            self.c = torch.empty_like(self.a)
            self.busy(time.time_ns() + 50_000_000)
            begin = time.perf_counter()
            for _ in range(20):
                torch.mm(self.a, self.b, out=self.c)
            torch.cuda.synchronize()
            if (time.perf_counter() - begin) / 20 > 3e-4 or size >= 16384:
                break
            size *= 2

    def busy(self, until):
        events = []
        while time.time_ns() < until:
            self.torch.mm(self.a, self.b, out=self.c)
            events.append(self.torch.cuda.Event())
            events[-1].record()
            if len(events) > 2:
                events.pop(0).synchronize()
        self.torch.cuda.synchronize()

    def set(self, load):
        pass


class Simulated:
    def __init__(self, path):
        from load_file import IDLE_WATTS, LoadFile
        self.file, self.watts = LoadFile(path), (IDLE_WATTS, 430.0)

    def busy(self, until):
        time.sleep(max(0.0, 1e-9 * (until - time.time_ns())))

    def set(self, load):
        self.file.set(time.time_ns(), self.watts[load])


def steps(seconds_per_pace, paces, draw):
    """(seconds on, seconds off), of random lengths: equal ones would beat with the sensor's period."""
    for pace in paces:
        spent = 0.0
        while spent < seconds_per_pace:
            pair = [pace * draw.uniform(0.3, 1.0) for _ in range(2)]
            spent += sum(pair)
            yield pair


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("output")
    arguments.add_argument("--idle", type=float, default=15.0, help="seconds of nothing before and after")
    arguments.add_argument("--seconds", type=float, default=20.0, help="of each pace")
    arguments.add_argument("--slowest", type=float, default=3.0)
    arguments.add_argument("--simulated", metavar="LOADFILE")
    options = arguments.parse_args()
    gpu = Simulated(options.simulated) if options.simulated else Gpu()
    with open(options.output, "w", encoding="utf-8") as log:

        def change(load):
            gpu.set(load)
            log.write(f"{time.time_ns()},{load}\n")

        log.write("time_ns,load\n")
        change(0)
        print("ready", flush=True)
        time.sleep(options.idle)
        paces = [pace for pace in PACES if pace <= options.slowest]
        for on, off in steps(options.seconds, paces, random.Random(4)):
            change(1)
            gpu.busy(time.time_ns() + int(1e9 * on))
            change(0)
            time.sleep(off)
        time.sleep(options.idle)


if __name__ == "__main__":
    main()
