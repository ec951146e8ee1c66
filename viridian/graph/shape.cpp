#include "viridian/graph/shape.hpp"

#include <algorithm>

namespace viridian::graph {

bool TensorType::known() const {
    return shape && std::all_of(shape->begin(), shape->end(), [](const Dimension& d) { return d.known(); });
}

Dims TensorType::dims() const {
    invariant(known(), "dims() of a shape that is known");
    Dims dims;
    for (const Dimension& dimension : *shape) dims.push_back(dimension.value());
    return dims;
}

Shape shape_of(const Dims& dims) { return {dims.begin(), dims.end()}; }

std::string text(const TensorType& type) {
    std::string out(name_of(type.element));
    if (!type.shape) return out + "[...]";
    out += '[';
    for (std::size_t i = 0; i < type.shape->size(); ++i) {
        const Dimension& dimension = (*type.shape)[i];
        if (i != 0) out += ',';
        out += dimension.known()            ? std::to_string(dimension.value())
               : dimension.symbol().empty() ? "?"
                                            : dimension.symbol();
    }
    return out + ']';
}

Result<std::int64_t> element_count(const Dims& dims) {
    constexpr std::int64_t limit = std::int64_t{1} << 40;
    std::int64_t count = 1;
    bool empty = false;
    for (const std::int64_t dimension : dims) {
        if (dimension < 0)
            return fail(ErrorCode::malformed, "export the model again", "a dimension is negative: {}",
                        dimension);
        if (dimension == 0) empty = true;
        if (dimension > 0 && count > limit / dimension)
            return fail(ErrorCode::limit_exceeded, "check the model's shapes",
                        "a tensor has more than 2^40 elements");
        if (dimension > 0) count *= dimension;
    }
    return empty ? 0 : count;
}

Result<Dims> broadcast(const Dims& a, const Dims& b) {
    Dims out(std::max(a.size(), b.size()), 1);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1;
        const std::int64_t db = i < b.size() ? b[b.size() - 1 - i] : 1;
        if (da != db && da != 1 && db != 1)
            return fail(ErrorCode::mismatch, "check the model's shapes",
                        "shapes [{}] and [{}] do not broadcast", fmt::join(a, ","), fmt::join(b, ","));
        out[out.size() - 1 - i] = da == 1 ? db : da;
    }
    return out;
}

Result<std::int64_t> normalize_axis(std::int64_t axis, std::int64_t rank) {
    if (axis < -rank || axis >= rank)
        return fail(ErrorCode::mismatch, "check the model's axes", "axis {} is outside a tensor of rank {}",
                    axis, rank);
    return axis < 0 ? axis + rank : axis;
}

}  // namespace viridian::graph
