#!/usr/bin/env python3
"""Damaged step files, models, checkpoints and data files: a success or one clear error each, and nothing is lost.

mutants.py VIRIDIAN [--first N] [--count N] [--seed S] [--keep FOLDER] [--state FILE] [--add FILE]... [--results FILE.md]
           [--machine TEXT]

Case N of a seed is a kind of file and a few random changes of its bytes: bits, bytes, numbers, cuts, repeated, swapped
and foreign parts. The program inspects and runs step files, trains models on damaged data, and resumes from a folder
whose newest checkpoint is damaged. It must end by itself, within the time limit, with exit code 0, or with 1 or 2 and
one error; the files that were there before must be there, with the same bytes, unless a success replaced them.

--keep stores every case that failed. --state adds up the counts of portions that follow each other, --add those of
portions that ran side by side, and --results writes the table.
"""
import argparse
import collections
import datetime
import gzip
import json
import pathlib
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import textwrap
import time
import zipfile
import zlib

LIMIT = 300  # seconds for one command, under load
MEMORY = 8 << 30  # bytes of address space


# ---- the undamaged files

def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    """A field of a protobuf message: an integer, a text, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor(name, dims, numbers):
    return b"".join(field(1, d) for d in dims) + field(2, 1) + field(8, name) + field(9, struct.pack(f"<{len(numbers)}f", *numbers))


def value_info(name, dims):
    shape = b"".join(field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def node(op, inputs, output):
    return b"".join(field(1, i) for i in inputs) + field(2, output) + field(3, output + "_node") + field(4, op)


def small_model(numbers):
    """Two numbers, four rectifiers, two classes; the batch is free."""
    def draw(count):
        return [numbers.uniform(-0.7, 0.7) for _ in range(count)]

    graph = field(1, node("Gemm", ["x", "one.weight", "one.bias"], "hidden")) + field(1, node("Relu", ["hidden"], "rectified"))
    graph += field(1, node("Gemm", ["rectified", "two.weight", "two.bias"], "scores")) + field(2, "small")
    for name, dims in (("one.weight", (2, 4)), ("one.bias", (4,)), ("two.weight", (4, 2)), ("two.bias", (2,))):
        graph += field(5, tensor(name, dims, draw(dims[0] * (dims[1] if len(dims) > 1 else 1))))
    graph += field(11, value_info("x", ("N", 2))) + field(12, value_info("scores", ("N", 2)))
    return field(1, 8) + field(7, graph) + field(8, field(2, 17))


def npy(kind, dims, payload):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (kind, "".join(f"{d}, " for d in dims))
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + payload


def idx(kind, dims, payload):
    return bytes([0, 0, kind, len(dims)]) + b"".join(struct.pack(">I", d) for d in dims) + payload


class Files:
    """A folder with a good file of each kind, and what a run of each leaves."""

    SAMPLES = 24

    def __init__(self, viridian, folder, seed):
        self.viridian, self.folder = viridian, folder
        numbers = random.Random(seed)
        points = [[numbers.uniform(-1, 1) for _ in range(2)] for _ in range(self.SAMPLES)]
        labels = [int(x * y > 0) for x, y in points]
        pairs = npy("<f4", (self.SAMPLES, 2), b"".join(struct.pack("<2f", *p) for p in points))
        classes = npy("<i8", (self.SAMPLES,), struct.pack(f"<{self.SAMPLES}q", *labels))
        (folder / "model.onnx").write_bytes(small_model(numbers))
        for name, packing in (("stored.npz", zipfile.ZIP_STORED), ("packed.npz", zipfile.ZIP_DEFLATED)):
            with zipfile.ZipFile(folder / name, "w", packing) as archive:
                archive.writestr("x.npy", pairs)
                archive.writestr("labels.npy", classes)
        text = "a,b,label\n" + "".join(f"{x:.4f},{y:.4f},{'same' if l else 'other'}\n" for (x, y), l in zip(points, labels))
        (folder / "table.csv").write_text(text)
        (folder / "table.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
        (folder / "text.txt").write_text("".join(numbers.choice("abc é\n") for _ in range(300)), encoding="utf-8")
        arrays = folder / "arrays"
        arrays.mkdir()
        (arrays / "x.npy").write_bytes(pairs)
        (arrays / "labels.idx").write_bytes(idx(8, (self.SAMPLES,), bytes(labels)))
        for i, (point, label) in enumerate(zip(points, labels)):
            place = folder / "classes" / "ab"[label]
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{i}.npy").write_bytes(npy("<f4", (2,), struct.pack("<2f", *point)))
        table = tensor("table", (6, 6), [numbers.uniform(-1, 1) for _ in range(36)])
        tokens = field(1, "tokens") + field(2, field(1, field(1, 7) + field(2, field(1, field(2, "N")) + field(1, field(1, 8)))))
        graph = field(1, node("Gather", ["table", "tokens"], "scores")) + field(2, "text") + field(5, table)
        (folder / "text.onnx").write_bytes(
            field(1, 8) + field(7, graph + field(11, tokens) + field(12, value_info("scores", ("N", 8, 6)))) + field(8, field(2, 17)))
        self.must("gradient", "model.onnx", "--dim", "N=4", "--optimizer", "adam", "--clip", "1", "-o", "step.onnx")
        self.must(*self.train("stored.npz"), "--checkpoints", "points", "--every", "2", "--keep", "100")
        self.points = sorted((folder / "points").glob("*.safetensors"))
        for late in self.points[3:]:
            late.unlink()
        self.points = self.points[:3]
        shutil.copy(folder / "trained.onnx", folder / "before.onnx")

    @staticmethod
    def train(data, model="model.onnx", more=()):
        return ("train", model, "--data", data, "--epochs", "3", "--batch", "8", "--threads", "1", "--memory", "1GiB", "-o",
                "trained.onnx", *more)

    def must(self, *arguments):
        done = subprocess.run([self.viridian, *arguments], cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"an undamaged file fails: {arguments}: {done.stderr}")


def kinds():
    """By kind: the file that is damaged, and the commands on it."""
    run = ("run", "step.onnx", "--threads", "1", "--no-pin", "--rounds", "1", "--memory", "1GiB")
    table = ("--label-column", "label", "--input", "x=features", "--eval-share", "0.2")
    resumed = ("--checkpoints", "points", "--every", "2", "--keep", "100", "--resume")
    return {
        "step file, inspected": ("step.onnx", [("inspect", "step.onnx", "--json")]),
        "step file, run": ("step.onnx", [run]),
        "model": ("model.onnx", [Files.train("stored.npz")]),
        "stored .npz": ("stored.npz", [Files.train("stored.npz")]),
        "packed .npz": ("packed.npz", [Files.train("packed.npz")]),
        ".npy in a folder": ("arrays/x.npy", [Files.train("arrays")]),
        "IDX in a folder": ("arrays/labels.idx", [Files.train("arrays")]),
        "CSV": ("table.csv", [Files.train("table.csv", more=table)]),
        "gzipped CSV": ("table.csv.gz", [Files.train("table.csv.gz", more=table)]),
        "text": ("text.txt", [Files.train("text.txt", "text.onnx", ("--context", "8", "--eval-share", "0.2"))]),
        "folder of classes": (None, [Files.train("classes", more=("--input", "x=data"))]),
        "checkpoint": ("points", [Files.train("stored.npz", more=resumed)]),
    }


# ---- damage

def strange_number(numbers, size):
    return numbers.choice([0, 1, 127, 128, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1, 10**6]) % 2 ** (8 * size)


def damage(bytes_, numbers):
    """One to three random changes."""
    data = bytearray(bytes_)
    for _ in range(numbers.choice((1, 1, 1, 2, 3))):
        at = numbers.randrange(len(data) + 1) if data else 0
        length = min(numbers.choice((1, 2, 4, 8, 16, 64, 256)), len(data) - at)
        what = numbers.randrange(10)
        if what == 0 and at < len(data):
            data[at] ^= 1 << numbers.randrange(8)
        elif what == 1 and at < len(data):
            data[at] = numbers.randrange(256)
        elif what == 2:  # a number that a reader may take for a size
            size = numbers.choice((1, 2, 4, 8))
            data[at:at + size] = strange_number(numbers, size).to_bytes(size, numbers.choice(("little", "big")))
        elif what == 3:
            del data[at:]
        elif what == 4:
            del data[at:at + length]
        elif what == 5:
            data[at:at] = data[at:at + length]
        elif what == 6:
            data[at:at] = bytes(numbers.randrange(256) for _ in range(length))
        elif what == 7 and length > 0:
            other = numbers.randrange(len(data) - length + 1)
            data[at:at + length] = data[other:other + length]
        elif what == 8:
            data[at:at + length] = bytes([numbers.choice((0, 255))]) * length
        elif what == 9:  # text where numbers or names stand
            data[at:at + length] = numbers.choice((b"nan", b"inf", b"-1", b"1e99", b"\xff\xfe", b'"', b"\n", b",", b"999999999999"))
    return bytes(data)


def refit(name, data, numbers):
    """Half of the damaged archives and checkpoints get the checksum that they should have, so that what lies behind it is read."""
    if name.endswith(".npz") and numbers.random() < 0.5:
        at = data.find(b"PK\x03\x04")
        while 0 <= at and at + 30 <= len(data):
            size, names, extra = struct.unpack_from("<I", data, at + 22)[0], *struct.unpack_from("<HH", data, at + 26)
            body = data[at + 30 + names + extra:at + 30 + names + extra + size]
            check = struct.pack("<I", zlib.crc32(body))
            central = data.find(b"PK\x01\x02")
            data = data[:at + 14] + check + data[at + 18:]
            if 0 <= central and central + 20 <= len(data) and at == 0:
                data = data[:central + 16] + check + data[central + 20:]
            at = data.find(b"PK\x03\x04", at + 4)
    return data


# ---- one case

def limits():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_case(files, kind, target, commands, numbers):
    """Runs the commands on a damaged copy. Returns how it ended, and what is wrong with that."""
    with tempfile.TemporaryDirectory(prefix="viridian-mutant-") as name:
        folder = pathlib.Path(name)
        shutil.copytree(files.folder, folder, dirs_exist_ok=True)
        if target is None:
            target = str(numbers.choice(sorted((folder / "classes").rglob("*.npy"))).relative_to(folder))
        elif target == "points":
            target = "points/" + files.points[-1].name
        path = folder / target
        before = path.read_bytes()
        after = before
        while after == before:
            after = refit(target, damage(before, numbers), numbers)
        path.write_bytes(after)
        ended, wrong = "", None
        for command in commands:
            start = time.monotonic()
            try:
                done = subprocess.run([files.viridian, *command], cwd=folder, capture_output=True, text=True, errors="replace",
                                      timeout=LIMIT, preexec_fn=limits)
            except subprocess.TimeoutExpired:
                return "hang", f"still running after {LIMIT} s", after, target
            took = time.monotonic() - start
            ended = {0: "success", 1: "error", 2: "error"}.get(done.returncode, "crash")
            errors = [line for line in done.stderr.splitlines() if line.startswith("viridian: ")]
            if ended == "crash":
                wrong = f"exit code {done.returncode} after {took:.1f} s: {done.stderr[-400:]}"
            elif ended == "error" and len(errors) != 1:
                wrong = f"{len(errors)} errors: {done.stderr[-400:]}"
            elif ended == "error" and (folder / "trained.onnx").read_bytes() != (files.folder / "before.onnx").read_bytes():
                wrong = "the trained model changed although the run failed"
            for point in files.points[:-1]:
                if (folder / "points" / point.name).read_bytes() != point.read_bytes():
                    wrong = f"the earlier checkpoint {point.name} changed"
        left = [path.name for path in folder.rglob("*.partial")]
        if left:
            wrong = f"unfinished files stay: {left}"
        return ended, wrong, after, target


def add(state, other):
    """Adds the counts of another portion of the same seed."""
    if other["seed"] != state["seed"] or not (other["first"] > state["last"] or other["last"] < state["first"]):
        sys.exit(f"the cases {other['first']} to {other['last']} of seed {other['seed']} do not belong to the others")
    state["ranges"] = state.get("ranges", [[state["first"], state["last"]]]) + [[other["first"], other["last"]]]
    for kind, counts in other["kinds"].items():
        own = state["kinds"].setdefault(kind, {})
        for what, count in counts.items():
            own[what] = own.get(what, 0) + count


def table_of(state, machine, version):
    """The counts as a page."""
    cases = ", ".join(f"{first} to {last}" for first, last in state.get("ranges", [[state["first"], state["last"]]]) if last >= first)
    about = [f"`tests/train/mutants.py` with the seed {state['seed']}, cases {cases}, {machine}, {datetime.date.today().isoformat()}, {version}.",
             "Each case is a file with random damage: an inspected or run step file, a training run on damaged data or with a",
             "damaged model, or a run that resumes from a damaged checkpoint. *Wrong* counts crashes, hangs, errors of other",
             "than one sentence, and files that were lost. A success is a run to which the damage made no difference that a",
             "reader could see, such as another digit of a number."]
    lines = ["# Damaged files", "", textwrap.fill(" ".join(about), 100), "",
             "| file | cases | success | one error | wrong |", "|---|---|---|---|---|"]
    total = collections.Counter()
    for kind, counts in state["kinds"].items():
        total.update(counts)
        lines.append("| {} | {} | {} | {} | {} |".format(kind, counts["cases"], counts.get("success", 0), counts.get("error", 0),
                                                        counts.get("wrong", 0)))
    lines.append("| all | {} | {} | {} | {} |".format(total["cases"], total["success"], total["error"], total["wrong"]))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("viridian")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--state", type=pathlib.Path)
    parser.add_argument("--add", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--machine", default="a machine of no known class")
    options = parser.parse_args()
    viridian = str(pathlib.Path(options.viridian).resolve(strict=True))
    fresh = {"seed": options.seed, "first": options.first, "last": options.first - 1, "kinds": {}}
    state = json.loads(options.state.read_text()) if options.state and options.state.exists() else fresh
    if state["seed"] != options.seed or state["last"] + 1 != options.first:
        sys.exit(f"{options.state} holds the cases {state['first']} to {state['last']} of seed {state['seed']}; go on from there")
    every = list(kinds().items())
    failures = 0
    with tempfile.TemporaryDirectory(prefix="viridian-mutants-") as name:
        files = Files(viridian, pathlib.Path(name), options.seed)
        for case in range(options.first, options.first + options.count):
            kind, (target, commands) = every[case % len(every)]
            ended, wrong, after, path = run_case(files, kind, target, commands, random.Random(f"{options.seed} {case}"))
            counts = state["kinds"].setdefault(kind, {"cases": 0})
            counts["cases"] += 1
            counts["wrong" if wrong else ended] = counts.get("wrong" if wrong else ended, 0) + 1
            state["last"] = case
            if wrong:
                failures += 1
                print(f"case {case} of seed {options.seed}, {kind} ({path}): {wrong}", flush=True)
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    (options.keep / f"{case}_{pathlib.Path(path).name}").write_bytes(after)
            if options.state and (case % 50 == 0 or case + 1 == options.first + options.count):
                options.state.write_text(json.dumps(state, indent=1))
    for other in map(json.loads, map(pathlib.Path.read_text, options.add)):
        add(state, other)
    if options.results:
        version = subprocess.run([viridian, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
        options.results.write_text(table_of(state, options.machine, version))
    print(f"{options.count} damaged files, {failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
