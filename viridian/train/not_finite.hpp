#pragma once
// Finds the first tensor that holds NaN or an infinity, so that a run that stops because its loss is
// not finite can name the tensor at fault.
#include <optional>
#include <span>

#include "viridian/train/named_tensor.hpp"

namespace viridian::train {

struct NotFinite {
    std::string name;
    std::int64_t index = 0;  // of the element, row-major
    double value = 0;        // NaN or an infinity

    [[nodiscard]] std::string text() const;  // "`fc.weight` holds nan at element 12"
};

// Returns the first value of `tensors`, in their order, that is not finite; tensors of integers have none.
[[nodiscard]] std::optional<NotFinite> first_not_finite(std::span<const NamedTensor> tensors);

}  // namespace viridian::train
