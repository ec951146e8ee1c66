"""Joules by module and by operator of a program of PyTorch."""
from __future__ import annotations

import ctypes
import dataclasses
import html
import json
import os
import shutil
import tempfile
from typing import Any, Iterator

from . import _core
from .errors import Error, InputError
from .measuring import meter_paths
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
        """Writes the result to a .json file, which `read` and `viridian account diff` take, or its page to an .html file."""
        name = os.fspath(file)
        if not name.endswith((".json", ".html")):
            raise InputError("invalid_argument", f"`{name}` ends in neither .json nor .html", "name the file run1.json or run1.html")
        with open(name, "w", encoding="utf-8") as out:
            out.write(self.text + "\n" if name.endswith(".json") else _core.page(self.text))

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


class Recording(Account):
    """An account that is being made, by `viridian.account`."""

    def __init__(self, model: Any, warmup: int, steps: int | None, meter: str) -> None:
        if warmup < 0 or (steps is not None and steps < 1):
            raise InputError("invalid_argument", f"warmup={warmup} and steps={steps} are no counts",
                             "give warmup from 0 and steps from 1 on")
        import torch
        from .recording import kineto, module_scopes
        from .recording.torch_recording import TorchRecording
        self._torch, self._parts = torch, (TorchRecording, kineto, module_scopes)
        self._model, self._warmup, self._most, self._meter = model, warmup, steps, meter
        self._done = self._calls = 0
        self._manual = False
        self._state = "before"  # then "during", "after"
        self._hooks: list[Any] = []
        self._folder, self._process = "", 0
        self._open: Any = None
        self._text, self._parsed = "", None
        self.overhead: dict[str, float] | None = None

    def __enter__(self) -> "Recording":
        self._folder, self._process = tempfile.mkdtemp(prefix="viridian."), os.getpid()
        try:
            self._power = _core.PowerRecording.start(self._file("power.csv"), self._meter, meter_paths())
            try:
                if self._model is not None:
                    self._hooks.append(self._model.register_forward_pre_hook(self._before_forward))
                    self._hooks.append(self._model.register_forward_hook(self._after_forward))
                if self._warmup == 0:
                    self._start()
            except BaseException:
                self._remove_hooks()
                self._power.stop()
                raise
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        return self

    def _file(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def _remove_hooks(self) -> None:
        while self._hooks:
            self._hooks.pop().remove()

    def step(self) -> bool:
        """Ends a step of the training. Returns True after `warmup` and `steps` of them. Without calls of it, each forward
        pass of the model begins a step. The first call ends that counting: what was recorded by then began in the middle
        of a step, so it is discarded."""
        if os.getpid() != self._process:
            return False
        if not self._manual:
            self._manual = True
            self._remove_hooks()
            if self._state == "after" or (self._state == "during" and self._warmup > 0):
                self._discard()
                if self._warmup == 0:  # the forward passes of one step were more than `steps`
                    self._start()
                    return False
        self._done += 1
        if self._state == "before" and self._done >= self._warmup:
            self._start()
        elif self._most is not None and self._done >= self._warmup + self._most:
            self._stop()
        return self._state == "after"

    def _before_forward(self, module: Any, _inputs: Any) -> None:
        if self._manual or os.getpid() != self._process:
            return
        self._calls += 1
        if self._state == "before" and self._calls == self._warmup + 1:
            self._start()
            scopes = self._recording.scopes  # this call began before the recording
            self._open = (scopes, scopes.tree.learn(module, None), self._parts[2].now())
        elif self._state == "during" and self._most is not None and self._calls > self._warmup + self._most:
            self._calls -= 1
            self._stop()

    def _after_forward(self, *_: Any) -> None:
        if self._open is not None:
            (scopes, key, begin), self._open = self._open, None
            scopes.lane.rows.append((key, begin, self._parts[2].now()))

    def _start(self) -> None:
        kind, kineto, module_scopes = self._parts
        self._recording = kind(self._torch, kineto, module_scopes, self._file("torch.json.gz"))
        self._recording.start()
        self._state = "during"

    def _discard(self) -> None:
        """Ends a recording that forward passes began, before anything was asked of it."""
        self._stop()
        self._state, self._open, self.overhead = "before", None, None

    def _stop(self) -> None:
        if self._state != "during":
            return
        self._state = "after"
        self.overhead = self._recording.stop()

    def __exit__(self, kind: Any, _value: Any, _trace: Any) -> None:
        self._remove_hooks()
        if os.getpid() != self._process:  # a child that was forked inside the block: the recording is its parent's
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._power))  # its end would wait for a thread that the child lacks
            return
        started = self._state != "before"
        try:
            try:
                try:
                    self._stop()
                finally:
                    self._power.stop()
                if started and kind is None:
                    self._finish()
            finally:
                shutil.rmtree(self._folder, ignore_errors=True)
        except Exception:
            if kind is None:  # else the exception of the block is the one to see
                raise
        if kind is None and not started:
            raise InputError("invalid_argument", f"the block ended within its {self._warmup} steps of warm-up",
                             "run more steps, or give a smaller `warmup`")

    def _finish(self) -> None:
        result = json.loads(_core.account(self._file("torch.json.gz"), self._file("power.csv")))
        counted = (self._done if self._manual else self._calls) - self._warmup
        if counted > 0:
            result["steps"] = min(counted, self._most) if self._most else counted
        result["trace"], result["power"] = "in process", "in process"
        self._parsed, self._text = result, json.dumps(result)

    @property
    def text(self) -> str:
        if not self._text:
            raise InputError("missing_entry", "there is no account yet", "read it after the block, which must not have raised")
        return self._text


