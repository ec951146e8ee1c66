#include "viridian/rewrite/rules/movement/random_movement.hpp"

namespace viridian::rewrite {

ValueId random_function(RandomGraph& g, ValueId x) {
    return g.add(g.pick<const char*>({"Neg", "Tanh", "Relu", "Exp", "Erf"}), {x});
}

ValueId random_movement(RandomGraph& g, ValueId x, const Dims& dims) {
    switch (g.extent(0, 3)) {
        case 0:
            return g.add(op::Transpose, {x},
                         {{"perm", g.permutation(static_cast<std::int64_t>(dims.size()))}});
        case 1:
            return g.add(op::Reshape, {x, g.integers({dims[1], -1})});
        case 2:
            return g.add(op::Flatten, {x}, {{"axis", g.extent(0, 3)}});
        default:
            return g.add(op::Unsqueeze, {x, g.integers({g.extent(0, 3)})});
    }
}

ValueId movement_of_kind(RandomGraph& g, std::int64_t kind, ValueId x, const Dims& dims,
                         const Dims& permutation) {
    if (kind == 0) return g.add(op::Transpose, {x}, {{"perm", permutation}});
    if (kind == 1) return g.add(op::Reshape, {x, g.integers({dims[1], -1})});
    return g.add(op::Unsqueeze, {x, g.integers({1})});
}

}  // namespace viridian::rewrite
