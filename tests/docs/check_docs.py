#!/usr/bin/env python3
"""What the documents promise, held against the program: commands, flags, make targets and links; and what is written into
them, held against its origin.

check_docs.py ROOT VIRIDIAN [--write]: with --write, what is written into the documents is written again.

A part of a document between `<!-- written: ... -->` and `<!-- end -->` has one of two origins:
    output of viridian ARGUMENTS   the command's output
    rows of FOLDER                 a table, of whose rows each stands in a source of the folder, as the end of a comment:
                                   `// | first cell | second cell |`, on as many lines as it needs"""
import functools
import pathlib
import re
import subprocess
import sys

ROOT, VIRIDIAN = pathlib.Path(sys.argv[1]), sys.argv[2]
DESIGN = {"architecture.md", "method.md"}  # say what is to come as well


@functools.cache
def help_of(*words):
    done = subprocess.run([VIRIDIAN, *words, "--help"], capture_output=True, text=True, timeout=60)
    return done.stdout if done.returncode == 0 else None


def subcommands(text):
    text = text or ""
    listed = text if "Usage: viridian COMMAND" in text else text.partition("Subcommands:")[2]
    return set(re.findall(r"^  ([a-z][a-z-]*)\s", listed, re.M))


def code(text):
    """Indented or fenced lines, and spans in backticks, without line breaks."""
    fenced = re.findall(r"^(?:    |\t)(.*)$", text, re.M) + re.findall(r"```\w*\n(.*?)```", text, re.S)
    lines = [line for block in fenced for line in block.splitlines()]
    unfenced = re.sub(r"```\w*\n.*?```", "", text, flags=re.S)
    return lines + [re.sub(r"\s+", " ", span) for span in re.findall(r"`([^`]+)`", unfenced)]


def wrong_commands(text):
    for line in code(text):
        for call in re.findall(r"(?:^|[\s/])viridian ([a-z][a-z-]*(?=\s|$)[^|&;#]*)", line):
            words, path = call.split(), []
            if words[0] in {"help", "version"}:  # answered before the options are read
                continue
            while words and words[0] in subcommands(help_of(*path)):
                path.append(words.pop(0))
            if not path:
                yield f"`{line.strip()}`: no such command"
                continue
            own = call.partition(" -- ")[0]
            for flag in re.findall(r"(?<=\s)(--[a-z][a-z-]*)", own):
                if not re.search(re.escape(flag) + r"(?![a-z-])", help_of(*path)):
                    yield f"`{line.strip()}`: `viridian {' '.join(path)} --help` does not know {flag}"


def wrong_targets(text, targets):
    for line in code(text):
        for target in re.findall(r"(?:^|\s)make ([a-z][a-z0-9-]*)", line):
            if target not in targets:
                yield f"`{line.strip()}`: the Makefile has no target {target}"


def wrong_links(page, text):
    for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in link and not (page.parent / link).exists():
            yield f"links to {link}, which is not there"


def row_of(source):
    """The row of a table that stands in a source's comment, in a list; an empty list if none does."""
    comments = re.findall(r"^// (\|.*\n(?:// .*\n)*)", source.read_text(), re.M)
    return [re.sub(r"\n(// )?", " ", comment).strip() + "\n" for comment in comments]


def written(match):
    """The part of a document that `match` found, as its origin says."""
    begin, origin, argument, old, end = match.groups()
    if origin == "output":
        output = subprocess.run([VIRIDIAN, *argument.split()[1:]], capture_output=True, text=True, timeout=60, check=True)
        return f"{begin}```\n{output.stdout}```\n{end}"
    head = old.splitlines(keepends=True)[:2]
    return begin + "".join(head + [row for source in sorted((ROOT / argument).glob("*.cpp")) for row in row_of(source)]) + end


def write_again(text):
    return re.sub(r"(<!-- written: (output|rows) of (.*?) -->\n)(.*?)(<!-- end -->)", written, text, flags=re.S)


def main():
    targets = set(re.findall(r"^([a-z][a-z0-9-]*):", (ROOT / "Makefile").read_text(), re.M))
    faults, calls = [], 0
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/**/*.md"), *ROOT.glob("tools/**/*.md"),
             *ROOT.glob("examples/**/*.md"), *ROOT.glob("python/**/*.md")]
    for page in sorted(pages):
        text = page.read_text()
        if (again := write_again(text)) != text:
            if "--write" in sys.argv:
                page.write_text(again)
            else:
                faults.append(f"{page.relative_to(ROOT)}: is not as its origins say; tests/docs/check_docs.py . {VIRIDIAN} --write")
        calls += sum("viridian " in line for line in code(text))
        found = [*wrong_links(page, text)]
        if page.name not in DESIGN:
            found += [*wrong_commands(text), *wrong_targets(text, targets)]
        faults += [f"{page.relative_to(ROOT)}: {fault}" for fault in found]
    print(*faults, sep="\n")
    print(f"{len(pages)} pages, {calls} calls, {len(faults)} faults")
    return 1 if faults or calls < 20 else 0


sys.exit(main())
