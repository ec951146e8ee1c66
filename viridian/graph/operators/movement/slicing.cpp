// Slice(x, starts, ends, axes, steps), by numpy's rules: negative places count from the end, ends are
// clamped.
#include <algorithm>
#include <limits>
#include <numeric>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/reference/movement.hpp"

namespace viridian::graph {
namespace {

struct Cut {
    std::int64_t start = 0, count = 0, step = 1;
};

Cut cut(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
    if (start < 0) start += size;
    if (end < 0) end = std::max(end, std::numeric_limits<std::int64_t>::min() + size) + size;
    if (step > 0) {
        start = std::clamp<std::int64_t>(start, 0, size);
        end = std::clamp<std::int64_t>(end, 0, size);
        return {start, end > start ? (end - start - 1) / step + 1 : 0, step};
    }
    start = std::clamp<std::int64_t>(start, -1, size - 1);
    end = std::clamp<std::int64_t>(end, -1, size - 1);
    return {start, start > end ? (start - end - 1) / -step + 1 : 0, step};
}

struct Cuts {
    Dims starts, ends, axes, steps;

    Result<void> check(std::int64_t rank) {
        if (axes.empty()) {
            axes.resize(starts.size());
            std::iota(axes.begin(), axes.end(), 0);
        }
        if (steps.empty()) steps.assign(starts.size(), 1);
        if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
            return fail(ErrorCode::mismatch, "check the model",
                        "Slice is given {} starts, {} ends, {} axes and {} steps", starts.size(), ends.size(),
                        axes.size(), steps.size());
        for (std::int64_t& axis : axes) {
            VIRIDIAN_TRY(axis, normalize_axis(axis, rank));
        }
        for (std::int64_t& step : steps) {
            if (step == 0) return fail(ErrorCode::mismatch, "check the model", "Slice with step 0");
            step = std::max(step, -std::numeric_limits<std::int64_t>::max());
        }
        return {};
    }
};

Result<void> infer_slice(Inference& inference) {
    std::optional<Shape> out = inference.shape(0);
    if (!out) {
        inference.set(0, inference.element(0), std::nullopt);
        return {};
    }
    const auto read = [&](std::size_t i) {
        return inference.has_input(i) ? constant_integers(inference, i) : std::optional(Dims());
    };
    const auto starts = read(1), ends = read(2), axes = read(3), steps = read(4);
    const auto rank = static_cast<std::int64_t>(out->size());
    if (starts && ends && axes && steps) {
        Cuts cuts{*starts, *ends, *axes, *steps};
        VIRIDIAN_TRY(cuts.check(rank));
        for (std::size_t i = 0; i < cuts.starts.size(); ++i) {
            Dimension& dimension = (*out)[static_cast<std::size_t>(cuts.axes[i])];
            constexpr std::int64_t whole = std::numeric_limits<std::int32_t>::max();
            if (dimension.known())
                dimension = cut(dimension.value(), cuts.starts[i], cuts.ends[i], cuts.steps[i]).count;
            else if (cuts.starts[i] != 0 || cuts.ends[i] < whole || cuts.steps[i] != 1)
                dimension = Dimension();
        }
    } else if (axes && !axes->empty()) {
        for (const std::int64_t stated : *axes) {
            VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(stated, rank));
            (*out)[static_cast<std::size_t>(axis)] = Dimension();
        }
    } else {  // any axis may be cut
        for (Dimension& dimension : *out) dimension = Dimension();
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

constexpr auto slice = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const Array<Scalar>& x = *call.input(0);
    Cuts cuts;
    VIRIDIAN_TRY(cuts.starts, integers(call, 1));
    VIRIDIAN_TRY(cuts.ends, integers(call, 2));
    if (call.input(3) != nullptr) {
        VIRIDIAN_TRY(cuts.axes, integers(call, 3));
    }
    if (call.input(4) != nullptr) {
        VIRIDIAN_TRY(cuts.steps, integers(call, 4));
    }
    VIRIDIAN_TRY(cuts.check(x.rank()));
    Dims dims = x.dims;
    Dims strides = row_major_strides(x.dims);
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < cuts.starts.size(); ++i) {
        const auto axis = static_cast<std::size_t>(cuts.axes[i]);
        const Cut part = cut(x.dims[axis], cuts.starts[i], cuts.ends[i], cuts.steps[i]);
        dims[axis] = part.count;
        offset += part.start * strides[axis];
        strides[axis] *= part.count > 1 ? part.step : 1;
    }
    VIRIDIAN_TRY(call.outputs[0], call.make(x.type, dims));
    take(x, strided_index(dims, strides, offset), call.outputs[0]);
    return {};
};

}  // namespace

std::span<const OperatorRow> slicing_operators() {
    static constexpr OperatorRow rows[] = {
        movement_row("Slice", {3, 5}, infer_slice, polynomial_kernel(slice)),
    };
    return rows;
}

}  // namespace viridian::graph
