#include "viridian/graph/operators/same_operator.hpp"

#include <algorithm>

namespace viridian::graph {
namespace {

bool same_attribute(const Attribute& a, const Attribute& b) {
    if (a.index() != b.index()) return false;
    if (const auto* tensor = std::get_if<Tensor>(&a)) return tensor->same_bytes(std::get<Tensor>(b));
    return std::visit(
        [&](const auto& x) {
            using T = std::remove_cvref_t<decltype(x)>;
            if constexpr (std::is_same_v<T, Tensor>)
                return false;
            else
                return x == std::get<T>(b);
        },
        a);
}

}  // namespace

bool same_attributes(const Attributes& a, const Attributes& b) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
               return x.first == y.first && same_attribute(x.second, y.second);
           });
}

bool same_operator(const Node& a, const Node& b) {
    return a.op == b.op && same_attributes(a.attributes, b.attributes);
}

}  // namespace viridian::graph
