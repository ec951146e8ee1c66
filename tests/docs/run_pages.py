#!/usr/bin/env python3
"""Runs the blocks of a page in a scratch folder, from the first to the last, and compares what they print with the page.

    run_pages.py [--write] [--python PYTHON] VIRIDIAN PAGE...

With --write, what the blocks print now is written into the page.

Every fenced block of a page is one of these:
    ```console   lines that begin with `$ ` are commands for bash (with `> ` they go on); the lines behind are what it prints.
                 All commands of a page go to one bash, so that variables and background programs stay.
    ```python    runs in one Python for the whole page, PYTHON or that of .venv-python; what it prints stands in a block ```text
                 directly behind it, or is not compared.
A block whose first line names a file (`# train.py`, `// run.cpp`) is written there, and not run.
A comment directly before a block says more:
    <!-- numbers vary -->       numbers, their units (us, mJ) and gaps between columns may be others than the page's
    <!-- numbers and order vary -->    the order of lines, too
    <!-- file: NAME -->         the block is written there, for formats that have no comments
    <!-- given: PATH... -->     files of the repository that the reader has as well: they are copied into the folder
    <!-- not run: WHY -->       the block is not run; the reason is listed
    <!-- written: ... -->       the block comes from its origin (check_docs.py)
A line `...` in what a page shows stands for any number of lines, `...` within a line for any text. Remarks that other processes
disturbed a run are not compared.

The machine that pages are run on has no energy meter, because VIRIDIAN_ROOT names a folder without any: joules are estimated
everywhere. Blocks that need a module of Python that is absent (NEEDS) are skipped with all blocks behind them, and listed; the
exit code is 77 then, and 1 if something differs. The scratch folder is HOME, and shown as `~`."""
import argparse
import difflib
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv-python" / "bin" / "python"
LONGEST = 600  # seconds for one command
NEEDS = {"torch": r"\btorch\b", "pandas": "pandas", "transformers": "transformers", "lightning": "lightning", "grpc": "grpc",
         "onnx": "import onnx\\b", "numpy": "numpy", "viridian": "import viridian"}  # a module: how a block that needs it says so
DISTURBED = re.compile(r"other processes|other programs ran|not alone|the machine was busy")
NUMBER = re.compile(r"(?<![\w.])[-+±]?\d+(?:[.,]\d+)*(e[-+]?\d+)?(?![\w.]*\.\w)(\s?(?:[unmkMG]?(?:s|J|W|B)|[kKMG]iB|us|min)\b)?")
BLOCK = re.compile(r"(?P<before>(?:^<!--(?:(?!-->).)*-->\n)*)^(?P<fence>```)(?P<kind>\w*)\n(?P<body>.*?)^```$", re.M | re.S)
REPL = r"""
import ast, json, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    code, good = json.loads(line), True
    try:
        exec(compile(code, "block", "exec"), names)
    except BaseException:
        traceback.print_exc()
        good = False
    sys.stdout.flush(); sys.stderr.flush()
    print("\x04" + str(int(not good)), flush=True)
"""


