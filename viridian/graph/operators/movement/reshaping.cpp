// The same elements under another shape: Reshape, Flatten, Squeeze, Unsqueeze.
#include <algorithm>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/movement.hpp"

namespace viridian::graph {
namespace {

Error does_not_fit(const std::string& from, const Dims& to) {
    return fail(ErrorCode::mismatch, "check the model's shapes", "[{}] cannot become [{}]", from,
                fmt::join(to, ","));
}

std::string listed(const Shape& shape) {
    const std::string whole = text({ElementType::undefined, shape});
    return whole.substr(whole.find('[') + 1, whole.size() - whole.find('[') - 2);
}

// A −1 is what remains: known where every dimension that is not known is copied by a 0; a symbol where it is
// all that remains.
Dimension remaining(const Shape& from, const std::vector<bool>& copied, std::int64_t rest) {
    std::int64_t count = 1;
    Dimension open(1);
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (i < copied.size() && copied[i]) continue;
        if (from[i].known())
            count *= from[i].value();
        else if (open.known())
            open = from[i];
        else
            return {};
    }
    if (open.known()) return rest > 0 && count % rest == 0 ? Dimension(count / rest) : Dimension();
    return count == rest ? open : Dimension();
}

Result<Shape> reshaped(const Shape& from, const Dims& wanted, bool zero_is_zero) {
    Shape to;
    std::vector<bool> copied(from.size(), false);
    std::int64_t rest = 1;  // product of what is stated
    std::optional<std::size_t> open;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i] == -1 && !open) {
            open = i;
            to.emplace_back();
        } else if (wanted[i] == 0 && !zero_is_zero) {
            if (i >= from.size()) return does_not_fit(listed(from), wanted);
            copied[i] = true;
            to.push_back(from[i]);
        } else if (wanted[i] < 0 || wanted[i] > (std::int64_t{1} << 40)) {
            return does_not_fit(listed(from), wanted);
        } else {
            if (rest != 0 && wanted[i] > (std::int64_t{1} << 40) / rest)
                return does_not_fit(listed(from), wanted);
            rest *= wanted[i];
            to.emplace_back(wanted[i]);
        }
    }
    if (open) to[*open] = remaining(from, copied, rest);
    const TensorType before{ElementType::f32, from};
    const TensorType after{ElementType::f32, to};
    if (before.known() && (!after.known() || product(before.dims()) != product(after.dims())))
        return does_not_fit(listed(from), wanted);
    return to;
}

