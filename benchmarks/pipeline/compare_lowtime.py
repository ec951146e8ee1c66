#!/usr/bin/env python3
"""lowtime, viridian and ENVPIPE on the same stage profiles, as two Markdown tables.

The first table has the CPU seconds of each solver for the whole trade of time against energy. The second says which clocks
each plan may use, and how far its energy lies above viridian's frontier at the time that its exact replay takes. The frontier
lets a unit run at two clocks in turn; lowtime's and ENVPIPE's plans, and viridian's with --clocks whole, keep one clock in a
unit. A plan with one clock can therefore only lie above the frontier, and the comparison that is fair is that between plans
with one clock.

    .venv/bin/python benchmarks/pipeline/compare_lowtime.py build/release/bin/viridian PROFILE.csv:MICRO_BATCHES ... \
        [--record PROFILE.csv=RECORD.json ...] >benchmarks/results/pipeline_lowtime.md

--record takes lowtime's part from a run of lowtime_steps.py, which may not be finished.
"""
import argparse
import bisect
import json
import pathlib
import resource
import statistics
import subprocess
import sys

from lowtime_replay import read_table, replay

HERE = pathlib.Path(__file__).resolve().parent
WAIT = 50.0
MOST_UNITS = 20_000  # in all plans of lowtime together that are compared with plans of ours at the same time


def run(*words):
    """The JSON that a command prints, and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}: {done.stderr}")
    return json.loads(done.stdout), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def lowtime_plans(profile, micro_batches):
    table = read_table(profile)
    peer, _ = run(sys.executable, HERE / "lowtime_run.py", profile, "--micro-batches", micro_batches, "--wait-power", WAIT)
    plans = [dict(zip(("time", "energy"), replay(table, plan["clocks"], micro_batches, WAIT)), promised_time=plan["promised_time"])
             for plan in peer["plans"]]
    return {"finished": True, "cuts": peer["iterations"], "cpu_seconds": peer["cpu_seconds"], "plans": plans}


class Case:
    def __init__(self, viridian, profile, micro_batches, record):
        self.words = [viridian, "pipeline"]
        self.options = ["--profile", profile, "-m", micro_batches, "--wait-power", WAIT, "--json"]
        self.peer = json.loads(pathlib.Path(record).read_text()) if record else lowtime_plans(profile, micro_batches)
        runs = [run(*self.words, "frontier", *self.options) for _ in range(5)]
        self.own, self.own_command = runs[0][0], statistics.median(seconds for _, seconds in runs)
        self.own_solver = statistics.median(frontier["elapsed_seconds"] for frontier, _ in runs)
        self.points = [(p["time"], p["energy"]) for p in self.own["frontier"] + self.own["beyond"]]
        self.name = f"{self.own['stages']} × {micro_batches}, `{pathlib.Path(profile).stem}`"

    def frontier(self, time):
        i = bisect.bisect_right(self.points, (time + 1e-9, float("inf")))
        if i == 0:
            raise SystemExit(f"{self.name}: a replay at {time} s is faster than the frontier")
        (t0, e0), (t1, e1) = self.points[i - 1], self.points[min(i, len(self.points) - 1)]
        return e0 if t1 == t0 else e0 + (e1 - e0) * min(1, max(0, (time - t0) / (t1 - t0)))

    def plan(self, *options):
        plan, seconds = run(*self.words, "plan", *self.options, *options)
        return plan["time"], plan["energy"], seconds

    def speed_row(self):
        peer, ratio = self.peer, self.peer["cpu_seconds"] / self.own_solver
        state, least = ("the whole range", "") if peer["finished"] else \
            (f"not finished: iterations from {peer['longest_time']:.3f} s down to {peer['reached_time']:.3f} s "
             f"of {peer['shortest_time']:.3f} s", "at least ")
        return (f"| {self.name} | {least}{peer['cpu_seconds']:.1f} s, {peer['cuts']:,} cuts, {state} | {self.own_solver:.5f} s, "
                f"{self.own['certified']:,} of {self.own['breakpoints']:,} breakpoints certified | {self.own_command:.3f} s | {least}{ratio:,.0f} |")

    def plan_rows(self):
        plans = self.peer["plans"]
        most = max(4, min(120, MOST_UNITS // (2 * self.own["stages"] * self.own["micro_batches"])))
        if len(plans) > most:
            plans = [plans[round(i * (len(plans) - 1) / (most - 1))] for i in range(most)]
        late = sum(plan["time"] > plan["promised_time"] + 1e-9 for plan in plans)
        above, whole, against, seconds = [], [], [], []
        for plan in plans:
            above.append(plan["energy"] / self.frontier(plan["time"]) - 1)
            # A late or dear plan does not become better by being slower than the cheapest plan: ours ends there.
            time, energy, spent = self.plan("--clocks", "whole", "--deadline", f"{plan['time'] + 1e-9:.9f}")
            whole.append(energy / self.frontier(time) - 1)
            against.append(energy / plan["energy"] - 1)
            seconds.append(spent)
        envpipe = self.plan("--planner", "envpipe")

        def spread(excess):
            return f"{100 * min(excess):.2f} / {100 * statistics.mean(excess):.2f} / {100 * max(excess):.2f} %"

        wins = sum(a <= 1e-9 for a in against)
        return [
            f"| {self.name} | lowtime | one | {len(plans)}, {late} of them later than promised | {spread(above)} | |",
            f"| | viridian | two in turn, changes free | every point | 0 by definition, proven | |",
            f"| | viridian `--clocks whole` | one | {len(plans)}, at lowtime's times; {statistics.median(seconds):.2f} s each | {spread(whole)} | "
            f"{spread(against)}; {wins} of {len(plans)} not dearer |",
            f"| | ENVPIPE, balanced | one | 1, the fastest | {100 * (envpipe[1] / self.frontier(envpipe[0]) - 1):.2f} % | |"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("viridian")
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--record", action="append", default=[])
    args = parser.parse_args()
    records = dict(record.split("=") for record in args.record)
    cases = []
    for case in args.cases:
        profile, micro_batches = case.rsplit(":", 1)
        cases.append(Case(args.viridian, profile, int(micro_batches), records.get(profile)))
    print("# lowtime, Viridian and ENVPIPE on the same pipelines\n")
    print(f"Written by `benchmarks/pipeline/compare_lowtime.py`: 1F1B, {WAIT:g} W while a rank waits, lowtime 0.3.0 with quanta of 1 ms. "
          "lowtime's seconds are CPU seconds of its solver; ours are elapsed seconds of the frontier (median of five runs), "
          "and CPU seconds of the whole command.\n")
    print("## Seconds for the whole trade of time against energy\n")
    print("| profile | lowtime | viridian, frontier | viridian, command | times faster |\n|---|---|---|---|---|")
    for case in cases:
        print(case.speed_row(), flush=True)
    print("\n## Which clocks a plan may use, and its energy\n")
    print("Three numbers are least / mean / most over the plans. The frontier may use two clocks in a unit, so that no plan with one "
          "clock can lie below it; only the last column compares like with like.\n")
    print("| profile | planner | clocks in a unit | plans | energy above the frontier at the same time | energy against lowtime's plan "
          "at the same time |\n|---|---|---|---|---|---|")
    for case in cases:
        print("\n".join(case.plan_rows()), flush=True)


if __name__ == "__main__":
    main()
