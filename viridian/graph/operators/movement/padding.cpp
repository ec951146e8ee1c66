// Pad(x, pads, value, axes): constant, reflect, edge or wrap; negative pads cut.
#include <algorithm>
#include <numeric>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/reference/movement.hpp"

namespace viridian::graph {
namespace {

struct Pads {
    Dims begin, end;  // per axis

    // `pads` holds the begins of `axes` (all where empty), then the ends.
    static Result<Pads> of(const Dims& pads, Dims axes, std::int64_t rank) {
        if (axes.empty()) {
            axes.resize(static_cast<std::size_t>(rank));
            std::iota(axes.begin(), axes.end(), 0);
        }
        const bool sane = std::all_of(pads.begin(), pads.end(), [](std::int64_t p) {
            return p > -reference_limit && p < reference_limit;
        });
        if (pads.size() != 2 * axes.size() || !sane)
            return fail(ErrorCode::mismatch, "check the model", "Pad is given [{}] for {} axes",
                        fmt::join(pads, ","), axes.size());
        Pads result{Dims(static_cast<std::size_t>(rank), 0), Dims(static_cast<std::size_t>(rank), 0)};
        for (std::size_t i = 0; i < axes.size(); ++i) {
            VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(axes[i], rank));
            result.begin[static_cast<std::size_t>(axis)] = pads[i];
            result.end[static_cast<std::size_t>(axis)] = pads[i + axes.size()];
        }
        return result;
    }
};

Result<void> infer_pad(Inference& inference) {
    if (inference.has_input(2) && inference.element(2) != ElementType::undefined &&
        inference.element(2) != inference.element(0))
        return fail(ErrorCode::mismatch, "add a Cast", "Pad cannot fill {} with {}", text(inference.input(0)),
                    text(inference.input(2)));
    std::optional<Shape> out = inference.shape(0);
    if (out) {
        const auto pads = constant_integers(inference, 1);
        const auto axes = inference.has_input(3) ? constant_integers(inference, 3) : std::optional(Dims());
        if (pads && axes) {
            VIRIDIAN_TRY(const Pads p, Pads::of(*pads, *axes, static_cast<std::int64_t>(out->size())));
            for (std::size_t i = 0; i < out->size(); ++i) {
                Dimension& dimension = (*out)[i];
                const std::int64_t extra = p.begin[i] + p.end[i];
                if (dimension.known() && dimension.value() + extra < 0)
                    return fail(ErrorCode::mismatch, "check the model", "Pad cuts {} from an axis of {}",
                                -extra, dimension.value());
                if (dimension.known())
                    dimension = Dimension(dimension.value() + extra);
                else if (p.begin[i] != 0 || p.end[i] != 0)
                    dimension = Dimension();
            }
        } else {
            out = Shape(out->size());
        }
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

// Where a place beside [0, size) is read from; −1 for the constant.
std::int64_t source(std::int64_t place, std::int64_t size, const std::string& mode) {
    if (place >= 0 && place < size) return place;
    if (mode == "edge") return std::clamp<std::int64_t>(place, 0, size - 1);
    if (mode == "wrap") return (place % size + size) % size;
    if (mode == "reflect") {
        if (size == 1) return 0;
        const std::int64_t period = 2 * (size - 1);
        const std::int64_t at = (place % period + period) % period;
        return at < size ? at : period - at;
    }
    return -1;
}

constexpr auto pad = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const Array<Scalar>& x = *call.input(0);
    VIRIDIAN_TRY(const Dims stated, integers(call, 1));
    Dims axes;
    if (call.input(3) != nullptr) {
        VIRIDIAN_TRY(axes, integers(call, 3));
    }
    VIRIDIAN_TRY(const Pads pads, Pads::of(stated, axes, x.rank()));
    const std::string mode = call.node.get("mode", std::string("constant"));
    if (mode != "constant" && mode != "edge" && mode != "wrap" && mode != "reflect")
        return fail(ErrorCode::malformed, "export the model again", "Pad has no mode `{}`", mode);
    const Array<Scalar>* fill = call.input(2);
    if (fill != nullptr && (fill->type != x.type || fill->count() != 1)) fill = nullptr;
    Dims dims = x.dims;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        dims[i] += pads.begin[i] + pads.end[i];
        if (dims[i] < 0 || (mode != "constant" && x.dims[i] == 0 && dims[i] > 0))
            return fail(ErrorCode::mismatch, "check the model", "the pads [{}] do not fit the shape [{}]",
                        fmt::join(stated, ","), fmt::join(x.dims, ","));
    }
    VIRIDIAN_TRY(Array<Scalar> y, call.make(x.type, dims));
    std::vector<std::int64_t> from(static_cast<std::size_t>(y.count()), 0);
    const Dims strides = row_major_strides(x.dims);
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        const AroundAxis around(dims, static_cast<std::int64_t>(axis));
        for (std::int64_t i = 0; i < around.size; ++i) {
            const std::int64_t place = source(i - pads.begin[axis], x.dims[axis], mode);
            for (std::int64_t o = 0; o < around.outer; ++o)
                for (std::int64_t j = 0; j < around.inner; ++j) {
                    std::int64_t& entry = from[around.at(o, i, j)];
                    entry = place < 0 || entry < 0 ? -1 : entry + place * strides[axis];
                }
        }
    }
    take(x, from, y, fill);
    call.outputs[0] = std::move(y);
    return {};
};

}  // namespace

std::span<const OperatorRow> padding_operators() {
    static constexpr OperatorRow rows[] = {
        movement_row("Pad", {2, 4}, infer_pad, polynomial_kernel(pad)),
    };
    return rows;
}

}  // namespace viridian::graph
