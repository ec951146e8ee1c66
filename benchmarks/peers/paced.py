"""Runs several builds or plans in turn. Each is a process of `viridian run --paced`, which waits for a number of seconds on its
input, runs for that long and prints the time of each run."""
import json
import subprocess

from turns import orders


class Runner:
    def __init__(self, binary, step, threads, *options):
        command = [binary, "run", step, "--paced", "--threads", str(threads), *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if not self.process.stdout.readline():
            raise RuntimeError(f"`{' '.join(map(str, command))}` stopped; what it says stands above")
        self.turns = []  # the seconds of each run, turn by turn

    @property
    def times(self):
        return [seconds for turn in self.turns for seconds in turn]

    def turn(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        self.turns.append(json.loads(self.process.stdout.readline()))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def take_turns(runners, turns, seconds):
    """Runs each for some seconds a turn, in an order that changes every round, and ends them."""
    rows = orders(len(runners))
    for turn in range(turns):
        for place in rows[turn % len(rows)]:
            runners[place].turn(seconds)
    for runner in runners:
        runner.close()
