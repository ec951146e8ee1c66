#!/usr/bin/env python3
"""What the documents promise, held against the program: commands, flags, make targets, links and the headings they name; a page
for each room; what is written into documents, held against its origin (origins.py); the tests and files that documents name
(named.py); and that the kernels of every commit that a table names are listed.

check_docs.py ROOT VIRIDIAN [--write]: with --write, what is written into the documents is written again. run_pages.py runs the
blocks of the guides."""
import functools
import pathlib
import re
import sys

import named
import origins

ROOT, VIRIDIAN = pathlib.Path(sys.argv[1]), sys.argv[2]
DESIGN = {"architecture.md", "method.md"}  # say what is to come as well
COMMIT = re.compile(r"(?<![.\w])(?!\d{8}\b)([0-9a-f]{7})[0-9a-f]?(?!\w)")


def help_of(*words):
    return origins.help_of(VIRIDIAN, *words)


def subcommands(text):
    return set(origins.subcommands(text))


def spans(text):
    """What stands in backticks within lines, without line breaks."""
    unfenced = re.sub(r"```\w*\n.*?```", "", text, flags=re.S)
    return [re.sub(r"\s+", " ", span) for span in re.findall(r"`([^`]+)`", unfenced)]


def code(text):
    """Indented or fenced lines, and spans in backticks."""
    fenced = re.findall(r"^(?:    |\t)(.*)$", text, re.M) + re.findall(r"```\w*\n(.*?)```", text, re.S)
    lines = [line for block in fenced for line in block.splitlines()]
    return lines + spans(text)


def wrong_commands(text):
    for line in code(text):
        for call in re.findall(r"(?:^|(?<!import)[\s/])viridian ([a-z][a-z-]*(?=\s|$)[^|&;#]*)", line):
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


@functools.cache
def anchors(page):
    """The names that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def wrong_links(page, text):
    for link, anchor in re.findall(r"\]\(\s*([^)#\s]*)(?:#([^)]*))?\)", text):
        target = page.parent / link if link else page
        if "://" in link:
            continue
        if not target.exists():
            yield f"links to {link}, which is not there"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            yield f"links to {link}#{anchor}, but there is no such heading"


def rooms_without_page():
    for room in sorted(path.name for path in (ROOT / "viridian").iterdir() if path.is_dir()):
        if not (ROOT / "docs" / f"{room}.md").exists():
            yield f"docs/{room}.md: the room `{room}` has no page"


def commits_without_version():
    """Commits that a page of benchmarks/ names, and benchmarks/results/kernels_versions.md does not."""
    known = set(COMMIT.findall((ROOT / "benchmarks" / "results" / "kernels_versions.md").read_text()))
    for page in sorted(ROOT.glob("benchmarks/**/*.md")):
        for commit in sorted(set(COMMIT.findall(page.read_text())) - known):
            yield f"{page.relative_to(ROOT)}: the kernels of commit {commit} are not listed; benchmarks/kernels_version.py --write"


def main():
    targets = set(re.findall(r"^([a-z][a-z0-9-]*):", (ROOT / "Makefile").read_text(), re.M))
    faults, calls, tests = [*rooms_without_page(), *commits_without_version()], 0, 0
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/**/*.md"), *ROOT.glob("tools/**/*.md"),
             *ROOT.glob("examples/**/*.md"), *ROOT.glob("python/**/*.md")]
    for page in sorted(pages):
        text = page.read_text()
        if (again := origins.written_again(ROOT, VIRIDIAN, text)) != text:
            if "--write" in sys.argv:
                page.write_text(again)
            else:
                faults.append(f"{page.relative_to(ROOT)}: is not as its origins say; tests/docs/check_docs.py . {VIRIDIAN} --write")
        calls += sum("viridian " in line for line in code(text))
        tests += sum(named.GOOGLE_TEST.fullmatch(span) is not None for span in spans(text))
        found = [*wrong_links(page, text), *named.wrong_names(ROOT, spans(text))]
        if page.name not in DESIGN:
            found += [*wrong_commands(text), *wrong_targets(text, targets)]
        faults += [f"{page.relative_to(ROOT)}: {fault}" for fault in found]
    print(*faults, sep="\n")
    print(f"{len(pages)} pages, {calls} calls, {tests} names of tests, {len(faults)} faults")
    return 1 if faults or calls < 20 or tests < 50 else 0


sys.exit(main())