def account(model: Any = None, *, warmup: int = 0, steps: int | None = None, meter: str = "") -> Recording:
    """Records the modules and operators of the PyTorch program in a `with` block, and the power meanwhile, and gives every
    joule its owner:

        with viridian.account(model, warmup=3, steps=20) as a:
            for x, y in loader:
                train_step(x, y)
                if a.step():
                    break
        print(a.modules(depth=2))

    The first `warmup` steps are left out, and recording ends after `steps` more. `a.step()` ends a step; a loop that does
    not call it begins a step with every forward pass of `model`."""
    return Recording(model, warmup, steps, meter)


@dataclasses.dataclass(frozen=True)
class Change:
    """One module, or the total, in two runs: joules a step if both runs counted steps, else joules."""
    name: str
    before: float
    after: float
    before_interval: tuple[float, float]
    after_interval: tuple[float, float]

    @property
    def increase(self) -> float:
        """0.03 is 3 % more than before; infinite for what was nothing before."""
        return self.after / self.before - 1 if self.before > 0 else (float("inf") if self.after > 0 else 0.0)

    @property
    def significant(self) -> bool:
        """Whether the two intervals have nothing in common."""
        return self.after_interval[0] > self.before_interval[1] or self.after_interval[1] < self.before_interval[0]

    def __str__(self) -> str:
        return f"{self.before:.4g} J -> {self.after:.4g} J ({100 * self.increase:+.2f} %)  {self.name}"


class EnergyIncreased(Error, AssertionError):
    """A run needs more energy than it may."""


class Difference:
    """Two accounts, module by module."""

    def __init__(self, before: Account, after: Account) -> None:
        self.per_step = bool(before.steps and after.steps)
        self.provenance = (before.provenance, after.provenance)
        rows = [{_name_of(row): row for row in one.modules()} for one in (before, after)]
        scales = [1 / one.steps if self.per_step else 1.0 for one in (before, after)]

        def change(name: str, found: list[list[dict[str, Any]]]) -> Change:
            sums = [[scale * sum(row[key] for row in part) for key in ("joules", "low", "high")]
                    for part, scale in zip(found, scales)]
            return Change(name, sums[0][0], sums[1][0], (sums[0][1], sums[0][2]), (sums[1][1], sums[1][2]))

        names = list(dict.fromkeys([*rows[0], *rows[1]]))
        self.changes = sorted((change(name, [[one[name]] if name in one else [] for one in rows]) for name in names),
                              key=lambda one: -abs(one.after - one.before))
        self.total = change("total", [list(one.values()) for one in rows])

    def significant(self) -> list[Change]:
        """The modules that differ beyond both intervals, largest change first."""
        return [one for one in self.changes if one.significant]

    def check(self, max_increase: float = 0.03) -> "Difference":
        """Raises EnergyIncreased if the total grew by more than `max_increase`, for tests of a project."""
        if self.total.increase > max_increase:
            worst = max(self.changes, key=lambda one: one.after - one.before)
            raise EnergyIncreased("not_equal", f"the energy grew by {100 * self.total.increase:.1f} %, more than the "
                                  f"{100 * max_increase:.3g} % allowed: {self.total}; most of it in {worst}",
                                  "see which modules changed in `changes`, or save the new run as the baseline")
        return self

    def __str__(self) -> str:
        unit = "joules a step" if self.per_step else "joules"
        return "\n".join([f"{self.total}, {unit} ({self.provenance[1]})", *map(str, self.changes[:15])])


def _name_of(row: dict[str, Any]) -> str:
    return row["name"] + (", itself" if row["own"] else "")


def diff(before: Account | str | os.PathLike[str], after: Account | str | os.PathLike[str]) -> Difference:
    """Compares two accounts, or the files in which they were saved."""
    found = [one if isinstance(one, Account) else read(one) for one in (before, after)]
    return Difference(*found)
