"""Inputs and outputs that stay where they are from run to run, under ONNX Runtime's names."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core
from .arrays import lend
from .errors import InputError

if TYPE_CHECKING:
    from .session import InferenceSession


class IOBinding:
    """What `InferenceSession.io_binding` gives. A run of it allocates nothing and makes no arrays, which saves some
    microseconds: it reads the arrays that were bound, as they are then, and writes the same outputs again.

        binding = session.io_binding()
        binding.bind_cpu_input("input", x)
        session.run_with_iobinding(binding)
        scores, = binding.get_outputs()

    One thread at a time may run a binding; other bindings of the session may run meanwhile."""

    def __init__(self, session: "InferenceSession") -> None:
        self._session = session
        self._inputs: dict[str, Any] = {}
        self._wanted: list[int] = []
        self._bound: _core.Binding | None = None

    def bind_cpu_input(self, name: str, array: Any) -> None:
        """Binds an input. `array` is row-major, in host memory, and is read anew by every run."""
        if name not in self._session._elements:
            raise InputError("invalid_argument", f"there is no input `{name}`", f"bind {', '.join(self._session._elements)}")
        self._inputs[name] = lend(array, self._session._elements[name])
        self._bound = None

    def bind_output(self, name: str, device_type: str = "cpu", device_id: int = 0) -> None:
        """Asks for an output, after those asked for before. Without a call of it, all outputs are given."""
        if device_type != "cpu":
            raise InputError("unsupported", f"outputs cannot be on `{device_type}`", "leave `device_type` out")
        place, = self._session._places([name]) or []
        self._wanted.append(place)

    def get_outputs(self) -> list[Any]:
        """The outputs as NumPy arrays on the binding's memory: the next run overwrites them."""
        outputs = (self._bound or self._bind()).outputs()
        return [outputs[place] for place in self._wanted or range(len(outputs))]

    def copy_outputs_to_cpu(self) -> list[Any]:
        """Copies of the outputs."""
        return [one.copy() for one in self.get_outputs()]

    def _bind(self) -> _core.Binding:
        missing = [f"`{name}`" for name in self._session._elements if name not in self._inputs]
        if missing:
            raise InputError("invalid_argument", f"no array is bound to the input {', '.join(missing)}", "call bind_cpu_input")
        self._bound = self._session._binding([self._inputs[name] for name in self._session._elements])
        return self._bound
