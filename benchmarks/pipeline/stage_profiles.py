#!/usr/bin/env python3
"""The stage profiles of benchmarks/pipeline.md: the V100 curve of tests/data/pipeline/v100_4_balanced.csv for any number of
stages, each stage's times and energies times a seeded factor within 1 +- SPREAD.

    benchmarks/pipeline/stage_profiles.py STAGES SPREAD SEED >profile.csv
"""
import csv
import pathlib
import random
import sys

CURVE = pathlib.Path(__file__).resolve().parents[2] / "tests/data/pipeline/v100_4_balanced.csv"


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    stages, spread, generator = int(sys.argv[1]), float(sys.argv[2]), random.Random(int(sys.argv[3]))
    with CURVE.open() as file:
        curve = [row for row in csv.DictReader(file) if row["stage"] == "0"]
    print("stage,instruction,frequency,time,energy")
    for stage in range(stages):
        factor = 1 + generator.uniform(-spread, spread)
        for row in curve:
            time, energy = float(row["time"]) * factor, float(row["energy"]) * factor
            print(f"{stage},{row['instruction']},{row['frequency']},{time:.9f},{energy:.9f}")


main()
