"""ONNX's own interface to runtimes (onnx.backend.base): prepare a model, run it.

    import onnx, viridian.backend
    y, = viridian.backend.prepare(onnx.load("model.onnx")).run([x])

A model whose shapes only its data tell runs on the reference kernels, which are slow."""
from __future__ import annotations

from typing import Any, Sequence

import numpy
from onnx.backend.base import Backend, BackendRep, namedtupledict

from . import _core
from .arrays import lend
from .errors import Error, MachineError
from .session import InferenceSession, ModelFile, described


class ViridianRep(BackendRep):
    """A model that is ready to run."""

    def __init__(self, model: Any, options: dict[str, Any]) -> None:
        self._file = ModelFile(model)
        inputs, outputs = described(self._file.path)
        self._names = [name for name, _, _ in outputs]
        self._bf16 = [element == "bfloat16" for _, element, _ in outputs]
        self._elements = [element for _, element, _ in inputs]
        self._session: InferenceSession | None = None
        self._reference: _core.Reference | None = None
        try:
            self._session = InferenceSession(self._file.path, **options)
        except Error as error:
            if error.code not in ("unsupported", "missing_entry"):
                raise
            self._reference = _core.Reference(self._file.path)

    def run(self, inputs: Any, **_: Any) -> Any:
        lent = [lend(value, element) for value, element in zip(_listed(inputs), self._elements)]
        outputs = None
        if self._session is not None:
            try:
                outputs = self._session._run(lent, bits=True)
            except Error as error:
                if error.code != "unsupported":
                    raise
        if outputs is None:
            outputs = self._on_reference(lent)
        if any(self._bf16):
            import ml_dtypes  # onnx brings it
            outputs = [value.view(ml_dtypes.bfloat16) if bits else value for value, bits in zip(outputs, self._bf16)]
        return namedtupledict("Outputs", self._names)(*outputs)

    def _on_reference(self, inputs: list[Any]) -> list[Any]:
        if self._reference is None:
            assert self._session is not None
            self._session._refuse_a_changed_file()
            self._reference = _core.Reference(self._file.path)
        return self._reference.run(inputs, bits=True)


def _listed(inputs: Any) -> Sequence[Any]:
    return list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]


class ViridianBackend(Backend):
    """Viridian for onnx.backend. Options of `prepare` are those of InferenceSession."""

    @classmethod
    def is_compatible(cls, model: Any, device: str = "CPU", **_: Any) -> bool:
        """Whether every operator and element type of the model is known."""
        try:
            with ModelFile(model) as path:
                _core.describe(path)
        except Error:
            return False
        return cls.supports_device(device)

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **options: Any) -> ViridianRep:
        if not cls.supports_device(device):
            raise MachineError("no_device", f"there is no device `{device}` here", "take CPU")
        return ViridianRep(model, options)

    @classmethod
    def run_model(cls, model: Any, inputs: Any, device: str = "CPU", **options: Any) -> Any:
        return cls.prepare(model, device, **options).run(inputs)

    @classmethod
    def run_node(cls, node: Any, inputs: Any, device: str = "CPU", outputs_info: Any = None, **options: Any) -> Any:
        """Runs one operator. `outputs_info` are the outputs' (NumPy type, shape)."""
        from onnx import helper
        ports = [[helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(numpy.dtype(kind)), shape)
                  for name, (kind, shape) in zip(names, about)]
                 for names, about in ((node.input, [(value.dtype, value.shape) for value in _listed(inputs)]),
                                      (node.output, outputs_info or [(numpy.float32, None)] * len(node.output)))]
        model = helper.make_model(helper.make_graph([node], "node", *ports))
        return cls.run_model(model, inputs, device, **options)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device.partition(":")[0] == "CPU"


is_compatible = ViridianBackend.is_compatible
prepare = ViridianBackend.prepare
run_model = ViridianBackend.run_model
run_node = ViridianBackend.run_node
supports_device = ViridianBackend.supports_device
