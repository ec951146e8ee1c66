#!/usr/bin/env python3
"""disturbed.py --viridian BIN --work DIR [--models a,b] [--output FILE.md]: Viridian, ONNX Runtime and OpenVINO beside 0, 1 and 2
processes that only spin, each system at nice 0 and at nice 19, in one interleaved run: in every round each setting has its
slot, and in it each system its turn, in an order that changes every round. Prints mean, median and 99th percentile of the
runs of each, every setting, and how much of a processor the spinning processes really got, and writes them to FILE.md."""
import argparse
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

from models import Bound, plan, zoo_model
from setting import Meanwhile, common, placing, table_of, written
from systems import Settings, System
from turns import orders, percentile

SYSTEMS = ["viridian", "onnxruntime", "openvino"]
NICE = [0, 19]
MOST_SPINNING = 2


class Spinner:
    """A process that computes and never waits, at nice 0. It is stopped whenever it is not asked for."""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        self.send(signal.SIGSTOP)

    def send(self, what):
        os.kill(self.process.pid, what)

    def seconds(self):
        """Of a processor so far, as the kernel's scheduler counts them, in nanoseconds."""
        return int(pathlib.Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[0]) / 1e9

    def end(self):
        self.process.kill()
        self.process.wait()


class Slot:
    """One setting of one network: so many spinning processes, one priority, all systems."""

    def __init__(self, spinning, nice, systems):
        self.spinning, self.nice, self.systems = spinning, nice, systems
        self.times = {system.name: [] for system in systems}
        self.turned = {system.name: 0.0 for system in systems}
        self.turns, self.spun, self.wall = 0, 0.0, 0.0

    def done(self, options):
        return all(seconds >= options.cell or self.turns >= options.turns and len(self.times[name]) >= options.runs
                   for name, seconds in self.turned.items())

    def turn(self, order, spinners, options):
        """A system that has used its seconds sits out; the others go on."""
        used = spinners[:self.spinning]
        before, start = sum(spinner.seconds() for spinner in used), time.perf_counter()
        for spinner in used:
            spinner.send(signal.SIGCONT)
        try:
            for place in order:
                system, begin = self.systems[place], time.perf_counter()
                if self.turned[system.name] >= options.cell:
                    continue
                self.times[system.name] += system.turn(options.seconds, counted=False)
                self.turned[system.name] += time.perf_counter() - begin
        finally:
            for spinner in used:
                spinner.send(signal.SIGSTOP)
        self.wall += time.perf_counter() - start
        self.spun += sum(spinner.seconds() for spinner in used) - before
        self.turns += 1

    def share(self):
        """Of a processor, what each spinning process got."""
        return self.spun / self.wall / self.spinning if self.spinning else None


