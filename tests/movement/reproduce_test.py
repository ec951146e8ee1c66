#!/usr/bin/env python3
"""The page of `make reproduce-substation` can be made, here for a small layer: `reproduce_test.py VIRIDIAN`. Every operator
belongs to one row of Table III, all fused operators are found, no solver's plan is cheaper than that of `exact`, pictures can be
read, and Table III itself adds up to the readings of docs/movement.md. The page of fused.py has nine fused operators."""
import pathlib
import re
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "benchmarks/substation/reproduce.py"
sys.path.insert(0, str(SCRIPT.parent))
import reproduce  # noqa: E402


def main():
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "fused.md"
        done = subprocess.run([sys.executable, str(SCRIPT.with_name("fused.py")), sys.argv[1], "--page", str(page), "--before", sys.argv[1],
                               "--batch", "1", "--sequence", "8", "--hidden", "64"], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
        found = re.findall(r"^\| (sm|bdrln|brd|blnrd|bdrb|ebsb|bs) \| [^|]* (?:\| \d+ \| \d+ \| \d+\.\d\d ){2}\|$", page.read_text(), re.M)
        if sorted(found) != ["bdrb", "bdrln", "bdrln", "blnrd", "blnrd", "brd", "bs", "ebsb", "sm"]:
            faults.append(f"fused.py has {found}")
    percents = [round(percent) for percent in reproduce.readings_of_the_paper().values()]
    if percents != [15, 21, 29]:
        faults.append(f"Table III adds up to {percents} %, and docs/movement.md says 15, 21 and 29 %")
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.md"
        done = subprocess.run([sys.executable, str(SCRIPT), sys.argv[1], "--page", str(page), "--batch", "2", "--sequence", "24", "--hidden", "128",
                               "--layers", "2", "--turns", "1", "--plan-turns", "1"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
        text = page.read_text()
        for picture in ("contractions", "fused"):
            ElementTree.parse(page.with_suffix(f".{picture}.svg"))
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    for row in reproduce.TABLE3["rows"]:
        if not any(line.startswith(f"| {row['operator']}") for line in rows):
            faults.append(f"no row `{row['operator']}`")
    if "not found" in text:
        faults.append("a fused operator was not found")
    if "are no contractions: 0." not in text:
        faults.append("the rules found other regions")
    solvers = re.findall(r"^\| `(exact|greedy|first|shortest-path[a-z-]*)` \|.*?(agrees|differs)? \|$", text, re.M)
    if len(solvers) != 18 or any(verdict == "differs" for _, verdict in solvers):
        faults.append(f"`exact` is above another solver, or one is missing: {solvers}")
    products = re.findall(r"^\| `(?:separate|pairs|all)` \| (\d+) \| ", text, re.M)
    if products != ["24", "21", "18"]:
        faults.append(f"stacked steps have {products} contractions, not 24, 21 and 18")
    if "13 of the 15 regions" not in text:
        faults.append("one kernel does not compute exactly 13 of the 15 regions whole")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


sys.exit(main())
