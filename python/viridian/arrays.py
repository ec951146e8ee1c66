"""Arrays of any framework, as the library takes and gives them. No framework is imported here that the program has not
imported itself, except NumPy, and that only when it is needed."""
from __future__ import annotations

import sys
from typing import Any


def torch_of(value: Any) -> Any:
    """The module torch if `value` is one of its tensors, else None."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(value, getattr(torch, "Tensor", ())) else None


def lend(value: Any, element: str) -> Any:
    """`value` as something with DLPack or the buffer protocol, without a copy; lists and numbers become an array of
    `element`."""
    torch = torch_of(value)
    if torch is not None:
        value = value.detach()
        return value.numpy() if value.dtype == torch.bool and value.device.type == "cpu" else value
    if element == "bfloat16" and getattr(getattr(value, "dtype", None), "name", "") == "bfloat16":
        return value.view("uint16")  # ml_dtypes' type, which has neither
    if hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__") or isinstance(value, (bytearray, memoryview)):
        return value
    if isinstance(value, (list, tuple, int, float, bool)):
        import numpy
        return numpy.asarray(value, dtype=element)
    return value


def shape_of(value: Any) -> tuple[int, ...] | None:
    """The shape of an array, or None if it has none."""
    shape = getattr(value, "shape", None)
    return None if shape is None else tuple(int(extent) for extent in shape)


def to_torch(torch: Any, array: Any) -> Any:
    """`array`, which the library made, as a tensor that owns it."""
    if type(array).__module__.partition(".")[0] == "numpy":
        return torch.from_numpy(array)
    return torch.utils.dlpack.from_dlpack(array)