Result<void> infer_reshape(Inference& inference) {
    VIRIDIAN_TRY(expect_integer(inference, 1, 1));
    std::optional<Shape> out;
    if (const auto wanted = constant_integers(inference, 1)) {
        const bool zero_is_zero = inference.node().integer("allowzero", 0) != 0;
        if (inference.shape(0)) {
            VIRIDIAN_TRY(out, reshaped(*inference.shape(0), *wanted, zero_is_zero));
        } else {
            out.emplace();
            for (const std::int64_t d : *wanted)
                out->push_back(d > 0 || (d == 0 && zero_is_zero) ? Dimension(d) : Dimension());
        }
    } else if (const auto rank = length_of(inference, 1)) {
        out = Shape(static_cast<std::size_t>(*rank));
        const TensorType& before = inference.input(0);
        if (out->empty() && before.known() && product(before.dims()) != 1)  // a scalar is the only shape
            return does_not_fit(listed(*before.shape), {});
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

constexpr auto reshape = [](auto& call) -> Result<void> {
    VIRIDIAN_TRY(const Dims wanted, integers(call, 1));
    VIRIDIAN_TRY(const Shape shape,
                 reshaped(shape_of(call.input(0)->dims), wanted, call.node.integer("allowzero", 0) != 0));
    view(call, TensorType{ElementType::f32, shape}.dims());
    return {};
};

Result<std::int64_t> flatten_axis(const Node& node, std::int64_t rank) {
    const std::int64_t axis = node.integer("axis", 1);
    if (axis == rank) return axis;
    return normalize_axis(axis, rank);
}

Result<void> infer_flatten(Inference& inference) {
    const auto& shape = inference.shape(0);
    Shape out(2);
    if (shape) {
        VIRIDIAN_TRY(const std::int64_t axis,
                     flatten_axis(inference.node(), static_cast<std::int64_t>(shape->size())));
        const Shape before(shape->begin(), shape->begin() + axis);
        const Shape after(shape->begin() + axis, shape->end());
        out = {remaining(before, {}, 1), remaining(after, {}, 1)};
    }
    inference.set(0, inference.element(0), out);
    return {};
}

constexpr auto flatten = [](auto& call) -> Result<void> {
    const Dims& dims = call.input(0)->dims;
    VIRIDIAN_TRY(const std::int64_t axis, flatten_axis(call.node, call.input(0)->rank()));
    view(call,
         {product(Dims(dims.begin(), dims.begin() + axis)), product(Dims(dims.begin() + axis, dims.end()))});
    return {};
};

// Without axes, every dimension of 1 goes.
Result<Shape> squeezed(const Shape& from, const std::optional<Dims>& axes) {
    Dims gone;
    if (axes) {
        VIRIDIAN_TRY(gone, normalize_axes(*axes, static_cast<std::int64_t>(from.size())));
    }
    Shape out;
    for (std::size_t i = 0; i < from.size(); ++i) {
        const bool named = std::binary_search(gone.begin(), gone.end(), static_cast<std::int64_t>(i));
        if (named && from[i].known() && from[i].value() != 1)
            return fail(ErrorCode::mismatch, "check the model's axes", "axis {} of [{}] is not 1", i,
                        listed(from));
        if (axes ? !named : from[i].value() != 1) out.push_back(from[i]);
    }
    return out;
}

Result<void> infer_squeeze(Inference& inference) {
    VIRIDIAN_TRY(expect_integer(inference, 1, 1));
    std::optional<Shape> out;
    const auto& shape = inference.shape(0);
    const bool given = inference.has_input(1);
    const std::optional<Dims> axes = given ? constant_integers(inference, 1) : std::nullopt;
    const bool decided = axes || (!given && TensorType{ElementType::f32, shape}.known());
    if (shape && decided) {
        VIRIDIAN_TRY(out, squeezed(*shape, axes));
    } else if (const auto count = length_of(inference, 1);
               given && shape && count && *count <= static_cast<std::int64_t>(shape->size())) {
        out = Shape(shape->size() - static_cast<std::size_t>(*count));
        const TensorType& before = inference.input(0);
        if (out->empty() && before.known() && product(before.dims()) != 1)  // every axis must be 1
            return does_not_fit(listed(*shape), {});
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

constexpr auto squeeze = [](auto& call) -> Result<void> {
    std::optional<Dims> axes;
    if (call.input(1) != nullptr) {
        VIRIDIAN_TRY(axes, integers(call, 1));
    }
    VIRIDIAN_TRY(const Shape shape, squeezed(shape_of(call.input(0)->dims), axes));
    view(call, TensorType{ElementType::f32, shape}.dims());
    return {};
};

Result<Shape> unsqueezed(const Shape& from, const Dims& axes) {
    VIRIDIAN_TRY(const Dims fresh,
                 normalize_axes(axes, static_cast<std::int64_t>(from.size() + axes.size())));
    Shape out = from;
    for (const std::int64_t axis : fresh) out.insert(out.begin() + axis, Dimension(1));
    return out;
}

Result<void> infer_unsqueeze(Inference& inference) {
    VIRIDIAN_TRY(expect_integer(inference, 1, 1));
    std::optional<Shape> out;
    const auto& shape = inference.shape(0);
    if (const auto axes = constant_integers(inference, 1); shape && axes) {
        VIRIDIAN_TRY(out, unsqueezed(*shape, *axes));
    } else if (const auto count = length_of(inference, 1); shape && count) {
        out = Shape(shape->size() + static_cast<std::size_t>(*count));
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

constexpr auto unsqueeze = [](auto& call) -> Result<void> {
    VIRIDIAN_TRY(const Dims axes, integers(call, 1));
    VIRIDIAN_TRY(const Shape shape, unsqueezed(shape_of(call.input(0)->dims), axes));
    view(call, TensorType{ElementType::f32, shape}.dims());
    return {};
};

constexpr OperatorFacts reshaping(Samples samples = Samples::mixed) {
    return {.precision = precision::only_moves, .elements = Elements::reshaped, .samples = samples};
}

}  // namespace

std::span<const OperatorRow> reshaping_operators() {
    static constexpr OperatorRow rows[] = {
        movement_row("Reshape", {2, 2}, infer_reshape, polynomial_kernel(reshape), reshaping()),
        movement_row("Flatten", {1, 1}, infer_flatten, polynomial_kernel(flatten), reshaping()),
        movement_row("Squeeze", {1, 2}, infer_squeeze, polynomial_kernel(squeeze),
                     reshaping(Samples::behind_axes)),
        movement_row("Unsqueeze", {2, 2}, infer_unsqueeze, polynomial_kernel(unsqueeze),
                     reshaping(Samples::behind_added)),
    };
    return rows;
}

}  // namespace viridian::graph