class Disturbed:
    def __init__(self, options):
        self.options, self.seen, self.slots, self.meanwhile = options, [], [], Meanwhile()
        self.settings = [Settings(options.viridian, pathlib.Path(options.work), options.threads, options.pin, nice) for nice in NICE]

    def run(self, name, spinners):
        options, model = self.options, zoo_model(self.options, name)
        its_plan = plan(options, model)
        bound = Bound(model, pathlib.Path(options.work) / "tensors" / model.stem, 2, options.threads)
        groups = [[System(settings, system, bound, its_plan if system == "viridian" else None) for system in SYSTEMS] for settings in self.settings]
        every = [system for group in groups for system in group]
        for system in every:
            self.seen.append((system.name, system.warm_up(0.3)))
        slots = [Slot(spinning, nice, group) for spinning in range(MOST_SPINNING + 1) for nice, group in zip(NICE, groups)]
        of_slots, of_systems = orders(len(slots)), orders(len(SYSTEMS))
        with self.meanwhile.during(every):
            number = 0
            while left := [place for place in of_slots[number % len(of_slots)] if not slots[place].done(options)]:
                for place in left:
                    slots[place].turn(of_systems[slots[place].turns % len(of_systems)], spinners, options)
                number += 1
        for system in every:
            if (system.close() or 0) > 1e-3:
                raise RuntimeError(f"{system.name} computes {name} wrongly")
        for slot in slots:
            if slot.spinning and slot.share() < options.least_share:
                raise RuntimeError(f"the spinning processes got only {100 * slot.share():.1f} % of a processor beside {name}: nothing was disturbed")
        self.slots += [(model.stem, slot) for slot in slots]
        print(f"{name} is done", file=sys.stderr, flush=True)

    def table(self):
        lines = ["| model | spinning | nice | system | mean ms | p50 ms | p99 ms | mean / viridian's | p99 / viridian's | runs | spinning processes got |",
                 "|" + "---|" * 11]
        for name, slot in self.slots:
            ours = slot.times["viridian"]
            share = "" if slot.share() is None else f"{slot.share():.2f} of a processor each"
            for system, times in slot.times.items():
                mean, p99 = statistics.fmean(times), percentile(times, 0.99)
                cells = [name, slot.spinning, slot.nice, system, f"{1e3 * mean:.2f}", f"{1e3 * statistics.median(times):.2f}", f"{1e3 * p99:.2f}",
                         f"{mean / statistics.fmean(ours):.2f}", f"{p99 / percentile(ours, 0.99):.2f}", len(times), share]
                lines.append("| " + " | ".join(map(str, cells)) + " |")
        return "\n".join(lines)

    def behind(self):
        """Where one of ours is above a peer's."""
        lines = []
        for what, measure in (("mean", statistics.fmean), ("p99", lambda times: percentile(times, 0.99))):
            above = [f"{name}, {slot.spinning} spinning, nice {slot.nice}: {measure(slot.times['viridian']) / measure(slot.times[peer]):.2f} times {peer}'s"
                     for name, slot in self.slots for peer in SYSTEMS[1:] if measure(slot.times["viridian"]) > measure(slot.times[peer])]
            cells = len(self.slots) * (len(SYSTEMS) - 1)
            lines.append(f"- viridian's {what} is above a peer's in {len(above)} of {cells} comparisons" + "".join(f"\n  - {one}" for one in above))
        return "\n".join(lines)

    def text(self):
        options = self.options
        rows = common(self.settings[0], options, set(SYSTEMS), "")
        rows[-1] = ("rounds", f"in each, every setting has a slot and every system a turn of {options.seconds} s in it, until each system has {options.runs} "
                              f"runs in {options.turns} turns, or {options.cell} s (it then sits out); the first run of a turn is not counted")
        rows += [("pinning", placing(options.pin, self.seen)),
                 ("priority", "of the systems: the column *nice*; of the spinning processes: nice 0"),
                 ("order", "of the settings in a round and of the systems in a slot: changes every round (Williams 1949)"),
                 ("meanwhile", self.meanwhile.text().replace("other processes", "other processes, the spinning ones among them,"))]
        return f"# {options.title}\n\n" + "\n\n".join([self.table(), self.behind(), table_of(rows)])


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--viridian", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--models", default="squeezenet1_1,mobilenet_v2,resnet50")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pin", default="none", choices=["all", "none"], help="none: what a shared machine asks for")
    parser.add_argument("--seconds", type=float, default=0.5, help="of a turn")
    parser.add_argument("--runs", type=int, default=300, help="of each system in each setting, or ...")
    parser.add_argument("--cell", type=float, default=20, help="... so many seconds of its turns")
    parser.add_argument("--turns", type=int, default=6, help="at least, unless the seconds are used up")
    parser.add_argument("--least-share", type=float, default=0.05, help="of a processor that each spinning process must get, or the run fails")
    parser.add_argument("--db", default=None)
    parser.add_argument("--again", action="store_true", help="optimise even if a plan is there")
    parser.add_argument("--title", default="Disturbed runs")
    parser.add_argument("--output", default="", help="a .md file to write what is printed to")
    options = parser.parse_args()
    options.viridian, options.work = (str(pathlib.Path(path).resolve()) for path in (options.viridian, options.work))
    options.batch, options.search, options.rounds, options.real_time = 1, "", 0, False
    return options


def main():
    options = parsed()
    disturbed = Disturbed(options)
    spinners = [Spinner() for _ in range(MOST_SPINNING)]
    try:
        for name in options.models.split(","):
            disturbed.run(name, spinners)
    finally:
        for spinner in spinners:
            spinner.end()
    written(disturbed.text(), options.output)


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        sys.exit(f"disturbed.py: {error}")
