#!/usr/bin/env python3
"""instrument_simulated.py VIRIDIAN FAKE_NVML: `instrument --simulated --quick` in two calls (the second goes on where the
first ended), then `analyse.py`: the same code that measures a GPU, against the scripted NVML."""
import os
import subprocess
import sys
import tempfile

try:
    import torch  # noqa: F401
except ImportError:
    sys.exit(77)  # CTest counts this as skipped: Debian's python3-torch is not installed

viridian, fake = (os.path.abspath(path) for path in sys.argv[1:3])
tools = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/on_device")


def check(right, what):
    if not right:
        sys.exit(f"FAILED: {what}")


def run(script, *arguments):
    done = subprocess.run([sys.executable, os.path.join(tools, script), *arguments, "--viridian", viridian],
                          stdout=subprocess.PIPE, check=False)
    check(done.returncode == 0, f"{script} {' '.join(arguments)} returned {done.returncode}")
    return done.stdout.decode()


with tempfile.TemporaryDirectory() as work:
    archives, pages, kept = (os.path.join(work, name) for name in ("archives", "pages", "recordings"))
    how = ("--out", archives, "--simulated", "--quick", "--nvml", fake, "--seconds", "2", "--pace", "0.5")
    said = run("instrument", *how, "--pieces", "sensor,bert_large")
    check("bert_large: " in said and os.path.exists(os.path.join(archives, "sensor.tar")), "no archives")
    said = run("instrument", *how, "--pieces", "sensor,bert_large,truth,bert_base")
    check("sensor: done before" in said and "truth: " in said, "it does not go on where it ended")
    check(all(os.path.getsize(os.path.join(archives, name)) < 2_000_000 for name in os.listdir(archives)), "large archives")
    said = run("analyse.py", archives, "-o", pages, "--recordings", kept)
    with open(os.path.join(pages, "simulated.md"), encoding="utf-8") as file:
        page = file.read()
    for what in ("not yet measured on hardware", "nvml:average", "## Recordings", "## Operators alone", "median error",
                 "Figure 4a", "STPF", "bert/encoder"):
        check(what in page, f"the page has no `{what}`")
    check(os.path.exists(os.path.join(pages, "simulated-steps.svg")), "no plots")
    check(sorted(os.listdir(os.path.join(kept, "simulated_bert_large")))
          == ["power.csv.gz", "record.json", "steps.vtrace", "trace.vtrace"], "the recording is not whole")
    again = subprocess.run([sys.executable, os.path.join(tools, "instrument"), "--out", archives, "--pieces", "nonsense"],
                           stderr=subprocess.PIPE, check=False)
    check(again.returncode == 2 and b"there is no piece `nonsense`" in again.stderr, "nonsense is a piece")
print("instrumented in two calls, analysed")
