#!/usr/bin/env python3
"""commands.py: the calls that tools/on_device/README.md tells to type on a device do every piece once, fit the 2,000
characters of a command and, by `instrument`'s own estimates, ten minutes each."""
import importlib.machinery
import importlib.util
import os
import re
import sys

tools = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/on_device")
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("instrument", os.path.join(tools, "instrument"))
instrument = importlib.util.module_from_spec(importlib.util.spec_from_loader("instrument", loader))
loader.exec_module(instrument)


def check(right, what):
    if not right:
        sys.exit(f"FAILED: {what}")


with open(os.path.join(tools, "README.md"), encoding="utf-8") as file:
    calls = [line.strip() for line in file if line.startswith("    tar -C /tmp")]
pieces = []
for call in calls:
    check(len(call) <= 2000, f"{len(call)} characters: {call}")
    minutes = float(re.search(r"--minutes ([0-9.]+)", call)[1])
    of_call = re.search(r"--pieces ([a-z0-9_,]+)", call)[1].split(",")
    estimated = sum(instrument.MINUTES[piece] for piece in of_call)
    check(estimated <= minutes < 10, f"{estimated:.1f} minutes of work, {minutes} allowed: {call}")
    pieces += of_call
    print(f"{len(call)} characters, {estimated:.1f} minutes: {' '.join(of_call)}")
check(sorted(pieces) == sorted(instrument.PIECES), f"not every piece once: {pieces}")
