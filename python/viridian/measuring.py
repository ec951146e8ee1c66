"""Joules of a piece of work, by the meters of this process."""
from __future__ import annotations

import atexit
import collections
import dataclasses
import functools
import inspect
import os
import threading
import warnings
from typing import Any, Callable, TypeVar, Union

from . import _core
from .errors import Error, EstimateWarning, InputError, MachineError
from .serving import ServedWindows, given_address, usual_socket

_Windows = Union[_core.Windows, ServedWindows]
_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclasses.dataclass(frozen=True)
class Energy:
    """Joules with their interval and their provenance: "measured:powercap", "estimated:model-cpu-linear"."""
    joules: float
    low: float
    high: float
    provenance: str

    def __str__(self) -> str:
        return f"{self.joules:.4g} J [{self.low:.4g}, {self.high:.4g}] {self.provenance}"


def meter_paths() -> dict[str, str]:
    """Where meters look, by environment variables, as for the command line: VIRIDIAN_REPLAY=power.csv, VIRIDIAN_ROOT=/host."""
    paths = {name: os.environ.get("VIRIDIAN_" + name.upper(), "") for name in _core.meter_names()}
    paths["root"] = os.environ.get("VIRIDIAN_ROOT", "")
    return {name: path for name, path in paths.items() if path}


class _Meters:
    """The open meters of this process, by name. They are read every few milliseconds while a window is open."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.open: dict[str, _Windows] = {}
        self.left_behind: list[_Windows] = []
        os.register_at_fork(after_in_child=self.forget)
        atexit.register(self.open.clear)

    def forget(self) -> None:
        """A forked child opens meters of its own."""
        self.lock = threading.Lock()
        self.left_behind += self.open.values()
        self.open.clear()

    def of(self, name: str) -> _core.Windows:
        with self.lock:
            if name not in self.open:
                self.open[name] = self._windows(name)
            return self.open[name]

    def _windows(self, name: str) -> _Windows:
        """Those of the monitor that VIRIDIAN_MONITOR names, or of this process. If this process would have to estimate, and
        a monitor that measures runs here, the monitor's."""
        asked = given_address()
        if name or not asked:
            own = _core.Windows(name, meter_paths())
            asked = "" if name or not own.estimated() else usual_socket() or ""
            if not asked or any(isinstance(one, ServedWindows) for one in self.left_behind):
                return own
            try:
                served = ServedWindows(asked)
                told = served.end(served.begin())
            except Error:
                return own
            if not told["energy"][3].startswith("estimated"):
                return served
            served.close()
            return own
        if any(isinstance(one, ServedWindows) for one in self.left_behind):
            raise MachineError("unsupported", "gRPC does not work in a forked process whose parent has used it",
                               "start the process by `spawn`, or measure in the parent")
        return ServedWindows(asked)


_meters = _Meters()
_warned = False


