#!/usr/bin/env python3
"""backend.py [--output FILE.md]: ONNX's backend tests of the peers' onnx wheel, in C++ and through `viridian.backend`: how many
pass in each. It needs build/release/bin/conformance, the installed package (tests/python/install) and `make peers`."""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks/peers"))
EXCLUDED = "tests/onnx/conformance_excluded.txt"
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed \((\d+) excluded\)", re.M)


def counts(command):
    """(passed, failed, excluded) of a command, whose failures are shown."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    found = COUNTS.search(done.stdout)
    if not found or done.returncode not in (0, 1):
        sys.exit(f"backend.py: {' '.join(command)}: exit code {done.returncode}\n{done.stdout}")
    if done.returncode:
        print(done.stdout, file=sys.stderr)
    return tuple(map(int, found.groups()))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    from setting import machine
    data, = ROOT.glob(".venv/lib/python3*/site-packages/onnx/backend/test/data")
    onnx, = data.parents[3].glob("onnx-*.dist-info")
    version = onnx.name.removeprefix("onnx-").removesuffix(".dist-info")
    program = ["build/release/bin/conformance", "--excluded", EXCLUDED, "--device", "cpu", str(data)]
    rows = [("the conformance program, in C++", counts(program)),
            ("`viridian.backend`, in Python", counts(["tests/python/run_conformance", EXCLUDED]))]
    lines = ["# ONNX's backend tests in C++ and through Python", "",
             f"Written by `benchmarks/python/backend.py`. The tests are those of the onnx {version} wheel for CPUs, on one thread.",
             f"`{EXCLUDED}` has the reason of each exclusion. The conformance program is that of",
             "`make conformance`; `viridian.backend` is called by ONNX's own runner, with its tolerances.", "",
             f"Machine: {machine()}.", "", "| through | passed | failed | excluded |", "|---|---|---|---|"]
    lines += [f"| {name} | {passed:,} | {failed:,} | {excluded:,} |" for name, (passed, failed, excluded) in rows]
    same = rows[0][1] == rows[1][1] and rows[0][1][1] == 0
    lines += ["", "- The same number passes in both, and none fails: " + ("kept" if same else "**missed**") + "."]
    print("\n".join(lines))
    if options.output:
        options.output.write_text("\n".join(lines) + "\n")
    return int(not same)


sys.exit(main())
