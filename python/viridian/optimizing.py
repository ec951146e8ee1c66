"""Optimised models, and how they are called, saved and loaded."""
from __future__ import annotations

import html
import os
import tempfile
import warnings
from typing import Any, Callable, Mapping, overload

from . import _core
from .errors import in_words_of_python
from .exporting import export, is_module
from .measuring import Energy
from .network import Network
from .session import InferenceSession, ModelFile, bindings, described
from .sizes import Sizes, dims_of, examples_of, keep_list, new_folder, plans_in, shapes_text


def framed(page: str, height: int = 640) -> str:
    """A page inside a notebook: neither's styles reach the other."""
    return f'<iframe srcdoc="{html.escape(page)}" style="width: 100%; height: {height}px; border: 0"></iframe>'


class Optimized(Network):
    """The result of `optimize`: the model on the plan that was found, whose outputs agree with the original's within the allowed
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


class OptimizedSizes(Sizes):
    """The result of `optimize` for several sizes of one model: a plan for each of them, in the order of the examples.
    Calling it runs the plan made for the sizes of the inputs; each plan holds weights of its own."""

    @property
    def speedups(self) -> list[float]:
        return [plan.speedup for plan in self.plans]

    @property
    def notes(self) -> list[str]:
        return [note for plan in self.plans for note in plan.notes]

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes the model and plan of each size into `folder`, which `load` opens."""
        names = [f"size{place + 1}.onnx" for place in range(len(self.plans))]
        target = new_folder(folder)
        for plan, name in zip(self.plans, names):
            plan.save(os.path.join(target, name))
        keep_list(target, names)

    def __str__(self) -> str:
        return "\n".join(f"{shapes_text(plan.inputs)}\n{plan}" for plan in self.plans)

    def _repr_html_(self) -> str:
        return "".join(plan._repr_html_() for plan in self.plans)


@overload
def optimize(model: Any, example_inputs: list[Any], **options: Any) -> OptimizedSizes: ...
@overload
def optimize(model: Any, example_inputs: Any = None, **options: Any) -> Optimized: ...
def optimize(model: Any, example_inputs: Any = None, *, objective: str = "time", budget: str = "1000,60s",
             dims: Mapping[str, int] | None = None, batch: int = 0, max_error: float | None = None, threads: int = 0,
             pin: bool = False, bf16: bool = False, exact_arithmetic: bool = False, as_f32: bool = False,
             keep_original: bool = False, memory: str = "", meter: str = "", cost_database: str | None = None,
             progress: Callable[[str], None] | None = None) -> Optimized | OptimizedSizes:
    """Finds a cheaper plan for a model on this machine: measures what the cost database lacks, searches equal graphs for
    the one whose cheapest plan costs least at the measured prices, and compares the outputs with the original's.

    `model` is a torch.nn.Module, the path of an .onnx file, its bytes, or an onnx.ModelProto. A module needs
    `example_inputs`: a tensor, a tuple with one for each input, or a list of such examples, one for each size that is
    needed. For a model in ONNX the examples bind the dimensions that it leaves free; so do `dims` and `batch`. The result is
    an `Optimized`; for a list, `OptimizedSizes`, which runs the plan made for the sizes of its inputs.

    `objective` is time, energy, power, a mix such as "0.5*energy+0.5*time", or one with a limit:
    "energy @ time<=1.02x". `budget` are the graphs and seconds of the search. `max_error` is the relative L2 error that
    outputs may have. `cost_database` is the file that keeps measured prices: None is the command line's, "" keeps them in
    memory. `progress` is called with a sentence now and then; an exception that it raises, and Ctrl-C, end the search."""
    if cost_database is None:
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        cost_database = os.path.join(cache, "viridian", "cost.db")
    options = {"threads": threads, "pin": pin, "bf16": bf16, "exact_arithmetic": exact_arithmetic, "as_f32": as_f32,
               "memory": memory, "meter": meter, "cost_database": cost_database, "batch": batch}

    def optimized(example: Any) -> Optimized:
        notes: list[str] = []

        def tell(kind: str, text: str) -> None:
            if kind == "progress":
                if progress is not None:
                    progress(text)
            elif kind == "note":
                notes.append(in_words_of_python(text))
            else:
                warnings.warn(in_words_of_python(text), stacklevel=4)

        with tempfile.TemporaryDirectory(prefix="viridian.") as folder:
            given = export(model, example, folder) if is_module(model) else model
            with ModelFile(given) as path:
                bound = dict(dims or {})
                if example is not None and not is_module(model):
                    bound.update(dims_of(described(path)[0], example, bound))
                result = _core.optimize(path, {**options, "dimensions": bindings(bound)}, objective, budget, max_error,
                                        keep_original, tell)
        return Optimized(result, notes)

    if not isinstance(example_inputs, list):
        return optimized(example_inputs)
    return OptimizedSizes([optimized(example) for example in examples_of(example_inputs)])


def load(file: str | os.PathLike[str], **options: Any) -> Network | Sizes:
    """Opens what `save` wrote: the .plan.json of an `Optimized`, the .onnx that it lies beside, or the folder of
    `OptimizedSizes`. Any other .onnx file runs on kernels chosen by estimated prices. `options` are those of InferenceSession."""
    path = os.fspath(file)
    if os.path.isdir(path):
        return Sizes([Network(InferenceSession(plan, **options)) for plan in plans_in(path)])
    plan = path[:-len(".onnx")] + ".plan.json" if path.endswith(".onnx") else path
    return Network(InferenceSession(plan if os.path.exists(plan) else path, **options))
