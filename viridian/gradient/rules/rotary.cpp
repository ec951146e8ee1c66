// Rotary position embedding: pairs of entries that turned by an angle turn back.
#include "viridian/gradient/rules/families.hpp"

namespace viridian::gradient {
namespace {

using Terms = std::vector<Term>;

Terms rotary_rule(Site& s) {
    if (s.wants(1) || s.wants(2)) s.refuse("gradients do not flow to its cosines and sines");
    Terms inputs = {s.g(), s.x(1), -s.x(2)};
    if (s.x(3)) inputs.push_back(s.x(3));
    return {s.b.add(op::RotaryEmbedding, inputs, s.node().attributes)};
}

void rotary_instance(Instance& i) {
    const std::int64_t batch = i.extent(1, 3), heads = i.extent(1, 3), sequence = i.extent(1, 4);
    const std::int64_t half = i.extent(1, 3), size = 2 * half + i.extent(0, 2);
    Attributes attributes;
    if (size != 2 * half) attributes["rotary_embedding_dim"] = 2 * half;
    if (i.coin()) attributes["interleaved"] = std::int64_t{i.coin()};
    Dims dims = {batch, heads, sequence, size};
    if (i.coin()) {
        attributes["num_heads"] = heads;
        dims = {batch, sequence, heads * size};
    }
    const bool places = i.coin();
    const Dims cache = places ? Dims{5, half} : Dims{batch, sequence, half};
    Terms inputs = {i.input(dims), i.constant(cache), i.constant(cache)};
    if (places) inputs.push_back(i.indices({batch, sequence}, 0, 4));
    i.apply(op::RotaryEmbedding, inputs, attributes);
}

}  // namespace

std::vector<Rule> rotary_rules() {
    return {{op::RotaryEmbedding, "dx = RotaryEmbedding(g) with the sines negated", Rule::Form::multilinear,
             rotary_rule, rotary_instance}};
}

}  // namespace viridian::gradient
