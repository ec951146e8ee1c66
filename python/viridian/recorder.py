"""Records a program of PyTorch in this process, and accounts its joules."""
from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from typing import Any

from . import _core
from .accounting import Account
from .errors import InputError
from .measuring import meter_paths


def _remove(folder: str, process: int) -> None:
    """A forked child leaves the folder to its parent."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


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
        # The trace and the power log live as long as this object, which draws timelines from them.
        self._remove_folder = weakref.finalize(self, _remove, self._folder, self._process)
        try:
            self._power = _core.PowerRecording(self._file("power.csv"), self._meter, meter_paths())
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
            self._remove_folder()
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
            scopes.lane.calls.rows.append((key, begin, self._parts[2].now()))

    def _start(self) -> None:
        kind, kineto, module_scopes = self._parts
        self._recording = kind(self._torch, kineto, module_scopes, self._file("torch.json.gz"))
        if self._model is not None:
            self._recording.scopes.tree.learn(self._model, None)  # before the first step that counts
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
            return
        started = self._state != "before"
        try:
            try:
                self._stop()
            finally:
                self._power.stop()
            if started and kind is None:
                self._finish()
        except Exception:
            if kind is None:  # else the exception of the block is the one to see
                raise
        finally:
            if not self._text:
                self._remove_folder()
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

    def _save_timeline(self, name: str) -> None:
        _core.write_timeline(self._file("torch.json.gz"), self._file("power.csv"), self.text, name)

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
