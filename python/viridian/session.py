"""InferenceSession runs ONNX models and plans, under the names of ONNX Runtime."""
from __future__ import annotations

import collections
import dataclasses
import os
import shutil
import tempfile
import threading
import weakref
from typing import Any, Mapping, Sequence, Tuple

from . import _core
from .arrays import lend, numpy_name, shape_of
from .errors import InputError
from .iobinding import IOBinding

_TYPES = {"float32": "float", "float64": "double"}  # ONNX Runtime's names that are not NumPy's
_Ports = Sequence[Tuple[str, str, Any]]  # (name, NumPy's name of the element type, dimensions)


@dataclasses.dataclass(frozen=True)
class NodeArg:
    """An input or output of a model. A dimension is a number, a name, or None if it is known only in a run."""
    name: str
    type: str
    shape: list[int | str | None] | None


@dataclasses.dataclass
class SessionOptions:
    """The options of ONNX Runtime that mean something here."""
    __slots__ = ("intra_op_num_threads",)
    intra_op_num_threads: int

    def __init__(self, intra_op_num_threads: int = 0) -> None:
        self.intra_op_num_threads = intra_op_num_threads


class ModelFile:
    """The path of a model that is given as a path, as bytes, or as an onnx.ModelProto. Bytes get a file of their own,
    which is removed at the end of `with`, or with this object."""

    def __init__(self, model: Any) -> None:
        self._remove: weakref.finalize[..., Any] | None = None
        if isinstance(model, (str, os.PathLike)):
            self.path = os.path.abspath(os.fspath(model))
            return
        if hasattr(model, "SerializeToString"):
            model = model.SerializeToString()
        if not isinstance(model, (bytes, bytearray, memoryview)):
            raise InputError("invalid_argument", f"a `{type(model).__name__}` is no model",
                             "give the path of an .onnx or .plan.json file, its bytes, or an onnx.ModelProto")
        folder = tempfile.mkdtemp(prefix="viridian.")
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path = os.path.join(folder, "model.onnx")
        with open(self.path, "wb") as file:
            file.write(model)

    def __enter__(self) -> str:
        return self.path

    def __exit__(self, *_: object) -> None:
        if self._remove is not None:
            self._remove()


def described(path: str) -> tuple[_Ports, _Ports]:
    """The inputs and outputs of a model whose sizes are not bound."""
    inputs, outputs = ([(name, numpy_name(element), shape) for name, element, shape in ports] for ports in _core.describe(path))
    return inputs, outputs


def node_args(ports: _Ports) -> list[NodeArg]:
    return [NodeArg(name, f"tensor({_TYPES.get(element, element)})", None if shape is None else list(shape))
            for name, element, shape in ports]


def bindings(dims: Mapping[str, int] | None) -> list[str]:
    return [f"{name}={int(size)}" for name, size in sorted((dims or {}).items())]


