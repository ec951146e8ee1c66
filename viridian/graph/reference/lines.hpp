#pragma once
// Lines lists the lines of a tensor along one axis, for kernels that work on one line at a time.
#include "viridian/graph/shape.hpp"

namespace viridian::graph {

struct Lines {
    std::int64_t length = 1;  // elements of a line
    std::int64_t stride = 1;  // between neighbours on a line
    std::int64_t count = 1;   // lines

    Lines(const Dims& dims, std::int64_t axis) : length(dims[static_cast<std::size_t>(axis)]) {
        for (std::size_t i = 0; i < dims.size(); ++i) {
            if (i > static_cast<std::size_t>(axis)) stride *= dims[i];
            if (i != static_cast<std::size_t>(axis)) count *= dims[i];
        }
        if (length == 0) count = 0;  // nothing to visit
    }
    // Returns the flat index of element j of line i.
    [[nodiscard]] std::size_t at(std::int64_t i, std::int64_t j) const {
        return static_cast<std::size_t>((i / stride * length + j) * stride + i % stride);
    }
};

}  // namespace viridian::graph
