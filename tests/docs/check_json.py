#!/usr/bin/env python3
"""Holds docs/reference/json/*.md, the reference of the JSON that the program writes, against what it really writes.

    check_json.py [--write] VIRIDIAN      with --write, rows of new fields are added and wrong types are written again

json_outputs.sh runs the commands in a scratch folder. Every JSON object there that names a schema is an example of it. The
fields of a schema stand behind `<!-- fields of NAME -->`, one row each:

    | `epochs[].joules` | energy or null | J | what the meter said of the epoch | with a meter |

`[]` is each element of a list, and `.*` each value of an object whose keys are data. A type is `text`, `integer`, `number`
(an integer too), `boolean`, `object` (whose fields follow), `list of ...`, `any`, or the name of an object that has a table of
its own behind `<!-- object NAME -->`. A number has a unit; `1` is that of a ratio. The last column is empty if the field is
always there, else it says when; if it contains `not in the test`, the test has no example of the field.
`perhaps` there says that it depends on the machine whether examples have it."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "reference" / "json"
HEAD = "| field | type | unit | meaning | if |\n|---|---|---|---|---|\n"
TABLE = re.compile(r"(<!-- (?:fields of|object) (\S+) -->\n)(.*?)(<!-- end -->)", re.S)
SIMPLE = {bool: "boolean", int: "integer", float: "number", str: "text", type(None): "null"}
UNTESTED, PERHAPS = "not in the test", "perhaps"


class Table:
    """The rows of one schema or named object, and what its examples have."""

    def __init__(self, text):
        self.rows = {}
        for line in text.splitlines()[2:]:
            cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
            self.rows[cells[0].strip("`")] = cells[1:]
        self.kinds, self.count, self.parents = {}, {"": 0}, {}

    def maps(self, path):
        return any(row.startswith(path + ".*") for row in self.rows)

    def see(self, path, kind):
        self.kinds.setdefault(path, set()).add(kind)


def named(row_type):
    return [word for word in re.split(r" or |list of ", row_type) if word]


class Reference:
    def __init__(self):
        self.pages = {page: page.read_text() for page in sorted(PAGES.glob("*.md"))}
        self.tables = {name: Table(body) for text in self.pages.values() for _, name, body, _ in TABLE.findall(text)}
        self.unknown = set()

    def example(self, name, value):
        if name not in self.tables:
            self.unknown.add(name)
            return
        table = self.tables[name]
        table.count[""] += 1
        self._fields(table, value, "")

    def _fields(self, table, value, path):
        """The fields of one object, which is not a named one."""
        mapping = table.maps(path) if path else False
        for key, inner in value.items():
            below = f"{path}.*" if mapping else f"{path}.{key}".lstrip(".")
            table.count[below] = table.count.get(below, 0) + 1
            table.parents[below] = path
            table.see(below, self._kind(table, inner, below))
            self._inside(table, inner, below)

    def _inside(self, table, value, path):
        if isinstance(value, dict):
            if name := self._object(table, path, value):
                self.example(name, value)
            elif table.rows.get(path, [""])[0] != "any":
                table.count[path + "|"] = table.count.get(path + "|", 0) + 1
                self._fields(table, value, path)
        elif isinstance(value, list):
            for one in value:
                if isinstance(one, dict) and self._object(table, path, one):
                    self._inside(table, one, path)
                elif isinstance(one, dict):
                    table.count[path + "[]|"] = table.count.get(path + "[]|", 0) + 1
                    self._fields(table, one, path + "[]")
                elif isinstance(one, list):
                    self._inside(table, one, path + "[]")

    def _object(self, table, path, value):
        """The named object that a value is, if the row says so, or if there is no row yet and one has just these fields."""
        if path in table.rows:
            said = [one for one in named(table.rows[path][0]) if one in self.tables]
        else:
            said = [name for name, other in self.tables.items() if other.rows and other.rows.keys() == value.keys()]
        return said[0] if said else None

    def _kind(self, table, value, path):
        """The type of a value as a row tells it."""
        if isinstance(value, dict):
            return self._object(table, path, value) or "object"
        if not isinstance(value, list):
            return SIMPLE[type(value)]
        inner = {self._kind(table, one, path) for one in value}
        return "list of " + joined(inner) if inner else "list"

    def faults(self):
        yield from (f"{name}: no table of this schema" for name in sorted(self.unknown))
        for name, table in self.tables.items():
            if not table.count[""] and not all(UNTESTED in row[3] for row in table.rows.values()):
                yield f"{name}: the test has no example of it"
                continue
            for path in table.kinds.keys() | table.rows.keys():
                if fault := self._fault(table, path):
                    yield f"{name}: `{path}` {fault}"

    @staticmethod
    def _fault(table, path):
        if path not in table.rows:
            return "is not described"
        kind, unit, meaning, condition = table.rows[path]
        found = table.kinds.get(path)
        if re.search(r"\b(integer|number)\b", kind) and not unit:
            return "has no unit"
        if not meaning or "?" in (unit, meaning, condition):
            return "is not explained"
        if found is None:
            return None if UNTESTED in condition else "is in no example"
        if UNTESTED in condition and PERHAPS not in condition:
            return "is in an example, although its row says that none has it"
        if not fits(kind, found):
            return f"is {joined(found)}, and described as {kind}"
        if not path.endswith(".*"):
            everywhere = table.count[path] == parents(table, path)
            if everywhere and condition and PERHAPS not in condition:
                return f"is in every example, although its row says when: {condition}"
            if not everywhere and not condition:
                return "is not in every example; the last column has to say when it is"
        return None

    def write(self):
        for page, text in self.pages.items():
            page.write_text(TABLE.sub(lambda match: match[1] + self._written(self.tables[match[2]]) + match[4], text))

    @staticmethod
    def _written(table):
        order = list(table.rows)
        for path in table.kinds:
            if path not in order:
                before = [place for place, row in enumerate(order) if row.startswith(table.parents[path])]
                order.insert(before[-1] + 1 if before and table.parents[path] else len(order), path)
        lines = []
        for path in order:
            row = table.rows.get(path)
            if row is None:
                kind = joined(table.kinds[path])
                always = table.count[path] == parents(table, path) or path.endswith(".*")
                row = [kind, "?" if re.search("integer|number", kind) else "", "?", "" if always else "?"]
            elif path in table.kinds and not fits(row[0], table.kinds[path]):
                row = [joined(table.kinds[path]), *row[1:]]
            cells = [f"`{path}`", *row]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n")
        return HEAD + "".join(lines)


def parents(table, path):
    above = table.parents[path]
    return table.count[above + "|"] if above else table.count[""]


def joined(kinds):
    """One type for several."""
    kinds = set(kinds)
    if any(one.startswith("list of ") for one in kinds):
        kinds.discard("list")
        inner = {word for one in kinds if one.startswith("list of ") for word in one[len("list of "):].split(" or ")}
        kinds = {one for one in kinds if not one.startswith("list of ")} | {"list of " + joined(inner)}
    if {"integer", "number"} <= kinds:
        kinds.discard("integer")
    return " or ".join(sorted(kinds, key=lambda one: (one == "null", one)))


def fits(described, found):
    """Whether each type that was found is one of those described."""
    if described == "any":
        return True
    lists = described.partition("list of ")
    outer = {one for one in lists[0].split(" or ") if one}
    if "number" in outer:
        outer.add("integer")
    for one in found:
        if one == "list" and lists[1]:
            continue
        if one.startswith("list of ") and lists[1]:
            if not fits(lists[2], one[len("list of "):].split(" or ")) and not fits(lists[2], {one[len("list of "):]}):
                return False
        elif one not in outer:
            return False
    return True


def objects(text):
    """The JSON objects of a file: one, or one a line."""
    try:
        return [json.loads(text)]
    except ValueError:
        lines = [line for line in text.splitlines() if line.startswith("{")]
        try:
            return [json.loads(line) for line in lines]
        except ValueError:
            return []


def main():
    write, viridian = "--write" in sys.argv, pathlib.Path(sys.argv[-1]).resolve(strict=True)
    reference, seen = Reference(), 0
    with tempfile.TemporaryDirectory(prefix="viridian-json-") as work:
        folder, root, programs = (pathlib.Path(work, name) for name in ("here", "root", "bin"))
        for one in (folder, root, programs):
            one.mkdir()
        (root / "proc").symlink_to("/proc")
        (programs / "viridian").symlink_to(viridian)
        for one in ("tests", "benchmarks"):
            (folder / one).symlink_to(ROOT / one)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("VIRIDIAN_", "XDG_", "OMP_"))}
        environment = kept | {"HOME": str(folder), "LC_ALL": "C.UTF-8", "TZ": "UTC", "VIRIDIAN_NVML": "/none",
                              "VIRIDIAN_AMDSMI": "/none", "VIRIDIAN_ROOT": str(root), "XDG_RUNTIME_DIR": work,
                              "PATH": f"{programs}:{os.environ['PATH']}"}
        done = subprocess.run(["bash", "-eu", str(ROOT / "tests/docs/json_outputs.sh")], cwd=folder, env=environment,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(done.stdout, done.stderr, "json_outputs.sh fails", sep="\n")
            return 1
        for file in sorted(folder.rglob("*.json*")):
            for one in objects(file.read_text()) if file.is_file() and not {"tests", "benchmarks"} & set(file.parts) else ():
                if isinstance(one, dict) and str(one.get("schema", "")).startswith("viridian."):
                    reference.example(one["schema"], one)
                    seen += 1
                elif isinstance(one, dict) and "error" in one:
                    reference.example("error", one)
    if write:
        reference.write()
        reference_again = Reference()
        print(f"{sum(len(one.rows) for one in reference_again.tables.values())} rows written")
        return 0
    faults = sorted(reference.faults())
    print(*faults, sep="\n")
    rows = sum(len(one.rows) for one in reference.tables.values())
    print(f"{len(reference.tables)} tables, {rows} rows, {seen} examples, {len(faults)} faults")
    return 1 if faults or seen < 40 else 0


if __name__ == "__main__":
    sys.exit(main())
