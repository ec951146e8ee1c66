#!/usr/bin/env python3
"""Runs the cases of tests/golden/ and tests/rejects/: commands in, exact text out.

    run_golden.py VIRIDIAN CASE...            compares; a CASE is a .txt file, or a folder that holds some
    run_golden.py --update VIRIDIAN CASE...   writes what the commands print into the cases

A case reads like a terminal. Lines before the first command are a comment:

    A model that is not there.
    $ viridian inspect net.onnx
    2> viridian: there is no file `net.onnx`. check the path.
    [exit code 1]

`$ ` begins a command for bash, and `> ` goes on with it (a here-document, for example). What the command prints to stdout
follows as it is, then what it prints to stderr, each line after `2> `, then the exit code unless it is 0. Text that does
not end its last line is followed by the line `[no line end]`. The commands of a case run one after the other in one fresh
folder, which is HOME too and holds links to `tests`, `benchmarks` and `docs`, so that paths read as from the repository's root.
Nothing is masked here: a command whose text is not the same everywhere pipes it through `sed`, where a reader sees it.
"""
import argparse
import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONGEST = 120  # seconds for one command, also under the sanitizers; a case is meant to take less than two


def parse(text):
    """The comment and the commands of a case, without what it expects."""
    comment, commands = [], []
    follows = False  # a `> ` line belongs to the command only directly after it
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append(line[2:])
            follows = True
        elif follows and (line.startswith("> ") or line == ">"):
            commands[-1] += "\n" + line[2:]
        else:
            follows = False
            if not commands:
                comment.append(line)
    return comment, commands


def shown(command, done):
    """A command and what it printed, as a case writes it."""
    lines = ["$ " + command.replace("\n", "\n> ")]
    for text, mark in ((done.stdout, ""), (done.stderr, "2> ")):
        lines += [mark + line for line in text.split("\n")[:-1]]
        if text and not text.endswith("\n"):
            lines += [mark + text.split("\n")[-1], "[no line end]"]
    if done.returncode != 0:
        lines.append(f"[exit code {done.returncode}]")
    return lines


def run(command, folder, environment):
    try:
        return subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment, timeout=LONGEST,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 0, "", f"still running after {LONGEST} seconds\n")


def run_case(text, programs):
    """The case's text as the commands print it now."""
    comment, commands = parse(text)
    with tempfile.TemporaryDirectory(prefix="viridian-golden-") as folder:
        for name in ("tests", "benchmarks", "docs"):
            os.symlink(ROOT / name, pathlib.Path(folder) / name)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("VIRIDIAN_", "XDG_"))}
        environment |= {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": folder, "LC_ALL": "C", "TZ": "UTC"}
        lines = comment
        for command in commands:
            lines += shown(command, run(command, folder, environment))
    return "\n".join(lines) + "\n"


def cases_of(names):
    found = []
    for name in map(pathlib.Path, names):
        here = sorted(name.rglob("*.txt")) if name.is_dir() else [name]
        if not here:
            sys.exit(f"{name}: no case (*.txt)")
        found += here
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--update", action="store_true", help="write what the commands print now")
    arguments.add_argument("viridian", help="the program")
    arguments.add_argument("cases", nargs="+", help="cases (.txt) or folders of cases")
    options = arguments.parse_args()
    program = pathlib.Path(options.viridian).resolve(strict=True)
    changed, paths = [], cases_of(options.cases)
    with tempfile.TemporaryDirectory(prefix="viridian-golden-bin-") as programs:
        os.symlink(program, pathlib.Path(programs) / "viridian")
        for path in paths:
            expected = path.read_text()
            if not parse(expected)[1]:
                sys.exit(f"{path}: no command; a case has lines that begin with `$ `")
            printed = run_case(expected, programs)
            if printed == expected:
                continue
            changed.append(path)
            if options.update:
                path.write_text(printed)
            else:
                name = os.path.relpath(path.resolve(), ROOT)
                print("\n".join(difflib.unified_diff(expected.splitlines(), printed.splitlines(), name, "now", lineterm="")))
                print(f"If this is right: tests/golden/run_golden.py --update {options.viridian} {path}\n")
    print(f"{len(paths)} cases, {len(changed)} {'updated' if options.update else 'differ'}")
    return 0 if options.update else int(bool(changed))


if __name__ == "__main__":
    sys.exit(main())
