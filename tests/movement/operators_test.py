#!/usr/bin/env python3
"""The rules of `viridian inspect --fusion published` find SUBSTATION's twelve fused operators on its encoder layer, and no
other region: `operators_test.py VIRIDIAN`. The operators are the table benchmarks/substation/operators.json."""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = json.loads((ROOT / "benchmarks/substation/operators.json").read_text())["operators"]
NAMES = "aib baob baib sm brd bdrln bsb blnrd bdrb ebsb bs bei".split()  # section IV-A, in its order


def regions_of(viridian, folder, batch, sequence):
    """The regions with loops, which are no contractions, as sets of nodes."""
    layer, step = str(folder / "layer.onnx"), str(folder / "step.onnx")
    subprocess.run([viridian, "zoo", "encoder_layer", "--training", "--batch", str(batch), "--sequence", str(sequence), "-o", layer],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run([viridian, "gradient", layer, "--loss", "gradient", "--optimizer", "none", "--gradients", "--input-gradients",
                    "-o", step], check=True, stdout=subprocess.DEVNULL)
    told = subprocess.run([viridian, "inspect", step, "--fusion", "published", "--json"], check=True, capture_output=True)
    return [frozenset(region["nodes"]) for region in json.loads(told.stdout)["fusion"]["regions"] if region["loops"]]


def main():
    viridian = sys.argv[1]
    wanted = {frozenset(operator["nodes"]): operator["name"] for operator in TABLE}
    failed = set(wanted.values()) != set(NAMES)
    with tempfile.TemporaryDirectory() as folder:
        # 16 tokens in each of 16 heads: the axes of attention have equal extents, which must not be taken for each other.
        for batch, sequence in ((2, 24), (16, 16)):
            found = regions_of(viridian, pathlib.Path(folder), batch, sequence)
            for nodes in set(wanted) - set(found):
                print(f"batch {batch}, sequence {sequence}: not found: {wanted[nodes]} {sorted(nodes)}")
            for nodes in set(found) - set(wanted):
                print(f"batch {batch}, sequence {sequence}: found besides: {sorted(nodes)}")
            failed = failed or set(found) != set(wanted)
    return 1 if failed else 0


sys.exit(main())
