"""Models that are called like functions."""
from __future__ import annotations

from typing import Any

from .arrays import lend, to_torch, torch_of
from .errors import InputError
from .session import InferenceSession, NodeArg


class Network:
    """A model that is called like a function: with the inputs in their order, or by name. It returns tensors of PyTorch if
    an input is one, else NumPy arrays; one output by itself, several as a tuple. Gradients do not pass through it."""

    def __init__(self, session: InferenceSession) -> None:
        self.session = session

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        session = self.session
        names = list(session._elements)
        if len(inputs) > len(names) or any(name in named for name in names[:len(inputs)]):
            raise InputError("invalid_argument", f"got {len(inputs)} inputs and the names {', '.join(named) or 'of none'}",
                             f"give {', '.join(names)} once each")
        feed = {**dict(zip(names, inputs)), **named}
        outputs = session.run(None, feed) if named or len(inputs) != len(names) else session._run(
            [lend(value, element) for value, element in zip(inputs, session._elements.values())])
        torch = next((found for found in map(torch_of, feed.values()) if found is not None), None)
        if torch is not None:
            outputs = [to_torch(torch, output) for output in outputs]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    @property
    def inputs(self) -> list[NodeArg]:
        return self.session.get_inputs()

    @property
    def outputs(self) -> list[NodeArg]:
        return self.session.get_outputs()