class Program:
    """A program that reads blocks and ends what it prints for each by a line with a mark and an exit code."""

    def __init__(self, command, folder, environment):
        self.folder = str(folder)
        self.running = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, start_new_session=True)
        os.set_blocking(self.running.stdout.fileno(), False)

    def say(self, text):
        """What the program prints for `text`, and the exit code; None if it did not end."""
        self.running.stdin.write(text.encode())
        self.running.stdin.flush()
        printed, end = b"", time.monotonic() + LONGEST
        while not (found := re.search(rb"\x04(\d+)\n", printed)):
            select.select([self.running.stdout], [], [], 1)
            more = self.running.stdout.read()
            printed += more or b""
            if time.monotonic() > end or more == b"":
                return printed.decode(errors="replace") + "\n(it did not end)\n", None
        text = printed[:found.start()].decode(errors="replace")
        return text.replace(self.folder, "~"), int(found.group(1))

    def close(self):
        try:
            os.killpg(self.running.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.running.wait()


def commands(body):
    """The commands of a console block, each with what the page says that it prints."""
    found, follows = [], False
    for line in body.splitlines():
        if line.startswith("$ "):
            found.append([line[2:], []])
            follows = True
        elif follows and (line.startswith("> ") or line == ">"):
            found[-1][0] += "\n" + line[2:]
        else:
            follows = False
            if not found:
                raise SystemExit(f"a console block begins with `{line}`, which is no command")
            found[-1][1].append(line)
    return found


def plain(lines, vary):
    """Lines as they are compared. `vary` says what may differ: "numbers", "numbers and order", or nothing."""
    kept = [line.rstrip() for line in lines if not DISTURBED.search(line)]
    if vary:
        kept = [re.sub(r"-+", "-", re.sub(r"\s+", " ", NUMBER.sub(" # ", line))).strip() for line in kept]
    return sorted(kept) if "order" in vary else kept


def varying(before):
    """What the comments before a block say that may vary."""
    return " ".join(re.findall(r"<!-- (.*?) vary -->", before))


def agrees(expected, printed, vary):
    expected, printed = plain(expected, vary), plain(printed, vary)
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line).replace(r"\.\.\.", ".*") + "\n" for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


