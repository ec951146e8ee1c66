#pragma once
// Reads one slice of an array per iteration and stacks the results of iterations, for Loop and Scan.
#include <algorithm>

#include "viridian/graph/reference/movement.hpp"

namespace viridian::graph {

// Returns entry `i` of `x` along `axis`, without that axis. Both are in range.
template <class Scalar>
[[nodiscard]] Array<Scalar> slice_along(const Array<Scalar>& x, std::int64_t axis, std::int64_t i) {
    if (axis < 0) axis += x.rank();
    Dims dims = x.dims;
    Dims strides = row_major_strides(x.dims);
    const std::int64_t offset = i * strides[static_cast<std::size_t>(axis)];
    dims.erase(dims.begin() + axis);
    strides.erase(strides.begin() + axis);
    Array<Scalar> y(x.type, dims);
    take(x, strided_index(dims, strides, offset), y);
    return y;
}

// A Stack collects arrays of one type and shape along a new first axis.
template <class Scalar>
class Stack {
  public:
    // `type` is that of an entry; it matters if no entry is pushed. `budget` holds the entries.
    Stack(const TensorType& type, MemoryBudget& budget) : element_(type.element), budget_(&budget) {
        for (const Dimension& d : type.shape.value_or(Shape{}))
            entry_.push_back(std::max<std::int64_t>(d.value(), 0));
    }
    // Appends an entry. Errors: mismatch (another type or shape than the first), limit_exceeded, and those of
    // MemoryBudget::check.
    [[nodiscard]] Result<void> push(const Array<Scalar>& entry) {
        if (entries_.empty()) {
            element_ = entry.type;
            entry_ = entry.dims;
        }
        total_ += entry.count();
        if (entry.dims != entry_ || entry.type != element_)
            return fail(ErrorCode::mismatch, "check the model", "a loop collects [{}] after [{}]",
                        fmt::join(entry.dims, ","), fmt::join(entry_, ","));
        if (total_ > reference_limit)
            return fail(ErrorCode::limit_exceeded, "check the model",
                        "a loop collects more than memory holds");
        VIRIDIAN_TRY(budget_->check(entry.bytes()));
        budget_->hold(entry.bytes());
        entries_.push_back(entry);
        return {};
    }
    void reverse() { std::reverse(entries_.begin(), entries_.end()); }
    // Returns the stacked entries. Errors: those of MemoryBudget::check.
    [[nodiscard]] Result<Array<Scalar>> finish() && {
        Dims dims = entry_;
        dims.insert(dims.begin(), static_cast<std::int64_t>(entries_.size()));
        const Bytes all(total_ * Array<Scalar>::bytes_per_element(element_).value);
        VIRIDIAN_TRY(budget_->check(all));
        budget_->release(all);
        Array<Scalar> whole;
        whole.type = element_;
        whole.dims = std::move(dims);
        if (whole.floating())
            whole.real.reserve(static_cast<std::size_t>(total_));
        else
            whole.integer.reserve(static_cast<std::size_t>(total_));
        for (const Array<Scalar>& entry : entries_) {
            whole.real.insert(whole.real.end(), entry.real.begin(), entry.real.end());
            whole.integer.insert(whole.integer.end(), entry.integer.begin(), entry.integer.end());
        }
        return whole;
    }

  private:
    ElementType element_;
    Dims entry_;
    std::int64_t total_ = 0;
    std::vector<Array<Scalar>> entries_;
    MemoryBudget* budget_;
};

// Moves the first axis of an array to position `to`.
template <class Scalar>
[[nodiscard]] Result<Array<Scalar>> move_first_axis(Array<Scalar> x, std::int64_t to) {
    VIRIDIAN_TRY(to, normalize_axis(to, x.rank()));
    if (to == 0) return x;
    Dims dims = x.dims;
    Dims strides = row_major_strides(x.dims);
    std::rotate(dims.begin(), dims.begin() + 1, dims.begin() + to + 1);
    std::rotate(strides.begin(), strides.begin() + 1, strides.begin() + to + 1);
    Array<Scalar> y(x.type, dims);
    take(x, strided_index(dims, strides), y);
    return y;
}

}  // namespace viridian::graph
