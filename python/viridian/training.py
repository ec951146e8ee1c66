"""The joules of a training, by step, epoch and module, for the callbacks of trainers (hf.py, lightning.py)."""
from __future__ import annotations

import contextlib
import json
import os
import socket
import warnings
from typing import Any

from .accounting import Account, Rows
from .errors import Error, InputError
from .measuring import Measurement
from .ranks import added
from .recorder import Recording

_NOTHING = {"schema": "viridian.account/2", "trace": "", "power": "", "sharing": "", "events": 0, "operations": [], "devices": [],
            "edges": [], "modules": [], "warnings": [], "method": "", "steps": None}


class _Window:
    """A measurement that has begun, and the steps since."""

    def __init__(self, label: str, meter: str) -> None:
        self.steps = self.tokens = 0
        self.measured = Measurement(label, meter)
        self.measured.begin()

    def end(self) -> dict[str, Any] | None:
        """The energy; None if the meter did not move."""
        self.measured.end()
        try:
            one = self.measured.energy
        except Error:
            return None
        return {"value": one.joules, "low": one.low, "high": one.high, "provenance": one.provenance}


class _Epoch:
    """The steps of an epoch, without the evaluations and the accounting between them."""

    def __init__(self, meter: str) -> None:
        self.steps, self._meter = 0, meter
        self._parts: list[tuple[float, dict[str, Any] | None]] = []
        self._window: _Window | None = None
        self.resume()

    def resume(self) -> None:
        self._window = _Window("epoch", self._meter)

    def pause(self) -> None:
        if self._window is not None:
            energy = self._window.end()
            self._parts.append((self._window.measured.seconds, energy))
            self._window = None

    def end(self, epoch: float) -> dict[str, Any]:
        """What the file says of an epoch. Parts in which the meter did not move may be left out if they are short."""
        self.pause()
        seconds = sum(took for took, _ in self._parts)
        lost = sum(took for took, energy in self._parts if energy is None)
        energy = added([energy for _, energy in self._parts if energy is not None]) if lost <= 0.01 * seconds else None
        return {"epoch": epoch, "steps": self.steps, "seconds": seconds, "energy": energy}