class Measurement:
    """The energy of a block of code:

        with viridian.measure("epoch 3") as m:
            train_one_epoch()
        print(m.joules, m.low, m.high, m.provenance)

    Blocks nest, and any thread may measure. Joules are those of the whole machine while the block ran, static power
    included; `share` is the part of the processors' busy time that was this process's and its children's. As a decorator,
    every call is measured: the function's `measurements` are the last thousand."""

    def __init__(self, label: str = "", meter: str = "") -> None:
        self.label, self._meter = label, meter
        self.seconds = 0.0
        self.warnings: list[str] = []
        self._windows: _Windows | None = None
        self._window = ""
        self._told: dict[str, Any] | None = None

    def __enter__(self) -> "Measurement":
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def begin(self) -> None:
        if self._windows is not None:
            raise MachineError("invalid_argument", "this measurement has begun already",
                               "call end() first, or measure each block with a `viridian.measure()` of its own")
        self._windows, self._process = _meters.of(self._meter), os.getpid()
        self._window = self._windows.begin()

    def end(self) -> None:
        if self._windows is None:
            raise MachineError("invalid_argument", "this measurement has not begun", "call begin(), or use `with`")
        if os.getpid() != self._process:  # a child that was forked inside the block
            self._windows = None
            self.warnings = ["the block ended in a forked process, which has not measured it"]
            return
        told = self._windows.end(self._window)
        self._windows, self._told = None, told
        self.seconds, self.warnings = told["seconds"], list(told["warnings"])
        global _warned
        if told["energy"][3].startswith("estimated") and not _warned:
            _warned = True
            warnings.warn("no meter covers this processor: joules are estimated by a model, and their interval is a factor "
                          "of two by convention. `viridian doctor` shows what a meter would need",
                          EstimateWarning, stacklevel=3)

    def __call__(self, function: _Function) -> _Function:
        if (inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function)
                or inspect.isasyncgenfunction(function)):
            raise InputError("unsupported", f"a call of `{function.__name__}` returns before its work is done, so its joules "
                             "would be those of other code", "put `with viridian.measure():` into its body")
        kept: collections.deque[Measurement] = collections.deque(maxlen=1000)

        @functools.wraps(function)
        def measured(*arguments: Any, **named: Any) -> Any:
            with self._again(self.label or function.__name__) as one:
                result = function(*arguments, **named)
            kept.append(one)
            return result

        measured.measurements = kept  # type: ignore[attr-defined]
        return measured  # type: ignore[return-value]

    def _again(self, label: str) -> "Measurement":
        """A measurement of one call of a decorated function."""
        return Measurement(label, self._meter)

    @property
    def energy(self) -> Energy:
        """Raises MachineError while the block runs, and if it was too short for the meter to move."""
        if self._told is None:
            raise MachineError("missing_entry", f"the measurement `{self.label}` has not ended", "read it after the block")
        energy = Energy(*self._told["energy"])
        if not energy.joules > 0:
            raise MachineError("device_failed", f"the meter did not move in {self.seconds:.3g} s",
                               "measure a longer block, at least 20 updates of the meter")
        return energy

    @property
    def joules(self) -> float:
        return self.energy.joules

    @property
    def low(self) -> float:
        return self.energy.low

    @property
    def high(self) -> float:
        return self.energy.high

    @property
    def provenance(self) -> str:
        return self.energy.provenance

    @property
    def watts(self) -> float:
        """Mean power."""
        return self.joules / self.seconds

    @property
    def kwh(self) -> float:
        return self.joules / 3.6e6

    @property
    def complete(self) -> bool:
        """False if a part of the energy is not known; `warnings` say which."""
        return bool(self._told and self._told["complete"])

    @property
    def by_device(self) -> dict[str, Energy]:
        """The energy of each device, without what is counted in another channel."""
        found: dict[str, Energy] = {}
        for device, _scope, counted, energy, _share in (self._told or {}).get("channels", ()):
            if counted:
                before = found.get(device, Energy(0, 0, 0, energy[3]))
                found[device] = Energy(*(a + b for a, b in zip(dataclasses.astuple(before)[:3], energy)), before.provenance)
        return found

    @property
    def share(self) -> float | None:
        """This process's part of the processors' busy time, 0 to 1; None if it is not known."""
        shares = [(energy[0], share) for _, _, counted, energy, share in (self._told or {}).get("channels", ())
                  if counted and share is not None]
        weight = sum(joules for joules, _ in shares)
        return sum(joules * share for joules, share in shares) / weight if weight > 0 else None

    def __str__(self) -> str:
        if self._told is None or not self._told["energy"][0] > 0:
            return f"{self.label or 'block'}: {self.seconds:.3g} s, energy unknown"
        share = "" if self.share is None else f"   (our share of the CPU {100 * self.share:.0f} %)"
        return (f"{self.joules:.4g} J [{self.low:.4g}, {self.high:.4g}], {self.seconds:.3g} s, {self.watts:.3g} W   "
                f"{self.provenance}{share}")

    __repr__ = __str__


def measure(label: str = "", meter: str = "") -> Measurement:
    """Measures the joules of a `with` block, or of every call of a function that it decorates. `meter` is a name that
    `viridian doctor` lists; without one, the best meter of each kind of device is read, or the monitor that the environment
    variable VIRIDIAN_MONITOR names (docs/python.md)."""
    return Measurement(label, meter)