class InferenceSession:
    """A model that is ready to run. `run` may be called from many threads at once: they share the weights.

    `model` is the path of an .onnx file or of the .plan.json that `optimize` wrote, the bytes of a model, or an
    onnx.ModelProto; only a plan has the tuned kernels. `dims` binds symbolic dimensions. Those that it leaves free are
    bound by the inputs of a run: the first run of new sizes prepares the model for them, which takes as long as opening
    it, and the last `sizes` of them stay ready, each with weights of its own.

    `threads`: 0 is the plan's number, else VIRIDIAN_THREADS, OMP_NUM_THREADS, or one per physical core that this process
    may use. `as_f32` computes in f32 what the model computes in f16, bf16 or quantised integers. `bf16` lets kernels
    round to bf16. `exact_arithmetic` uses no kernel by Winograd or Strassen. `memory` is what a run may need ("4GiB")."""

    def __init__(self, model: Any, sess_options: SessionOptions | None = None, providers: Sequence[Any] | None = None, *,
                 threads: int = 0, dims: Mapping[str, int] | None = None, pin: bool = False, bf16: bool = False,
                 exact_arithmetic: bool = False, as_f32: bool = False, memory: str = "", sizes: int = 4) -> None:
        names = [one if isinstance(one, str) else one[0] for one in providers or ["CPUExecutionProvider"]]
        if "CPUExecutionProvider" not in names:
            raise InputError("unsupported", f"none of these providers is here: {', '.join(names)}",
                             "leave `providers` out, or name CPUExecutionProvider among them")
        if sess_options is not None and threads == 0:
            threads = sess_options.intra_op_num_threads
        self._options = {"threads": threads, "pin": pin, "bf16": bf16, "exact_arithmetic": exact_arithmetic,
                         "as_f32": as_f32, "memory": memory}
        self._dims = dict(dims or {})
        self._sizes, self._lock = max(sizes, 1), threading.Lock()
        self._ready: collections.OrderedDict[tuple[Any, ...], _core.Model] = collections.OrderedDict()
        self._file = ModelFile(model)
        self._path, self._opened = self._file.path, _state_of(self._file.path)
        if self._path.endswith(".plan.json"):
            self._free: set[str] = set()
            only = self._open(())
            self._inputs, self._outputs = only.inputs, only.outputs
        else:
            self._inputs, self._outputs = described(self._path)
            symbols = {one for _, _, shape in self._inputs for one in shape or () if isinstance(one, str)}
            self._free = symbols - set(self._dims)
            if not self._free:
                with self._file:
                    only = self._open(())
                self._inputs, self._outputs = only.inputs, only.outputs
        self._elements = dict((name, element) for name, element, _ in self._inputs)
        self._output_names = [name for name, _, _ in self._outputs]

    @classmethod
    def _of(cls, model: _core.Model) -> "InferenceSession":
        """The session of a model that is open already."""
        self = cls.__new__(cls)
        self._free, self._sizes, self._lock = set(), 1, threading.Lock()
        self._ready = collections.OrderedDict({(): model})
        self._inputs, self._outputs = model.inputs, model.outputs
        self._elements = dict((name, element) for name, element, _ in self._inputs)
        self._output_names = [name for name, _, _ in self._outputs]
        return self

    def get_inputs(self) -> list[NodeArg]:
        return node_args(self._inputs)

    def get_outputs(self) -> list[NodeArg]:
        return node_args(self._outputs)

    def get_providers(self) -> list[str]:
        return ["CPUExecutionProvider"]

    @property
    def threads(self) -> int:
        """The threads of a run; 0 before the first one if its sizes are not known."""
        with self._lock:
            return next(iter(self._ready.values())).threads if self._ready else 0

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: Any = None) -> list[Any]:
        """Returns the outputs named, or all of them for None, as NumPy arrays. An input is any tensor in host memory with
        `__dlpack__` or NumPy's interface; it is read where it lies."""
        wanted = self._places(output_names)
        missing = [name for name in self._elements if name not in input_feed]
        if missing or len(input_feed) > len(self._elements):
            strange = [name for name in input_feed if name not in self._elements]
            raise InputError("invalid_argument", "; ".join(
                [f"there is no input {_quoted(strange)}"] * bool(strange) + [f"the feed lacks {_quoted(missing)}"] * bool(missing)),
                f"give {_quoted(self._elements)}")
        outputs = self._run([lend(input_feed[name], element) for name, element in self._elements.items()])
        return outputs if wanted is None else [outputs[place] for place in wanted]

    def io_binding(self) -> IOBinding:
        """Inputs and outputs that stay where they are, for runs that must cost nothing but the model's time."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: Any = None) -> None:
        """Runs on the arrays that `iobinding` binds, and leaves the outputs in it."""
        (iobinding._bound or iobinding._bind()).run()

    def _model_for(self, inputs: list[Any]) -> _core.Model:
        return self._for_sizes_of(inputs) if self._free else self._ready[()]

    def _run(self, inputs: list[Any], bits: bool = False) -> list[Any]:
        return self._model_for(inputs).run(inputs, bits)

    def _binding(self, inputs: list[Any]) -> _core.Binding:
        return _core.Binding(self._model_for(inputs), inputs)

    def _places(self, names: Sequence[str] | None) -> list[int] | None:
        if not names:
            return None
        strange = [name for name in names if name not in self._output_names]
        if strange:
            raise InputError("invalid_argument", f"there is no output {_quoted(strange)}", f"ask for {_quoted(self._output_names)}")
        return [self._output_names.index(name) for name in names]

    def _open(self, sizes: tuple[Any, ...]) -> _core.Model:
        if sizes not in self._ready:
            self._refuse_a_changed_file()
            options = dict(self._options, dimensions=bindings({**self._dims, **dict(sizes)}))
            self._ready[sizes] = _core.Model.open(self._path, options)
            while len(self._ready) > self._sizes:
                self._ready.popitem(last=False)
        self._ready.move_to_end(sizes)
        return self._ready[sizes]

    def _refuse_a_changed_file(self) -> None:
        """New sizes read the file again: its weights must be those of the sizes that are ready."""
        state = _state_of(self._path)
        if self._opened in (None, state):  # None: the library says what is wrong with the path
            return
        said = "cannot be read again" if state is None else "has changed since the session opened it"
        raise InputError("file_unreadable" if state is None else "mismatch",
                         f"`{self._path}` {said}, and a run of new sizes needs it",
                         "open a new session, keep the file as it is, or give the model as bytes")

    def _for_sizes_of(self, inputs: list[Any]) -> _core.Model:
        found: dict[str, int] = {}
        for (name, _, dimensions), value in zip(self._inputs, inputs):
            shape = shape_of(value)
            if shape is None or dimensions is None or len(shape) != len(dimensions):
                raise InputError("mismatch", f"the input `{name}` has the shape {shape}, and the model takes {dimensions}",
                                 "give an array of that shape")
            for dimension, extent in zip(dimensions, shape):
                if dimension in self._free and found.setdefault(dimension, extent) != extent:
                    raise InputError("mismatch", f"the dimension `{dimension}` is {found[dimension]} in one input and {extent} "
                                     f"in `{name}`", "give inputs of sizes that belong together")
        with self._lock:
            return self._open(tuple(sorted(found.items())))


def _state_of(path: str) -> tuple[int, int, int] | None:
    """What differs once a file was written again; None if there is no such file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _quoted(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names)