class TrainingEnergy:
    """Counts the joules of a training, which calls `begin`, then `step` after each step of the optimiser, `log` for the
    numbers since the last call of it, and so on until `end`, which writes a file. The joules are those of the whole machine.

    The operators of `steps` steps, after `warmup` others, are recorded as `viridian.account` does, and the joules of modules
    to the depth `depth` go into the log once; `steps=0` records none. `folder` is where `end` puts energy.rank0.json, and a
    page energy.rank0.html if modules were recorded: the trainer's own folder if it is None."""

    def __init__(self, *, warmup: int = 3, steps: int = 10, depth: int = 2, folder: str | os.PathLike[str] | None = None,
                 meter: str = "") -> None:
        if warmup < 0 or steps < 0:
            raise InputError("invalid_argument", f"warmup={warmup} and steps={steps} are no counts", "give numbers from 0 on")
        self._warmup, self._most, self._depth, self._folder, self._meter = warmup, steps, depth, folder, meter
        self._running = False
        self.account: Account | None = None  # of the recorded steps, once they are over
        self.file: str | None = None  # where `end` wrote

    def begin(self, rank: int, ranks: int, folder: str | os.PathLike[str] | None) -> None:
        self.abandon()  # the last training, if an exception ended it
        self._rank, self._ranks = rank, ranks
        self._target = os.fspath(self._folder if self._folder is not None else folder or ".")
        self._steps, self._joules = 0, 0.0
        self._told: dict[str, float] = {}
        self._epochs: list[dict[str, Any]] = []
        self._evaluations: list[dict[str, Any] | None] = []
        self._accounting: dict[str, Any] | None = None
        self.account, self.file, self._recording = None, None, None
        self._whole, self._since = _Window("training", self._meter), _Window("steps", self._meter)
        self._epoch: _Epoch | None = None
        self._evaluation: _Window | None = None
        self._running = True
        if self._most > 0:
            self._recording = Recording(None, self._warmup, self._most, self._meter).__enter__()

    def step(self, tokens: int = 0) -> None:
        """A step of the optimiser has ended; `tokens` were read in it."""
        if not self._running:
            return
        self._steps += 1
        self._since.steps += 1
        self._since.tokens += tokens
        if self._epoch is not None:
            self._epoch.steps += 1
        if self._recording is not None and self._recording.step():
            self._account()

    def _account(self) -> None:
        """Ends the recording. What accounting costs is left out of the joules of steps and epochs."""
        recording, self._recording = self._recording, None
        self._pause()
        work = _Window("accounting", self._meter)
        try:
            assert recording is not None
            recording.__exit__(None, None, None)
            self.account = recording
        except Error as error:
            warnings.warn(f"the joules of modules are not known: {error}", stacklevel=4)
        else:
            for row in self.modules():
                self._told[f"energy/module/{row['name']}{', itself' if row['own'] else ''}"] = row["joules_per_step"]
        self._accounting = self._ended(work)
        self._resume()

    def modules(self) -> Rows:
        """The rows of `account.modules(depth)`, with their joules a step."""
        if self.account is None:
            return Rows()
        steps = self.account.steps or 1
        return Rows({**row, "joules_per_step": row["joules"] / steps} for row in self.account.modules(self._depth))

    def _ended(self, window: _Window) -> dict[str, Any] | None:
        """The energy of a window, which is part of the total: steps, evaluations and accounting follow each other."""
        took = window.end()
        self._joules += took["value"] if took is not None else 0.0
        return took

    def _take_steps(self) -> None:
        """Ends the window of steps, and keeps its numbers for the next log."""
        window, took = self._since, self._ended(self._since)
        if took is None or window.steps == 0:
            return
        self._told["energy/joules_per_step"] = took["value"] / window.steps
        self._told["energy/watts"] = took["value"] / window.measured.seconds
        if window.tokens > 0:
            self._told["energy/joules_per_token"] = took["value"] / window.tokens

    def _pause(self) -> None:
        """Other work than steps begins."""
        self._take_steps()
        if self._epoch is not None:
            self._epoch.pause()

    def _resume(self) -> None:
        self._since = _Window("steps", self._meter)
        if self._epoch is not None:
            self._epoch.resume()

    def begin_epoch(self) -> None:
        if self._running:
            self._epoch = _Epoch(self._meter)

    def end_epoch(self, epoch: float) -> None:
        if not self._running or self._epoch is None:
            return
        told, self._epoch = self._epoch.end(epoch), None
        self._epochs.append(told)
        if told["energy"] is not None:
            self._told["energy/joules_per_epoch"] = told["energy"]["value"]

    def begin_evaluation(self) -> None:
        """An evaluation begins, whose joules are not those of steps."""
        if self._running and self._evaluation is None:
            self._pause()
            self._evaluation = _Window("evaluation", self._meter)

    def end_evaluation(self) -> None:
        if not self._running or self._evaluation is None:
            return
        took, self._evaluation = self._ended(self._evaluation), None
        self._evaluations.append(took)
        if took is not None:
            self._told["energy/joules_per_evaluation"] = took["value"]
        self._resume()

    def log(self) -> dict[str, float]:
        """The numbers that are new since the last call: joules a step and watts of the steps between, joules of an epoch
        or evaluation that ended, and once those of modules a step."""
        if not self._running:
            return {}
        if self._evaluation is None and self._since.steps > 0:
            self._take_steps()
            self._since = _Window("steps", self._meter)
        told, self._told = self._told, {}
        if told:
            told["energy/kwh_total"] = self._joules / 3.6e6
        return told

    def end(self) -> dict[str, Any]:
        """Ends the training, writes its file, and returns what the file says of the training."""
        if self._recording is not None:
            self._account()
        self.end_evaluation()
        if self._epoch is not None:
            self.end_epoch(len(self._epochs) + 1)
        self._since.end()
        energy, self._running = self._whole.end(), False
        training = {"rank": self._rank, "ranks": self._ranks, "host": socket.gethostname(), "steps": self._steps,
                    "seconds": self._whole.measured.seconds, "energy": energy, "accounting": self._accounting,
                    "evaluation": added(self._evaluations), "epochs": self._epochs}
        result = {**(_NOTHING if self.account is None else self.account.json), "training": training}
        os.makedirs(self._target, exist_ok=True)
        self.file = os.path.join(self._target, f"energy.rank{self._rank}.json")
        with open(self.file, "w", encoding="utf-8") as file:
            json.dump(result, file)
            file.write("\n")
        if self.account is not None:
            self.account.save(self.file[:-len("json")] + "html")
        return training

    def abandon(self) -> None:
        """Ends a training that an exception ended, and writes nothing."""
        if not self._running:
            return
        self._running = False
        if self._epoch is not None:
            self._epoch.pause()
        for window in (self._whole, self._since, self._evaluation):
            with contextlib.suppress(Error):  # that of steps has ended if an evaluation ran
                if window is not None:
                    window.end()
        if self._recording is not None:
            self._recording.__exit__(KeyboardInterrupt, None, None)
