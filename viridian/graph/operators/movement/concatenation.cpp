// Concat and Split along an axis.

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/reference/movement.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_concat(Inference& inference) {
    for (std::size_t i = 1; i < inference.input_count(); ++i)
        if (inference.element(i) != inference.element(0) && inference.element(i) != ElementType::undefined &&
            inference.element(0) != ElementType::undefined)
            return fail(ErrorCode::mismatch, "add a Cast", "Concat of {} and {}", text(inference.input(0)),
                        text(inference.input(i)));
    std::optional<Shape> out = inference.shape(0);
    for (std::size_t i = 1; out && i < inference.input_count(); ++i) {
        const auto& shape = inference.shape(i);
        if (!shape) {
            out = std::nullopt;
            break;
        }
        if (shape->size() != out->size())
            return fail(ErrorCode::mismatch, "check the model's shapes",
                        "Concat needs equal ranks, not {} and {}", out->size(), shape->size());
        VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(inference.node().integer("axis", 0),
                                                             static_cast<std::int64_t>(out->size())));
        for (std::size_t d = 0; d < out->size(); ++d) {
            Dimension& a = (*out)[d];
            const Dimension& b = (*shape)[d];
            if (d == static_cast<std::size_t>(axis))
                a = a.known() && b.known() ? Dimension(a.value() + b.value()) : Dimension();
            else if (a.known() && b.known() && a.value() != b.value())
                return fail(ErrorCode::mismatch, "check the model's shapes",
                            "Concat needs equal dimensions outside its axis, not {} and {}", a.value(),
                            b.value());
            else if (!a.known() && (b.known() || a.symbol().empty()))
                a = b;
        }
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

constexpr auto concat = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const Array<Scalar>& first = *call.input(0);
    VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(call.node.integer("axis", 0), first.rank()));
    const auto at = static_cast<std::size_t>(axis);
    Dims dims = first.dims;
    dims[at] = 0;
    for (const Array<Scalar>* input : call.inputs) {
        Dims expected = dims;
        if (input->dims.size() == dims.size()) expected[at] = input->dims[at];
        if (input->dims != expected || input->type != first.type)
            return fail(ErrorCode::mismatch, "check the model's shapes", "Concat of [{}] and [{}]",
                        fmt::join(first.dims, ","), fmt::join(input->dims, ","));
        dims[at] += input->dims[at];
    }
    VIRIDIAN_TRY(Array<Scalar> y, call.make(first.type, dims));
    const AroundAxis whole(dims, axis);
    std::int64_t start = 0;
    for (const Array<Scalar>* input : call.inputs) {
        const AroundAxis part(input->dims, axis);
        const auto copy = [&](const auto& from, auto& to) {
            for (std::int64_t o = 0; o < part.outer; ++o)
                for (std::int64_t k = 0; k < part.size * part.inner; ++k)
                    to[whole.at(o, start, 0) + static_cast<std::size_t>(k)] = from[part.at(o, 0, k)];
        };
        if (y.floating())
            copy(input->real, y.real);
        else
            copy(input->integer, y.integer);
        start += part.size;
    }
    call.outputs[0] = std::move(y);
    return {};
};

// Sizes of the parts: input 1, or equal with a smaller last one.
Result<Dims> part_sizes(std::int64_t size, std::size_t parts, const std::optional<Dims>& stated) {
    const auto count = static_cast<std::int64_t>(parts);
    const std::int64_t each = (size + count - 1) / count;
    Dims sizes(parts, each);
    sizes.back() = size - each * (count - 1);
    if (stated) sizes = *stated;
    std::int64_t rest = size;  // what the parts leave of the axis; negative if one does not fit
    for (const std::int64_t part : sizes) rest = part < 0 || part > rest ? -1 : rest - part;
    if (sizes.size() != parts || rest != 0)
        return fail(ErrorCode::mismatch, "check the model's shapes", "an axis of {} does not split into [{}]",
                    size, fmt::join(sizes, ","));
    return sizes;
}

Result<void> infer_split(Inference& inference) {
    const std::size_t parts = inference.node().outputs.size();
    const auto& shape = inference.shape(0);
    const bool given = inference.has_input(1);
    const auto stated = given ? constant_integers(inference, 1) : std::nullopt;
    std::optional<Dims> sizes = stated;
    std::int64_t axis = 0;
    if (shape) {
        VIRIDIAN_TRY(axis, normalize_axis(inference.node().integer("axis", 0),
                                          static_cast<std::int64_t>(shape->size())));
        const Dimension& whole = (*shape)[static_cast<std::size_t>(axis)];
        if (whole.known() && (stated || !given)) {
            VIRIDIAN_TRY(sizes, part_sizes(whole.value(), parts, stated));
        }
    }
    for (std::size_t part = 0; part < parts; ++part) {
        std::optional<Shape> out = shape;
        if (out)
            (*out)[static_cast<std::size_t>(axis)] =
                sizes && part < sizes->size() ? Dimension((*sizes)[part]) : Dimension();
        inference.set(part, inference.element(0), std::move(out));
    }
    return {};
}

constexpr auto split = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const Array<Scalar>& x = *call.input(0);
    VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(call.node.integer("axis", 0), x.rank()));
    const AroundAxis whole(x.dims, axis);
    std::optional<Dims> stated;
    if (call.input(1) != nullptr) {
        VIRIDIAN_TRY(stated, integers(call, 1));
    }
    VIRIDIAN_TRY(const Dims sizes, part_sizes(whole.size, call.outputs.size(), stated));
    std::int64_t start = 0;
    for (std::size_t part = 0; part < sizes.size(); ++part) {
        Dims dims = x.dims;
        dims[static_cast<std::size_t>(axis)] = sizes[part];
        VIRIDIAN_TRY(call.outputs[part], call.make(x.type, dims));
        take(x,
             strided_index({whole.outer, sizes[part], whole.inner},
                           {whole.size * whole.inner, whole.inner, 1}, start * whole.inner),
             call.outputs[part]);
        start += sizes[part];
    }
    return {};
};

}  // namespace

std::span<const OperatorRow> concatenation_operators() {
    static constexpr OperatorRow rows[] = {
        movement_row("Concat", {1, unbounded}, infer_concat, polynomial_kernel(concat)),
        movement_row(
            "Split", {1, 2}, infer_split, polynomial_kernel(split),
            {.outputs = {1, unbounded}, .precision = precision::only_moves, .elements = Elements::moved}),
    };
    return rows;
}

}  // namespace viridian::graph
