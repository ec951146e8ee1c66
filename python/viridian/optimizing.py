"""Optimised models, and how they are called, saved and loaded."""
from __future__ import annotations

import html
import inspect
import os
import sys
import tempfile
import warnings
from typing import Any, Callable, Mapping

from . import _core
from .arrays import lend, to_torch, torch_of
from .errors import InputError, in_words_of_python
from .measuring import Energy
from .session import InferenceSession, ModelFile, NodeArg, bindings


def framed(page: str, height: int = 640) -> str:
    """A page inside a notebook: neither's styles reach the other."""
    return f'<iframe srcdoc="{html.escape(page)}" style="width: 100%; height: {height}px; border: 0"></iframe>'


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


class Optimized(Network):
    """The result of `optimize`: the model on its cheapest plan, whose outputs agree with the original's within the allowed
    error. `print` shows what the command line prints."""

    def __init__(self, result: _core.Optimized, notes: list[str]) -> None:
        super().__init__(InferenceSession._of(result.model()))
        self._result, self.notes = result, notes
        self.text: str = result.text()

    @property
    def seconds_before(self) -> float:
        """Median of whole runs of the model on its first kernels."""
        return self._result.seconds_before

    @property
    def seconds_after(self) -> float:
        """Median of whole runs of the plan."""
        return self._result.seconds_after

    @property
    def speedup(self) -> float:
        return self.seconds_before / self.seconds_after

    @property
    def energy_before(self) -> Energy:
        """Joules of one run of the model on its first kernels."""
        return Energy(*self._result.energy_before)

    @property
    def energy_after(self) -> Energy:
        """Joules of one run of the plan."""
        return Energy(*self._result.energy_after)

    @property
    def kept_original(self) -> bool:
        return self._result.kept_original

    def json(self) -> str:
        """All of the result, in the schema viridian.optimize/1."""
        return self._result.json()

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the model to `file`, which ends in .onnx, and beside it its plan, page and certificate. `load` opens them."""
        self._result.save(os.fspath(file))

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return framed(_core.page(self.json()))


def export(module: Any, example_inputs: Any, folder: str) -> str:
    """The file of a torch.nn.Module in ONNX."""
    import torch
    if example_inputs is None:
        raise InputError("invalid_argument", "a module of PyTorch is exported by running it once",
                         "give example_inputs=(x,), tensors of the shapes that it will get")
    inputs = tuple(example_inputs) if isinstance(example_inputs, (tuple, list)) else (example_inputs,)
    names = [name for name, one in inspect.signature(module.forward).parameters.items()
             if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)][:len(inputs)]
    path, was_training = os.path.join(folder, f"{type(module).__name__}.onnx"), module.training
    options: dict[str, Any] = {"input_names": names if len(names) == len(inputs) else None}
    if "dynamo" in inspect.signature(torch.onnx.export).parameters:
        options["dynamo"] = False  # the newer exporter needs packages that torch does not bring
    module.eval()
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(module, inputs, path, **options)
    except Exception as error:
        raise InputError("unsupported", f"PyTorch cannot export the module to ONNX: {error}",
                         "export it yourself, and give the file") from error
    finally:
        module.train(was_training)
    return path


def optimize(model: Any, example_inputs: Any = None, *, objective: str = "time", budget: str = "1000,60s",
             dims: Mapping[str, int] | None = None, batch: int = 0, max_error: float | None = None, threads: int = 0,
             pin: bool = False, bf16: bool = False, exact_arithmetic: bool = False, as_f32: bool = False,
             keep_original: bool = False, memory: str = "", meter: str = "", cost_database: str | None = None,
             progress: Callable[[str], None] | None = None) -> Optimized:
    """Finds the cheapest plan for a model on this machine: measures what the cost database lacks, searches, and compares
    the outputs with the original's.

    `model` is a torch.nn.Module, the path of an .onnx file, its bytes, or an onnx.ModelProto. A module needs
    `example_inputs`, a tensor or a tuple of them. `objective` is time, energy, power, a mix such as
    "0.5*energy+0.5*time", or one with a limit: "energy @ time<=1.02x". `budget` are the graphs and seconds of the search.
    `dims` and `batch` bind free dimensions. `max_error` is the relative L2 error that outputs may have. `cost_database` is
    the file that keeps measured prices: None is the command line's, "" keeps them in memory. `progress` is called with a
    sentence now and then; an exception that it raises, and Ctrl-C, end the search."""
    if cost_database is None:
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        cost_database = os.path.join(cache, "viridian", "cost.db")
    options = {"threads": threads, "pin": pin, "bf16": bf16, "exact_arithmetic": exact_arithmetic, "as_f32": as_f32,
               "memory": memory, "meter": meter, "cost_database": cost_database, "dimensions": bindings(dims), "batch": batch}
    notes: list[str] = []

    def tell(kind: str, text: str) -> None:
        if kind == "progress":
            if progress is not None:
                progress(text)
        elif kind == "note":
            notes.append(in_words_of_python(text))
        else:
            warnings.warn(in_words_of_python(text), stacklevel=3)

    with tempfile.TemporaryDirectory(prefix="viridian.") as folder:
        given = export(model, example_inputs, folder) if _is_module(model) else model
        with ModelFile(given) as path:
            result = _core.optimize(path, options, objective, budget, max_error, keep_original, tell)
    return Optimized(result, notes)


def _is_module(model: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def load(file: str | os.PathLike[str], **options: Any) -> Network:
    """Opens what `Optimized.save` wrote: the .plan.json, or the .onnx that it lies beside. Any other .onnx file runs on
    the first kernels. `options` are those of InferenceSession."""
    path = os.fspath(file)
    plan = path[:-len(".onnx")] + ".plan.json" if path.endswith(".onnx") else path
    return Network(InferenceSession(plan if os.path.exists(plan) else path, **options))
