"""Joules by module and by operator of a program of PyTorch."""
from __future__ import annotations

import html
import json
import os
from typing import Any, Iterator

from . import _core
from .errors import InputError
from .optimizing import framed

_COLUMNS = ("name", "type", "own", "calls", "joules", "low", "high", "seconds", "forward_joules", "backward_joules",
            "recompute_joules", "optimizer_joules", "unknown_joules")
_SHOWN = ("joules", "low", "high", "forward_joules", "backward_joules", "optimizer_joules", "seconds")


class Rows(list):
    """Rows of a table, each a dict with units in the names of its columns."""

    def frame(self) -> Any:
        """The rows as a pandas.DataFrame."""
        try:
            import pandas
        except ImportError as error:
            raise InputError("missing_entry", "pandas is not installed", "install pandas, or use the rows as they are") from error
        return pandas.DataFrame(list(self))

    def _cells(self) -> Iterator[list[str]]:
        for row in self:
            kind = f" ({row['type']})" if row["type"] and row["type"] != row["name"] else ""
            yield [f"{row[column]:.4g}" for column in _SHOWN] + [row["name"] + kind + (", itself" if row["own"] else "")]

    def __str__(self) -> str:
        head = [*(column.replace("_joules", " J") for column in _SHOWN), "name"]
        lines = [head, *self._cells()]
        widths = [max(len(line[place]) for line in lines) for place in range(len(_SHOWN))]
        return "\n".join("  ".join([*(cell.rjust(width) for cell, width in zip(line, widths)), line[-1]]) for line in lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(column)}</th>" for column in (*_SHOWN, "name"))
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>" for cells in self._cells())
        return f"<table><tr>{head}</tr>{body}</table>"


class Account:
    """Where the joules of a recorded program went. `text` is the result in the schema viridian.account/2."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._parsed: dict[str, Any] | None = None
        _core.footprint(text, "operator", None)  # refuses what is no result

    @property
    def text(self) -> str:
        return self._text

    @property
    def json(self) -> dict[str, Any]:
        if self._parsed is None:
            self._parsed = json.loads(self.text)
        return self._parsed

    def _rows(self, by: str, depth: int | None) -> Rows:
        return Rows(dict(zip(_COLUMNS, row)) for row in _core.footprint(self.text, by, depth))

    def modules(self, depth: int | None = None) -> Rows:
        """Rows of modules by their qualified names, largest energy first. With `depth`, what lies more than so many names
        below its model is part of the module above. The rows add up to the energy of all operations."""
        return self._rows("module", depth)

    def types(self) -> Rows:
        """Rows of the classes of modules."""
        return self._rows("type", None)

    def operators(self) -> Rows:
        """Rows of PyTorch's operators."""
        return self._rows("operator", None)

    @property
    def joules(self) -> float:
        """Energy of all operations: the meters' total less idle, unattributed and residual."""
        return sum(row["joules"] for row in self.operators())

    @property
    def steps(self) -> int | None:
        """The steps that were recorded; None if nobody counted them."""
        return self.json.get("steps")

    @property
    def warnings(self) -> list[str]:
        return list(self.json.get("warnings", ()))

    @property
    def provenance(self) -> str:
        """Where the joules come from, by device."""
        return ", ".join(f"{one['name']}: {one['power']}" for one in self.json["devices"])

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the result to a .json file, which `read` and `viridian account diff` take, its page to an .html file, or,
        where it was recorded, a timeline for ui.perfetto.dev to a .perfetto.json or .perfetto.json.gz file: every operator
        with its joules, above the power of the devices."""
        name = os.fspath(file)
        if name.endswith((".perfetto.json", ".perfetto.json.gz")):
            self._save_timeline(name)
            return
        if not name.endswith((".json", ".html")):
            raise InputError("invalid_argument", f"`{name}` ends in neither .json nor .html",
                             "name the file run1.json, run1.html or run1.perfetto.json")
        with open(name, "w", encoding="utf-8") as out:
            out.write(self.text + "\n" if name.endswith(".json") else _core.page(self.text))

    def _save_timeline(self, name: str) -> None:
        raise InputError("missing_entry", f"`{name}` would be a timeline, and an account from a file has no events to draw",
                         "save the timeline in the program that records, after its `viridian.account` block")

    def __str__(self) -> str:
        rows = self.modules(2)
        said = f", {self.steps} steps" if self.steps else ""
        return f"{self.joules:.4g} J in operations{said} ({self.provenance})\n{rows}"

    def _repr_html_(self) -> str:
        return framed(_core.page(self.text))


def read(file: str | os.PathLike[str]) -> Account:
    """Reads a result that `Account.save` or `viridian account -o` wrote."""
    try:
        with open(file, encoding="utf-8") as text:
            return Account(text.read().strip())
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("file_unreadable", f"`{os.fspath(file)}` cannot be read: {error}", "check the path") from error
