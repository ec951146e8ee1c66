#include "viridian/graph/reference/broadcasting.hpp"

#include <algorithm>

namespace viridian::graph {

Result<std::optional<Shape>> broadcast_shapes(const std::vector<std::optional<Shape>>& shapes) {
    std::size_t rank = 0;
    for (const auto& shape : shapes) {
        if (!shape) return std::optional<Shape>();
        rank = std::max(rank, shape->size());
    }
    Shape out(rank, Dimension(1));
    for (std::size_t i = 0; i < rank; ++i) {
        Dimension& result = out[rank - 1 - i];
        for (const auto& shape : shapes) {
            if (i >= shape->size()) continue;
            const Dimension& d = (*shape)[shape->size() - 1 - i];
            if (d.known() && d.value() == 1) continue;
            if (result.known() && result.value() == 1) {
                result = d;
            } else if (d.known() && result.known() && d.value() != result.value()) {
                return fail(ErrorCode::mismatch, "check the model's shapes",
                            "dimensions {} and {} do not broadcast", result.value(), d.value());
            } else if (d.known()) {
                result = d;  // a number larger than 1 decides
            } else if (!result.known() && d.symbol() != result.symbol()) {
                result = Dimension();
            }
        }
    }
    return std::optional(out);
}

Result<void> infer_broadcast(Inference& inference) {
    std::vector<std::optional<Shape>> shapes;
    for (std::size_t i = 0; i < inference.input_count(); ++i)
        if (inference.has_input(i)) shapes.push_back(inference.shape(i));
    VIRIDIAN_TRY(const std::optional<Shape> shape, broadcast_shapes(shapes));
    inference.set(0, inference.element(0), shape);
    return {};
}

std::vector<std::int64_t> broadcast_index(const Dims& from, const Dims& to) {
    std::int64_t count = 1;
    for (const std::int64_t dimension : to) count *= dimension;
    std::vector<std::int64_t> strides(to.size(), 0);
    std::int64_t stride = 1;
    for (std::size_t i = 0; i < from.size(); ++i) {
        const std::size_t axis = to.size() - 1 - i;
        const std::int64_t dimension = from[from.size() - 1 - i];
        strides[axis] = dimension == 1 ? 0 : stride;
        stride *= dimension;
    }
    std::vector<std::int64_t> index(static_cast<std::size_t>(count));
    std::vector<std::int64_t> position(to.size(), 0);
    std::int64_t offset = 0;
    for (auto& entry : index) {
        entry = offset;
        for (std::size_t axis = to.size(); axis-- > 0;) {
            offset += strides[axis];
            if (++position[axis] < to[axis]) break;
            offset -= strides[axis] * to[axis];
            position[axis] = 0;
        }
    }
    return index;
}

}  // namespace viridian::graph
