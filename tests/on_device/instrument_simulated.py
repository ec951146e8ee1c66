#!/usr/bin/env python3
"""instrument_simulated.py VIRIDIAN FAKE_NVML PIECES...: `instrument --simulated --quick`, a call for each PIECES (`a,b`), the
later ones going on where the first ended, then `analyse.py`: the same code that measures a GPU, against the scripted
NVML. Each piece leaves what it should."""
import importlib.util
import os
import subprocess
import sys
import tarfile
import tempfile

if importlib.util.find_spec("torch") is None:
    sys.exit(77)  # CTest counts this as skipped: Debian's python3-torch is not installed

viridian, fake = (os.path.abspath(path) for path in sys.argv[1:3])
calls = sys.argv[3:]
tools = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/on_device")
RECORDING = ["power.csv.gz", "record.json", "steps.vtrace", "trace.vtrace"]
FILES = {"sensor": ["doctor.json", "identify.json", "load.csv", "page-gaps.svg", "page-steps.svg", "page.md", "probe.csv.gz"],
         "truth": ["power.csv.gz", "truth.json"]}
ON_PAGE = {"sensor": ("nvml:average", "simulated-steps.svg"), "truth": ("## Operators alone", "median error", " MHz, "),
           "bert_base": ("Figure 4a", "STPF", "bert/encoder")}


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
    how = ("--out", archives, "--simulated", "--quick", "--nvml", fake, "--seconds", "1.5", "--pace", "0.3")
    done = []
    for call in calls:
        said = run("instrument", *how, "--pieces", ",".join([*done, call]))
        check(all(f"{piece}: done before" in said for piece in done), "it does not go on where it ended")
        done += call.split(",")
        for piece in call.split(","):
            archive = os.path.join(archives, piece + ".tar")
            check(f"{piece}: " in said and os.path.exists(archive), f"no archive of {piece}")
            check(os.path.getsize(archive) < 2_000_000, f"{piece} is large")
            with tarfile.open(archive) as tar:
                check(sorted(tar.getnames()) == FILES.get(piece, RECORDING), f"{piece} is not whole: {tar.getnames()}")
    run("analyse.py", archives, "-o", pages, "--recordings", kept)
    with open(os.path.join(pages, "simulated.md"), encoding="utf-8") as file:
        page = file.read()
    check("not yet measured on hardware" in page, "the page does not say that it is simulated")
    for piece in done:
        for what in ON_PAGE.get(piece, ("## Recordings", f"| {piece} |")):
            check(what in page, f"the page has no `{what}`")
        if piece not in FILES:
            check(sorted(os.listdir(os.path.join(kept, f"simulated_{piece}"))) == RECORDING, f"{piece} was not kept")
    check("sensor" not in done or os.path.exists(os.path.join(pages, "simulated-steps.svg")), "no plots")
    again = subprocess.run([sys.executable, os.path.join(tools, "instrument"), "--out", archives, "--pieces", "nonsense"],
                           stderr=subprocess.PIPE, check=False)
    check(again.returncode == 2 and b"there is no piece `nonsense`" in again.stderr, "nonsense is a piece")
print(f"instrumented in {len(calls)} calls, analysed")
