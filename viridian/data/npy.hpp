#pragma once
// Reads and writes NumPy's .npy: "\x93NUMPY", version, header length, a Python dictionary literal with descr,
// fortran_order and shape, then the elements (numpy.lib.format, versions 1 to 3).
#include <string_view>

#include "viridian/graph/tensor.hpp"

namespace viridian::data {

// An NpyHeader says what a .npy file holds and where its elements begin.
struct NpyHeader {
    graph::ElementType type = graph::ElementType::undefined;
    graph::Dims dims;
    bool column_major = false;  // fortran_order
    std::size_t start = 0;      // bytes before the first element
};

// The longest header that is read, and how many bytes of a file hold it at most.
constexpr std::size_t npy_longest_header = std::size_t{1} << 20;
constexpr std::size_t npy_most_prefix = npy_longest_header + 12;

[[nodiscard]] bool is_npy(std::string_view bytes);

// Reads the header from the first `npy_most_prefix` bytes of a file, or from all of them if there are fewer.
// `name` stands for the file in errors. Errors: malformed, unsupported (element type).
[[nodiscard]] Result<NpyHeader> parse_npy_header(std::string_view bytes, std::string_view name);

// These read and make the bytes of a whole file. Errors: malformed, unsupported (element type).
[[nodiscard]] Result<graph::Tensor> parse_npy(std::string_view bytes, std::string_view name);
[[nodiscard]] Result<std::string> npy_bytes(const graph::Tensor& tensor);

}  // namespace viridian::data
