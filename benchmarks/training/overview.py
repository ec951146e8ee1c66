#!/usr/bin/env python3
"""The pages of speed.py on one page, a column for each kind of processor:

    benchmarks/training/overview.py [--page PAGE.md]

How many times as fast as PyTorch's fastest mode Viridian trains, and in which share of the memory of its least. Every number is
computed from the times of a page; if two pages of a column measured the same step, the later one in PAGES counts."""
import argparse
import math
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks/results/training"
sys.path.insert(0, str(ROOT / "benchmarks"))
from tables import table  # noqa: E402

PAGES = {  # by processor; benchmarks/method.md describes them
    "Zen 5": ["speed_zen5.md", "speed_zen5_networks.md"],
    "Zen 4": ["zen4/steps_bf16.md", "zen4/steps_f32.md"],
    "Zen 3, AVX2 alone": ["speed_avx2.md", "zen3/steps_f32.md"],
    "Zen 1, AVX2 alone": ["zen1/steps_f32.md"],
    "Intel": ["intel/encoder.md", "intel/steps_f32.md"],
    "Intel, matrix unit": ["intel/steps_amx.md"],
}
GROUPS = {
    "encoder layer": ["encoder_b4_s128", "encoder_b4_s128_dropout", "encoder_b8_s512", "encoder_b8_s512_dropout"],
    "attention alone": ["mha_b4_s128", "mha_b4_s128_dropout", "mha_b8_s512", "mha_b8_s512_dropout"],
    "encoder layer, large batch": ["encoder_b96_s128"],
    "convolutional networks": ["alexnet_b8", "vgg16_b4", "resnet50_b8", "inception_v3_b4", "mobilenet_v2_b8", "dcgan_generator_b16",
                               "dcgan_discriminator_b16"],
    "GPT-2 small": ["gpt2_b4_s256"],
}


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def times(page):
    """{(step, system): {column: cell}} of the table of times on a page."""
    found, head = {}, None
    for line in page.read_text().splitlines():
        if line.startswith("| step | system |"):
            head = cells(line)
        elif head and line.startswith("|") and not line.startswith("|---"):
            row = dict(zip(head, cells(line)))
            found[row["step"], row["system"]] = row
        elif head and not line.startswith("|"):
            break
    return found


def is_low(system):
    return "bf16" in system


def compared(pages, step, ours):
    """(how many times as fast as PyTorch's fastest mode of the same precision, the share of the memory of its least)."""
    return next(filter(None, (compared_on(rows, step, ours) for rows in reversed(pages))), None)


def compared_on(rows, step, ours):
    theirs = [row for (name, system), row in rows.items() if name == step and system.startswith("torch") and is_low(system) == is_low(ours)]
    if (step, ours) not in rows or not theirs:
        return None
    column = f"{ours}'s time / its"
    ratio = max(float(row[column].split()[0]) for row in theirs)
    memory = float(rows[step, ours]["memory MiB"]) / min(float(row["memory MiB"]) for row in theirs)
    return 1 / ratio, memory


def part(columns, ours, which):
    rows = []
    for group, steps in GROUPS.items():
        measured = {name: [compared(column, step, ours) for step in steps] for name, column in columns.items()}
        if not any(any(values) for values in measured.values()):
            continue
        for i, step in enumerate(steps):
            rows.append([step] + [f"{values[i][which]:.2f}" if values[i] else "" for values in measured.values()])
        if len(steps) > 1:
            means = [math.exp(sum(math.log(value[which]) for value in values) / len(values)) if all(values) else None
                     for values in measured.values()]
            rows.append([f"*{group}, geometric mean*"] + [f"*{mean:.2f}*" if mean else "" for mean in means])
    return table(["step", *columns], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", default=str(RESULTS / "overview.md"))
    options = parser.parse_args()
    columns, sources = {}, []
    for name, pages in PAGES.items():
        columns[name] = [times(RESULTS / page) for page in pages]
        links = ", ".join(f"[{page}]({os.path.relpath(RESULTS / page, pathlib.Path(options.page).resolve().parent)})" for page in pages)
        sources.append([name, links])
    pathlib.Path(options.page).write_text(f"""# Training steps on all processors

`benchmarks/training/overview.py` wrote this page from the pages that it names, and nobody edited it. Steps are named by their
network, batch (b) and tokens (s); the encoder layer and attention alone (mha) are BERT-large's. A number is the median over rounds
in which all systems took turns; the pages have its spread, the versions and the commands. PyTorch's *fastest mode* is the one beside
which this number is smallest. The modes are eager and compiled, for GPT-2 also with fused attention, and in bf16 autocast and weights
in bf16; `max-autotune` was tried where a page has rows `torch:autotune`. If two pages of a processor measured the same step, the later
one in the list counts, and the other may say something else. Numbers are computed from the rounded ones of the tables of times, and
summaries of earlier pages name the mode with the least median instead, so they differ: by up to 0.03, and by up to 0.07 above 3. An
empty cell was not measured.
[method.md](../../method.md) describes the processors: *Intel* is its Emerald Rapids machine, and *Intel, matrix unit* a virtual machine
on the same kind of processor that offers the matrix unit.

{table(["processor", "pages"], sources)}

## f32: how many times as fast as PyTorch's fastest mode

{part(columns, "viridian", 0)}

## bf16: how many times as fast as PyTorch's fastest mode in bf16

Viridian keeps weights and moments in f32. PyTorch's fastest mode often keeps them in bf16. On Intel without the matrix unit all of
its modes take longer in bf16 than in f32.

{part(columns, "viridian:bf16", 0)}

## f32: share of the memory of PyTorch's least

{part(columns, "viridian", 1)}

## bf16: share of the memory of PyTorch's least in bf16

{part(columns, "viridian:bf16", 1)}
""")


if __name__ == "__main__":
    main()
