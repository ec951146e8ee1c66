#pragma once
// Carries tensors between Python and the library without copying them.
#include <nanobind/ndarray.h>

#include "python/binding/errors.hpp"

namespace viridian::python {

// An Input is a tensor that Python lends: `array` keeps its memory alive.
struct Input {
    nb::ndarray<nb::ro> array;
    v1::Tensor tensor;
};
enum class Sizes { of_port, any };
// Reads `object`, anything with DLPack or the buffer protocol in host memory, as the input `port`. Elements
// stay where they are; those that are not row-major or not aligned are copied. Unsigned 16-bit integers are
// taken for the bits of bf16. Throws a Failure: invalid_argument (no such object, or another device),
// mismatch (another element type, or another shape if the sizes are those of the port).
[[nodiscard]] Input input_from(nb::handle object, const v1::Port& port, Sizes sizes = Sizes::of_port);

// Returns `tensor` as a NumPy array that owns it. NumPy lacks bf16: its elements are in an object with
// DLPack, or, if `bits`, an array of unsigned 16-bit integers.
[[nodiscard]] nb::object array_of(v1::Tensor tensor, bool bits = false);

// Returns the name of an element type as NumPy has it: "float32".
[[nodiscard]] const char* name_of(v1::Element element);

}  // namespace viridian::python
