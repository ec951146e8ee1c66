#!/usr/bin/env python3
"""Compares the fused operators of an encoder layer with their parts, for one build or for two, of which one is measured after the
other. reproduce.py has the same comparison in its section on Figure 5, for a wider layer; this takes minutes:

    benchmarks/substation/fused.py VIRIDIAN [--before VIRIDIAN] --page PAGE.md [--batch 8] [--sequence 512] [--hidden 256]"""
import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

import layouts
from layouts import table  # finds the modules of benchmarks/peers too
from reproduce import OPERATORS, Layer, linked
from setting import command, machine, table_of, today


class Build:
    """Prices of one build: {the operator's nodes: (microseconds of the fastest kernel of all, of the fastest kernels of each)}."""

    def __init__(self, viridian, folder, options):
        folder.mkdir()
        layer = Layer(os.path.abspath(viridian), folder, options.batch, options.sequence, options.hidden, None)
        self.version = subprocess.run([viridian, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
        prices = layouts.Prices(layer, layer.step)
        names = {frozenset(nodes): nodes for nodes, choices in prices.choices.items() if len(nodes) > 1 and choices}
        found = {tuple(operator["nodes"]): names.get(frozenset(operator["nodes"])) for operator in OPERATORS}
        self.times = {nodes: (1e6 * prices.best(*whole), 1e6 * sum(prices.best(name) for name in whole))
                      for nodes, whole in found.items() if whole}


def cells(one, parts):
    return [f"{one:.0f}", f"{parts:.0f}", f"{parts / one:.2f}"]


def page(builds, options):
    names = {tuple(operator["nodes"]): operator["name"] for operator in OPERATORS}
    common = [nodes for nodes in builds[0].times if all(nodes in build.times for build in builds)]
    kernels = [build.version.split()[-1] for build in builds]
    heads = ["fused operator", "its operators"]
    heads += [f"{what} ({kernel})" for kernel in kernels for what in ("one kernel, µs", "its parts, µs", "parts / one kernel")]
    lines = [[names[nodes], ", ".join(nodes)] + [cell for build in builds for cell in cells(*build.times[nodes])] for nodes in common]
    gains = [statistics.geometric_mean(build.times[nodes][1] / build.times[nodes][0] for nodes in common) for build in builds]
    settings = [("date", today()), ("machine", machine()), ("command", command()), ("threads", "as many as processors"),
                ("versions", "; ".join(build.version for build in builds))]
    return f"""# Fused operators beside their parts

`benchmarks/substation/fused.py` wrote this page, and nobody edited it. It has those fused operators of SUBSTATION (Ivanov et al.,
MLSys 2021, section IV-A) that one kernel computes whole, on an encoder layer with batch {options.batch}, {options.sequence} tokens, a width of {options.hidden} and
dropout 0.1. A time is the price ([profile.md](../../../docs/profile.md)) of the fastest kernel, or the sum of those of the
fastest kernel of each part. Columns name the version of the kernels in brackets.

{table(heads, lines)}

The parts take {" and ".join(f"{gain:.2f} ({kernel})" for gain, kernel in zip(gains, kernels))} times as long as one kernel, in geometric mean.

{table_of(settings)}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("viridian")
    parser.add_argument("--before", help="another build, for columns beside these")
    parser.add_argument("--page", required=True)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--sequence", type=int, default=512)
    parser.add_argument("--hidden", type=int, default=256)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        builds = [Build(viridian, pathlib.Path(folder) / str(i), options)
                  for i, viridian in enumerate(filter(None, (options.viridian, options.before)))]
    pathlib.Path(options.page).write_text(linked(page(builds, options), pathlib.Path(options.page).resolve().parent))
    print(f"wrote {options.page}")


if __name__ == "__main__":
    main()
