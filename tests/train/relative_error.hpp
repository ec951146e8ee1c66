#pragma once
#include <cmath>

#include "viridian/graph/tensor.hpp"

namespace viridian::train {

// Returns the relative L2 error of `a`. The norm of `b` counts 0.05 more for each element, so that results
// near zero are compared absolutely.
inline double relative_error(const graph::Tensor& a, const graph::Tensor& b) {
    if (a.dims() != b.dims() || a.type() != b.type()) return HUGE_VAL;
    double difference = 0, size = 0;
    for (std::int64_t i = 0; i < a.count(); ++i) {
        const double x = a.number(i), y = b.number(i);
        if (std::isnan(x) != std::isnan(y)) return HUGE_VAL;
        if (std::isnan(x) || x == y) continue;
        difference += (x - y) * (x - y);
        size += y * y;
    }
    return std::sqrt(difference) / (std::sqrt(size) + 0.05 * std::sqrt(static_cast<double>(a.count())));
}

}  // namespace viridian::train
