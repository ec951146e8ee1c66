"""Several plans of one model, each for its own sizes of the inputs."""
from __future__ import annotations

import json
import os
import re
from typing import Any, Sequence

from .arrays import shape_of
from .errors import InputError, MachineError
from .network import Network
from .session import NodeArg

_LIST, _SCHEMA = "sizes.json", "viridian.sizes/1"
_Shapes = tuple[tuple[int, ...], ...]


def shapes_text(ports: Sequence[NodeArg]) -> str:
    return ", ".join(f"{port.name} {list(port.shape or ())}" for port in ports)


class Sizes:
    """Plans of one model for several sizes. A call runs the plan whose inputs have the shapes of those given."""

    def __init__(self, plans: Sequence[Network]) -> None:
        self.plans = list(plans)
        self._by_shapes: dict[_Shapes, Network] = {}
        for plan in self.plans:
            shapes = tuple(tuple(port.shape) for port in plan.inputs)  # type: ignore[arg-type]
            if shapes in self._by_shapes:
                raise InputError("invalid_argument", f"two examples have the same sizes: {shapes_text(plan.inputs)}",
                                 "give each size once")
            self._by_shapes[shapes] = plan
        self._names = [port.name for port in self.plans[0].inputs]
        if any([port.name for port in plan.inputs] != self._names for plan in self.plans):
            raise InputError("mismatch", "these plans are of models with different inputs", "load plans of one model")

    @property
    def sizes(self) -> list[dict[str, tuple[int, ...]]]:
        """The shapes of the inputs of each plan, by name."""
        return [dict(zip(self._names, shapes)) for shapes in self._by_shapes]

    def plan_for(self, *inputs: Any, **named: Any) -> Network:
        """The plan that a call with these inputs runs."""
        feed = {**dict(zip(self._names, inputs)), **named}
        if len(inputs) + len(named) != len(self._names) or set(feed) != set(self._names):
            raise InputError("invalid_argument", f"got {len(inputs)} inputs and the names {', '.join(named) or 'of none'}",
                             f"give {', '.join(self._names)} once each")
        shapes = tuple(shape_of(feed[name]) for name in self._names)
        plan = self._by_shapes.get(shapes)  # type: ignore[arg-type]
        if plan is None:
            given = ", ".join(f"{name} {'without a shape' if shape is None else list(shape)}"
                              for name, shape in zip(self._names, shapes))
            raise InputError("mismatch", f"no plan was made for {given}",
                             "give one of these sizes: " + "; ".join(shapes_text(one.inputs) for one in self.plans)
                             + "; or optimize the model again with an example of the size that is missing")
        return plan

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        return self.plan_for(*inputs, **named)(*inputs, **named)


def examples_of(examples: list[Any]) -> list[Any]:
    if not examples:
        raise InputError("invalid_argument", "the list of example inputs is empty", "give an example of each size")
    return examples


def dims_of(ports: Sequence[tuple[str, str, Any]], example: Any, bound: dict[str, int]) -> dict[str, int]:
    """The sizes of the free dimensions of a model that `example` has."""
    inputs = example if isinstance(example, tuple) else (example,)
    if len(inputs) != len(ports):
        raise InputError("invalid_argument", f"the model takes {len(ports)} inputs, and an example has {len(inputs)}",
                         "give a tuple with one array for each input: " + ", ".join(name for name, _, _ in ports))
    found: dict[str, int] = {}
    for (name, _, dimensions), value in zip(ports, inputs):
        shape = shape_of(value)
        fits = shape is not None and dimensions is not None and len(shape) == len(dimensions)
        for dimension, extent in zip(dimensions, shape) if fits else ():  # type: ignore[arg-type]
            known = dimension if isinstance(dimension, int) else bound.get(dimension, found.get(dimension))
            if known is not None and known != extent:
                fits = False
            elif isinstance(dimension, str):
                found[dimension] = extent
        if not fits:
            raise InputError("mismatch", f"the example of the input `{name}` has the shape {shape}, and the model takes "
                             f"{None if dimensions is None else list(dimensions)}", "give an array of that shape")
    return found


def new_folder(folder: str | os.PathLike[str]) -> str:
    """Makes `folder`; one that holds something else than sizes is refused."""
    path = os.fspath(folder)
    if os.path.isfile(path) or (os.path.isdir(path) and os.listdir(path) and not os.path.exists(os.path.join(path, _LIST))):
        raise InputError("file_not_writable", f"`{path}` exists and holds no sizes", "name a new folder")
    try:
        os.makedirs(path, exist_ok=True)
        for one in os.listdir(path):
            if one == _LIST or re.match(r"size\d+\.", one):
                os.remove(os.path.join(path, one))
    except OSError as error:
        raise MachineError("file_not_writable", f"`{path}` cannot be written: {error}", "name another folder") from error
    return path


def keep_list(folder: str, names: list[str]) -> None:
    with open(os.path.join(folder, _LIST), "w", encoding="utf-8") as file:
        json.dump({"schema": _SCHEMA, "models": names}, file, indent=2)
        file.write("\n")


def plans_in(folder: str) -> list[str]:
    """The plans of a folder that `OptimizedSizes.save` wrote."""
    path = os.path.join(folder, _LIST)
    try:
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
        names = told["models"] if told["schema"] == _SCHEMA else None
        if not names or not all(isinstance(one, str) and os.path.basename(one) == one and one.endswith(".onnx") for one in names):
            raise ValueError("it does not list models")
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError("malformed", f"`{path}` is not the list of a folder of sizes: {error}",
                         "give the folder that `save` wrote") from error
    return [os.path.join(folder, one[:-len(".onnx")] + ".plan.json") for one in names]
