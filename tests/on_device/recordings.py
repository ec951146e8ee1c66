#!/usr/bin/env python3
"""recordings.py VIRIDIAN FOLDER: every recording that is kept (tests/data/recordings) is read, labelled as it should be and
accounted: the books balance, and no method says more than the meter did. A recording made later is tested as it is."""
import json
import os
import subprocess
import sys

viridian, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
MOST_BYTES = 8_000_000  # of all together


def check(right, what):
    if not right:
        sys.exit(f"FAILED: {what}")


def said(*arguments):
    return json.loads(subprocess.run([viridian, *arguments, "--json"], check=True, stdout=subprocess.PIPE).stdout)


def number(value):
    return value["value"] if isinstance(value, dict) else value


found, total = 0, 0
for name in sorted(os.listdir(folder)):
    at = os.path.join(folder, name)
    if not os.path.isdir(at):
        continue
    found += 1
    total += sum(os.path.getsize(os.path.join(at, file)) for file in os.listdir(at))
    with open(os.path.join(at, "record.json"), encoding="utf-8") as file:
        record = json.load(file)
    check(record["simulated"] == name.startswith("simulated_"), f"{name}: its name does not say whether it is simulated")
    trace, power = (os.path.join(at, record["files"][which]) for which in ("trace", "power"))
    shown = said("trace", "show", trace)
    work = sum(kind["count"] for key, kind in shown["kinds"].items() if key in ("kernel", "copy", "fill"))
    check(work == record["kernels"] and not shown["warnings"], f"{name}: {work} kernels of {record['kernels']}")
    check(shown["unowned"] <= 0.1 * work, f"{name}: {shown['unowned']} of {work} kernels have no module")
    low, high = record["clock"]["trace_ahead_ns"]
    check(low <= 0 <= high, f"{name}: the clocks differ")
    for method in ("overlap", "auto"):
        result = said("account", "--trace", trace, "--power", power, "--method", method)
        gpu = next(device for device in result["devices"] if device["name"].startswith("cuda"))
        charged = sum(one["joules"]["value"] for one in result["operations"] if one["device"] == gpu["name"])
        books = charged + sum(number(gpu[part]) for part in ("idle", "unattributed", "residual"))
        check(abs(books - number(gpu["meter_total"])) < 1e-6 * books + 1e-3, f"{name}, {method}: {books} J of the books")
        check(0 < charged < number(gpu["meter_total"]), f"{name}, {method}: {charged} J charged")
        print(f"{name}: {gpu['method']}, {charged:.0f} J of {number(gpu['meter_total']):.0f} J charged")
check(found > 0, "there are no recordings")
check(total <= MOST_BYTES, f"the recordings have {total} bytes")
