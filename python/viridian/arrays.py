"""Arrays of any framework, as the library takes and gives them. No framework is imported here that the program has not
imported itself, except NumPy, and that only when it is needed."""
from __future__ import annotations

import sys
from typing import Any


# The library's names of element types, and NumPy's. A graph says "i8" for 8 bits, which NumPy takes for 8 bytes.
_NUMPY_NAMES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32",
                "i16": "int16", "i8": "int8", "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8"}


def numpy_name(element: str) -> str:
    """NumPy's name of an element type of a model."""
    return _NUMPY_NAMES.get(element, element)


def torch_of(value: Any) -> Any:
    """The module torch if `value` is one of its tensors, else None."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(value, getattr(torch, "Tensor", ())) else None


def lend(value: Any, element: str) -> Any:
    """`value` as something with DLPack or the buffer protocol, without a copy; lists and numbers become an array of
    `element`, which is NumPy's name; those of bfloat16 become its bits."""
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
        return _bfloat16_bits(numpy, value) if element == "bfloat16" else numpy.asarray(value, dtype=element)
    return value


def _bfloat16_bits(numpy: Any, value: Any) -> Any:
    """Rounded to the nearest, ties to even, as uint16."""
    numbers = numpy.asarray(value, dtype="float32")
    bits = numbers.view("uint32").astype("int64")
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("uint16")
    return numpy.where(numpy.isnan(numbers), numpy.uint16(0x7FC0), rounded)


def shape_of(value: Any) -> tuple[int, ...] | None:
    """The shape of an array, or None if it has none."""
    shape = getattr(value, "shape", None)
    return None if shape is None else tuple(int(extent) for extent in shape)


def to_torch(torch: Any, array: Any) -> Any:
    """`array`, which the library made, as a tensor that owns it."""
    if type(array).__module__.partition(".")[0] == "numpy":
        return torch.from_numpy(array)
    return torch.utils.dlpack.from_dlpack(array)
