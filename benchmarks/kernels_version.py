#!/usr/bin/env python3
"""kernels_version.py [COMMIT...] [--write]: the version of the CPU's kernels, as `viridian --version` and the tables of benchmarks/
name it, of the files here and of each COMMIT. It is a hash of sources: two commits with the same version have the same kernels.
Until 23 November 2026 kernels had no folders of their own; the version is then that of all of viridian/execute/cpu. With
--write, the commits that pages of benchmarks/ name are listed with theirs in benchmarks/results/kernels_versions.md, and so is the
first commit of each version that they name; `check_docs.py` refuses a page that names a commit without a row."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDER = "viridian/execute/cpu"
PAGE = ROOT / "benchmarks" / "results" / "kernels_versions.md"
COMMIT = re.compile(r"(?<![.\w])(?!\d{8}\b)([0-9a-f]{7})[0-9a-f]?(?!\w)")  # its first seven digits
VERSION = re.compile(r"kernels ([0-9a-f]{12})(?!\w)")
LOST = "not in this history"
HEAD = """\
# Versions of the kernels

This page is for people who want to know whether two numbers are of the same kernels, and of which.
The version is a hash of the sources of the CPU's kernels without comments and white space. `viridian
--version` prints it, tables that a script writes name it, and `python3 benchmarks/kernels_version.py
COMMIT` computes it of any commit, so that anybody can check a row; without a commit it tells the
present version. The same script, with `--write`, wrote this page: every commit that a page of
benchmarks/ names, and for a version the first commit that has it, in order of time.

A table that names a commit with *-dirty* was measured with changes that were not committed; which
kernels they concern is not known. Commits that are not in this history cannot be checked: their work
was lost with a machine, and the version of their kernels is not known. A version without a commit was
a state on the way to one.

| version | commits | of (UTC) | pages |
|---|---|---|---|
"""


def git(*words, **options):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, env={**os.environ, "TZ": "UTC"}, **options)


def version_of(root):
    """Of the sources below `root`, by the rule of the build (cmake/code_hash.cmake)."""
    cpu = root / FOLDER
    folders = [cpu / "kernels", cpu / "simd"] if (cpu / "kernels").is_dir() else [cpu]
    with tempfile.TemporaryDirectory() as work:
        output = pathlib.Path(work, "version.cpp")
        subprocess.run(["cmake", f"-DOUTPUT={output}", f"-DFOLDERS={';'.join(map(str, folders))}", "-P", ROOT / "cmake" / "code_hash.cmake"], check=True)
        return re.search(r'"([0-9a-f]{12})"', output.read_text())[1]


def version_at(commit):
    archive = git("archive", commit, FOLDER)
    if archive.returncode:
        return LOST
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(["tar", "-x", "-C", work], input=archive.stdout, check=True)
        return version_of(pathlib.Path(work))


def first_commits(versions):
    """{version: its first commit} of those that a commit has."""
    found = {}
    for commit in git("log", "--format=%h", "--abbrev=7", "--", FOLDER, text=True, check=True).stdout.split():
        version = version_at(commit)
        if version in versions:
            found[version] = commit
    return found


def link(page):
    path = os.path.relpath(page, PAGE.parent)
    return f"[{page.relative_to(ROOT / 'benchmarks')}]({path})"


def rows():
    pages, versions = {}, {}
    for page in sorted(ROOT.glob("benchmarks/**/*.md")):
        if page != PAGE:
            for commit in COMMIT.findall(page.read_text()):
                pages.setdefault(commit, set()).add(page)
            for version in VERSION.findall(page.read_text()):
                versions.setdefault(version, set()).add(page)
    commits_of = first_commits(versions)
    for version, commit in commits_of.items():
        pages.setdefault(commit[:7], set()).update(versions[version])
    dates = {commit: git("log", "-1", "--format=%ad", "--date=format-local:%Y-%m-%d %H:%M", commit, text=True).stdout.strip() for commit in pages}
    groups = []
    for commit in sorted(pages, key=lambda one: (dates[one] or "not known", one)):
        version = version_at(commit)
        if groups and groups[-1][0] == version != LOST:
            groups[-1][1].append(commit)
        else:
            groups.append((version, [commit]))
    for version, commits in groups:
        named = sorted(set().union(*(pages[commit] for commit in commits)))
        yield f"| {version} | {', '.join(commits)} | {dates[commits[0]] or 'not known'} | {', '.join(map(link, named))} |"
    for version in sorted(versions.keys() - commits_of.keys()):
        yield f"| {version} | not committed | | {', '.join(map(link, sorted(versions[version])))} |"


def main():
    commits = [word for word in sys.argv[1:] if not word.startswith("-")]
    print(version_of(ROOT), "the files here")
    for commit in commits:
        print(version_at(commit), commit)
    if "--write" in sys.argv:
        PAGE.write_text(HEAD + "\n".join(rows()) + "\n")


if __name__ == "__main__":
    main()
