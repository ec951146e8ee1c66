#!/usr/bin/env python3
"""What the documents promise, held against the program: commands, flags, make targets and links.

check_docs.py ROOT VIRIDIAN"""
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
    return lines + [re.sub(r"\s+", " ", span) for span in re.findall(r"`([^`]+)`", text)]


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


def main():
    targets = set(re.findall(r"^([a-z][a-z0-9-]*):", (ROOT / "Makefile").read_text(), re.M))
    faults, calls = [], 0
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/**/*.md"), *ROOT.glob("tools/**/*.md"),
             *ROOT.glob("examples/**/*.md"), *ROOT.glob("python/**/*.md")]
    for page in sorted(pages):
        text = page.read_text()
        calls += sum("viridian " in line for line in code(text))
        found = [*wrong_links(page, text)]
        if page.name not in DESIGN:
            found += [*wrong_commands(text), *wrong_targets(text, targets)]
        faults += [f"{page.relative_to(ROOT)}: {fault}" for fault in found]
    readme = (ROOT / "README.md").read_text()
    for command in sorted(subcommands(help_of())):
        if f"`{command}`" not in readme:
            faults.append(f"README.md: does not name the command {command}")
    print(*faults, sep="\n")
    print(f"{len(pages)} pages, {calls} calls, {len(faults)} faults")
    return 1 if faults or calls < 20 else 0


sys.exit(main())
