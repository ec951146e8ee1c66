#!/usr/bin/env python3
"""What was priced before a kill -9 or Ctrl-C is not priced again: `viridian profile` and `optimize` say beforehand what is missing, and go
on from there.

resume.py VIRIDIAN"""
import json
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

VIRIDIAN = sys.argv[1]


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def viridian(*arguments):
    done = subprocess.run([VIRIDIAN, *arguments, "--json"], capture_output=True, text=True)
    check(done.returncode == 0, f"{arguments} ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def prices(database):
    """How many are stored, while another process writes."""
    if not database.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=5) as connection:
            return connection.execute("SELECT count(*) FROM entry").fetchone()[0]
    except sqlite3.OperationalError:  # not yet a table
        return 0


def stopped(by, database, at_least, *arguments):
    """Starts the command and sends the signal once so many prices are stored; how many were, how it ended, and what it said."""
    process = subprocess.Popen([VIRIDIAN, *arguments, "--db", str(database)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and prices(database) < at_least:
        time.sleep(0.01)
    process.send_signal(by)
    said = process.communicate()[1]
    return prices(database), process.returncode, said


def killed(database, at_least, *arguments):
    stored, code, _ = stopped(signal.SIGKILL, database, at_least, *arguments)
    return stored, code == -signal.SIGKILL


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        model, database = folder / "model.onnx", folder / "cost.db"
        viridian("zoo", "squeezenet1_1", "-o", str(model))
        ask = ("profile", str(model), "--threads", "1", "--db", str(database))
        first = viridian(*ask, "--dry-run")
        total = first["known"] + first["missing"]
        check(first["known"] == 0 and total > 100, f"a new database knows nothing of {total} prices: {first}")
        check(0 < first["expected_seconds"], "says how long it will take")
        check(not prices(database), "a dry run measures nothing")

        stored, running = killed(database, 40, *ask[:-2])
        check(running, "it was still measuring")
        after = viridian(*ask, "--dry-run")
        # A list of choices may have been stored without its prices, a price without the rest of its list.
        check(after["known"] + after["missing"] == total, f"asks for the same prices: {after}, {total} before")
        check(after["known"] >= stored - 1, f"{stored} were stored, {after['known']} are known")
        check(after["expected_seconds"] < first["expected_seconds"], "takes less long now")

        output = folder / "optimised.onnx"
        optimise = ("optimize", str(model), "-o", str(output), "--threads", "1", "--proofs", "1", "--budget", "5,5s")
        stored, running = killed(database, stored + 40, *optimise)
        check(running and not output.exists(), "optimize was still measuring")
        before = stored
        stored, code, said = stopped(signal.SIGINT, database, stored + 40, *optimise)
        check(stored > before and not output.exists(), f"{before} prices before Ctrl-C, {stored} after")
        check(code == 1 and "to measure: expected" in said and "--budget 5,5s" in said, f"says how long it will take: {code}, {said}")
        check("what was measured is kept" in said and "run it again" in said, f"says how to go on: {said}")
        rest = viridian(*ask)
        check(rest["known"] >= stored - 1 and rest["measured"] == rest["missing"] < after["missing"],
              f"measures what was missing alone: {rest}")
        again = viridian(*ask)
        check(again["missing"] == again["measured"] == 0 and again["known"] == total, f"nothing is left: {again}")


main()
