#include "python/binding/tensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>

namespace viridian::python {
namespace {

using Code = nb::dlpack::dtype_code;

struct ElementRow {
    const char* name;
    Code code;
    std::uint8_t bits;
};
// In the order of v1::Element.
constexpr std::array<ElementRow, 13> rows = {{{"float64", Code::Float, 64},
                                              {"float32", Code::Float, 32},
                                              {"float16", Code::Float, 16},
                                              {"bfloat16", Code::Bfloat, 16},
                                              {"int64", Code::Int, 64},
                                              {"int32", Code::Int, 32},
                                              {"int16", Code::Int, 16},
                                              {"int8", Code::Int, 8},
                                              {"uint64", Code::UInt, 64},
                                              {"uint32", Code::UInt, 32},
                                              {"uint16", Code::UInt, 16},
                                              {"uint8", Code::UInt, 8},
                                              {"bool", Code::Bool, 8}}};

const ElementRow& row_of(v1::Element element) { return rows.at(static_cast<std::size_t>(element)); }

std::string dtype_text(nb::dlpack::dtype type) {
    for (const ElementRow& row : rows)
        if (static_cast<std::uint8_t>(row.code) == type.code && row.bits == type.bits && type.lanes == 1)
            return row.name;
    return "another element type";
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

bool is_row_major(const nb::ndarray<nb::ro>& array) {
    std::int64_t stride = 1;
    for (std::size_t axis = array.ndim(); axis-- > 0;) {
        const auto extent = static_cast<std::int64_t>(array.shape(axis));
        if (extent == 0) return true;
        if (extent != 1 && array.stride(axis) != stride) return false;
        stride *= extent;
    }
    return true;
}

// Copies the elements, of `bytes` each, row by row.
void gather(const nb::ndarray<nb::ro>& array, std::size_t axis, const std::byte* from, std::byte*& to,
            std::size_t bytes) {
    if (axis == array.ndim()) {
        std::copy_n(from, bytes, to);
        to += bytes;
        return;
    }
    for (std::size_t i = 0; i < array.shape(axis); ++i)
        gather(array, axis + 1,
               from + static_cast<std::int64_t>(i) * array.stride(axis) * static_cast<std::int64_t>(bytes),
               to, bytes);
}

[[noreturn]] void refuse(const char* code, std::string message, std::string next_step) {
    throw Failure{{code, std::move(message), std::move(next_step)}};
}

}  // namespace

const char* name_of(v1::Element element) { return row_of(element).name; }

Input input_from(nb::handle object, const v1::Port& port, Sizes sizes) {
    Input input;
    if (!nb::try_cast(object, input.array, false) || input.array.device_type() != nb::device::cpu::value)
        refuse("invalid_argument",
               fmt::format("the input `{}` is a `{}`, which is no tensor in host memory", port.name,
                           nb::cast<std::string>(nb::str(object.type().attr("__name__")))),
               "give a NumPy array or any tensor on the CPU that has __dlpack__");
    const ElementRow& wanted = row_of(port.element);
    const nb::dlpack::dtype type = input.array.dtype();
    const bool same_code =
        type.code == static_cast<std::uint8_t>(wanted.code) ||
        (wanted.code == Code::Bfloat && type.code == static_cast<std::uint8_t>(Code::UInt));
    if (!same_code || type.bits != wanted.bits || type.lanes != 1)
        refuse("mismatch",
               fmt::format("the input `{}` is {}, and the model takes {}", port.name, dtype_text(type),
                           wanted.name),
               fmt::format("convert it, in NumPy with `.astype(\"{}\")`", wanted.name));
    std::vector<std::int64_t> shape(input.array.ndim());
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        shape[axis] = static_cast<std::int64_t>(input.array.shape(axis));
    if (sizes == Sizes::of_port && shape != port.shape)
        refuse("mismatch",
               fmt::format("the input `{}` has the shape {}, and the model takes {}", port.name,
                           shape_text(shape), shape_text(port.shape)),
               "give an array of that shape, or open the model for other sizes with `dims`");
    const auto* data = static_cast<const std::byte*>(input.array.data());
    const std::size_t bytes = wanted.bits / 8;
    if (is_row_major(input.array) && reinterpret_cast<std::uintptr_t>(data) % bytes == 0) {
        input.tensor = v1::Tensor::view(port.element, data, std::move(shape));
    } else {
        input.tensor = v1::Tensor(port.element, std::move(shape));
        auto* to = static_cast<std::byte*>(input.tensor.mutable_data());
        gather(input.array, 0, data, to, bytes);
    }
    return input;
}

nb::object array_of(v1::Tensor tensor, bool bits) {
    const ElementRow& row = row_of(tensor.element());
    const Code code = row.code == Code::Bfloat && bits ? Code::UInt : row.code;
    const nb::dlpack::dtype type{static_cast<std::uint8_t>(code), row.bits, 1};
    const std::vector<std::size_t> shape(tensor.shape().begin(), tensor.shape().end());
    auto owned = std::make_unique<v1::Tensor>(std::move(tensor));
    // The memory was allocated for this run alone, so Python may write it.
    void* data = const_cast<void*>(owned->data());
    const nb::capsule owner(owned.release(),
                            [](void* pointer) noexcept { delete static_cast<v1::Tensor*>(pointer); });
    if (code == Code::Bfloat)
        return nb::cast(nb::ndarray<>(data, shape.size(), shape.data(), owner, nullptr, type));
    return nb::cast(nb::ndarray<nb::numpy>(data, shape.size(), shape.data(), owner, nullptr, type));
}

}  // namespace viridian::python