class Page:
    def __init__(self, path, viridian, work, interpreter):
        self.path, self.text, self.folder, self.interpreter = path, path.read_text(), work / "page", interpreter
        root, programs = work / "root", work / "bin"
        for folder in (self.folder, root, programs):
            folder.mkdir()
        (root / "proc").symlink_to("/proc")
        (programs / "viridian").symlink_to(viridian)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("VIRIDIAN_", "XDG_", "OMP_", "PYTHON"))}
        self.environment = kept | {"HOME": str(self.folder), "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "dumb", "VIRIDIAN_NVML": "/none",
                                   "VIRIDIAN_AMDSMI": "/none", "VIRIDIAN_ROOT": str(root), "PYTHONDONTWRITEBYTECODE": "1",
                                   "XDG_RUNTIME_DIR": str(work), "PYTHONWARNINGS": "ignore",
                                   "PATH": f"{programs}:{interpreter.parent}:{os.environ['PATH']}"}
        if interpreter != PYTHON:  # it has packages that .venv-python lacks, and takes ours from there
            for package in PYTHON.parents[1].glob("lib/python3*/site-packages/viridian"):
                (work / "site").mkdir()
                (work / "site" / "viridian").symlink_to(package)
                self.environment["PYTHONPATH"] = str(work / "site")
        self.bash = Program(["bash", "--noprofile", "--norc"], self.folder, self.environment)
        self.python, self.faults, self.skipped, self.ran, self.edits = None, [], [], 0, []

    def close(self):
        self.bash.close()
        if self.python:
            self.python.close()

    def lacks(self, text):
        """The module that a block needs and Python lacks, or an empty text."""
        wanted = [module for module, sign in NEEDS.items() if re.search(sign, text)]
        wanted += ["viridian"] if re.search(r"^\$.*\bpython3? ", text, re.M) else []
        if not wanted:
            return ""
        if not self.interpreter.exists():
            return "viridian"
        program = "import importlib.util, sys; print(next((m for m in sys.argv[1:] if not importlib.util.find_spec(m)), ''))"
        return subprocess.run([self.interpreter, "-c", program, *wanted], env=self.environment, capture_output=True, text=True,
                              check=True).stdout.strip()

    def compare(self, what, expected, printed, vary):
        self.ran += 1
        if agrees(expected, printed, vary):
            return expected
        difference = difflib.unified_diff(plain(expected, vary), plain(printed, vary), "the page", "now", lineterm="")
        self.faults.append(f"{self.path.name}: `{what}` prints something else\n" + "\n".join(difference))
        return printed

    def console(self, match, vary):
        lines = []
        for command, expected in commands(match["body"]):
            printed, code = self.bash.say(f"{{ {command}\n}} </dev/null 2>&1\nprintf '\\004%d\\n' $?\n")
            if code is None:
                self.faults.append(f"{self.path.name}: `{command}` did not end")
            printed = printed.splitlines() + ([f"[exit code {code}]"] if code else [])
            lines += ["$ " + command.replace("\n", "\n> ")] + self.compare(command, expected, printed, vary)
        self.edits.append((match.start("body"), match.end("body"), "".join(line + "\n" for line in lines)))

    def run_python(self, match, output):
        if not self.python:
            self.python = Program([str(self.interpreter), "-c", REPL], self.folder, self.environment)
        printed, code = self.python.say(json.dumps(match["body"]) + "\n")
        first = match["body"].splitlines()[0]
        if code != 0:
            self.faults.append(f"{self.path.name}: the block that begins with `{first}` fails\n{printed}")
        if output:
            vary = varying(output["before"] + match["before"])
            lines = self.compare(first, output["body"].splitlines(), printed.splitlines(), vary)
            self.edits.append((output.start("body"), output.end("body"), "".join(line + "\n" for line in lines)))

    def run(self):
        blocks = list(BLOCK.finditer(self.text))
        for index, match in enumerate(blocks):
            before, body, kind = match["before"], match["body"], match["kind"]
            for given in re.findall(r"<!-- given: (.*?) -->", before):
                for name in given.split():
                    shutil.copy(ROOT / name, self.folder)
            named = re.search(r"<!-- file: (\S+) -->", before) or re.match(r"(?:#|//) (\S+\.\w+)\n", body)
            if "written:" in before:
                continue
            if reason := re.search(r"<!-- not run: (.*?) -->", before, re.S):
                self.skipped.append(f"not run, {reason.group(1)}: `{body.splitlines()[0]}`")
            elif lacking := self.lacks(body):
                self.skipped.append(f"skipped from `{body.splitlines()[0]}` on: there is no {lacking}")
                return 77
            elif named and kind != "console":
                (self.folder / named.group(1)).write_text(body)
            elif kind == "console":
                self.console(match, varying(before))
            elif kind == "python":
                after = blocks[index + 1] if index + 1 < len(blocks) else None
                follows = after and after["kind"] == "text" and not self.text[match.end():after.start()].strip()
                self.run_python(match, after if follows else None)
            elif kind != "text" or index == 0 or blocks[index - 1]["kind"] != "python":
                self.faults.append(f"{self.path.name}: nothing runs the block that begins with `{body.splitlines()[0]}`")
        return 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--write", action="store_true", help="write what the blocks print now into the pages")
    arguments.add_argument("--python", type=pathlib.Path, default=PYTHON, help="the Python for the pages (that of .venv-python)")
    arguments.add_argument("viridian", help="the program")
    arguments.add_argument("pages", nargs="+", type=pathlib.Path)
    options = arguments.parse_args()
    viridian, status = pathlib.Path(options.viridian).resolve(strict=True), 0
    for path in options.pages:
        with tempfile.TemporaryDirectory(prefix="viridian-page-") as work:
            page = Page(path, viridian, pathlib.Path(work), options.python.absolute())
            try:
                status = max(status, page.run())
            finally:
                page.close()
        if options.write:
            text = page.text
            for begin, end, new in reversed(page.edits):
                text = text[:begin] + new + text[end:]
            path.write_text(text)
        for line in [*page.faults, *(f"{path.name}: {one}" for one in page.skipped)]:
            print(line)
        print(f"{path.name}: {page.ran} outputs compared, {len(page.faults)} differ")
        status = 1 if page.faults and not options.write else status
    return status


if __name__ == "__main__":
    sys.exit(main())
