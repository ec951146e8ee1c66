#!/usr/bin/env python3
"""import_time.py [--python PYTHON] [--runs N] [--output FILE.md]: how long `import viridian` takes, each time in a new
process. Cold: every file that the import reads is dropped from the page cache before. The table has medians and ranges."""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))
LIMIT = 0.3  # seconds
TIMED = "import time; begin = time.perf_counter(); import viridian; print(time.perf_counter() - begin)"
# What the import brought: modules, and libraries that Python alone does not map.
FILES = """
import sys
def mapped():
    return {line.split(maxsplit=5)[5].strip() for line in open("/proc/self/maps") if line.count("/") > 1}
before, known = mapped(), set(sys.modules)
import viridian
files = mapped() - before
for name in set(sys.modules) - known:
    module = sys.modules[name]
    files |= {one for one in (getattr(module, "__file__", None), getattr(module, "__cached__", None)) if one}
print(*sorted(files), sep="\\n")
"""


def said(python, program):
    return subprocess.run([python, "-I", "-c", program], check=True, capture_output=True, text=True).stdout


def drop(files):
    for name in files:
        try:
            handle = os.open(name, os.O_RDONLY)
        except FileNotFoundError:  # bytecode that was never written
            continue
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(handle)


def whole(python, program):
    begin = time.perf_counter()
    said(python, program)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=str(HERE.parents[1] / ".venv-python/bin/python"))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    from setting import machine
    files = said(options.python, FILES).split("\n")[:-1]
    rows = []
    for name in ("warm", "cold"):
        statement, process, plain = [], [], []
        for _ in range(options.runs):
            if name == "cold":
                drop(files)
            statement.append(float(said(options.python, TIMED)))
            if name == "cold":
                drop(files)
            process.append(whole(options.python, "import viridian"))
            plain.append(whole(options.python, "pass"))
        rows.append((name, statement, process, plain))
    version = said(options.python, "import sys, viridian; print('Python %d.%d' % sys.version_info[:2] + ', viridian ' + viridian.__version__)")

    def cell(times):
        return f"{statistics.median(times):.3f} ({min(times):.3f} to {max(times):.3f})"

    lines = ["# Importing the package", "",
             "Written by `benchmarks/python/import_time.py`. Each time is of a new process, in seconds: the statement",
             "`import viridian`, and `python -I -c 'import viridian'` from start to end beside `python -I -c pass`. Cold: the",
             f"{len(files)} files that the import reads are dropped from the page cache before; Python's own stay.", "",
             f"Machine: {machine()}. {version.strip()}. Medians and ranges of {options.runs}.", "",
             "| page cache | `import viridian`, s | whole process, s | Python alone, s |", "|---|---|---|---|"]
    lines += [f"| {name} | {cell(statement)} | {cell(process)} | {cell(plain)} |" for name, statement, process, plain in rows]
    missed = [name for name, statement, *_ in rows if statistics.median(statement) > LIMIT]
    lines += ["", f"- At most {LIMIT:g} s by medians: " + ("**missed** " + ", ".join(missed) if missed else "kept, warm and cold") + "."]
    print("\n".join(lines))
    if options.output:
        options.output.write_text("\n".join(lines) + "\n")


main()
