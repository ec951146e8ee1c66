"""What differs between two accounts."""
from __future__ import annotations

import dataclasses
import os
from typing import Any

from .accounting import Account, read
from .errors import Error


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
