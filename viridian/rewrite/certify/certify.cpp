#include "viridian/rewrite/certify/certify.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::rewrite {
namespace {

using graph::Array;
using graph::PrimeField;
using graph::Rounding;

template <class Scalar>
Result<std::vector<Array<Scalar>>> random_inputs(const Graph& graph, std::uint64_t seed) {
    Random random(seed);
    std::vector<Array<Scalar>> inputs;
    for (const ValueId id : run_inputs(graph)) {
        const TensorType& type = graph.value(id).type;
        if (!type.known())
            return fail(ErrorCode::invalid_argument, "bind its dimensions", "input `{}` is {}",
                        graph.value(id).name, text(type));
        Array<Scalar>& array = inputs.emplace_back(type.element, type.dims());
        for (Scalar& value : array.real)
            if constexpr (std::is_same_v<Scalar, PrimeField>)
                value = PrimeField(static_cast<std::int64_t>(random.below(PrimeField::prime)));
            else
                value = static_cast<Scalar>(random.normal());
        for (std::int64_t& value : array.integer) value = random.between(0, 1);
    }
    return inputs;
}

Error sides_differ(double most) {
    return fail(ErrorCode::not_equal, "please report it with the model", "the two sides differ by {:.3g}",
                most);
}

template <class Scalar>
Result<void> compare_in_scalar(const Graph& before, const Graph& after, std::uint64_t seed, double tolerance,
                               Rounding rounding) {
    VIRIDIAN_TRY(std::vector<Array<Scalar>> inputs, random_inputs<Scalar>(before, seed));
    VIRIDIAN_TRY(const std::vector<Array<Scalar>> a, evaluate(before, inputs, rounding));
    VIRIDIAN_TRY(const std::vector<Array<Scalar>> b, evaluate(after, std::move(inputs), rounding));
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].type != b[i].type || a[i].dims != b[i].dims || a[i].integer != b[i].integer)
            return fail(ErrorCode::not_equal, "please report it with the model",
                        "output {} is [{}] on one side and [{}] on the other", i, fmt::join(a[i].dims, ","),
                        fmt::join(b[i].dims, ","));
        if constexpr (std::is_same_v<Scalar, PrimeField>) {
            if (!(a[i].real == b[i].real)) return sides_differ(1);
        } else {
            double scale = 1e-300;  // the largest element; the two sides of a zero tensor must be equal
            double most = 0;
            for (std::size_t k = 0; k < a[i].real.size(); ++k) {
                const auto x = static_cast<double>(a[i].real[k]);
                const auto y = static_cast<double>(b[i].real[k]);
                if (std::isnan(x) != std::isnan(y)) return sides_differ(x - y);
                if (std::isnan(x)) continue;
                if (!std::isfinite(x) || !std::isfinite(y)) {
                    if (x != y) return sides_differ(x - y);
                    continue;
                }
                scale = std::max(scale, std::abs(x));
                most = std::max(most, std::abs(x - y));
            }
            if (!(most <= tolerance * scale)) return sides_differ(most / scale);
        }
    }
    return {};
}

struct RuleSides {
    Graph before, after;
};

Result<RuleSides> sides_of(const Rule& rule, std::uint64_t seed, ElementType element) {
    Random random(seed);
    RuleSides pair;
    pair.before = rule.instance(random, element);
    VIRIDIAN_TRY(infer_types(pair.before));
    VIRIDIAN_TRY(const std::vector<NodeId> order, topological_order(pair.before));
    for (const NodeId id : order) {
        pair.after = pair.before;
        VIRIDIAN_TRY(const auto applied,
                     apply(rule, pair.after, id, {.without = {}, .verify = true, .folds = nullptr}));
        if (applied) return pair;
    }
    return fail(ErrorCode::missing_entry, "correct the rule's instance",
                "rule `{}` does not match its instance {}", rule.name, seed);
}

}  // namespace

Result<void> compare(const Graph& before, const Graph& after, std::uint64_t seed, double tolerance) {
    return compare_in_scalar<double>(before, after, seed, tolerance, Rounding::none);
}

Result<void> certify(const Rule& rule, std::uint64_t seed) {
    VIRIDIAN_TRY(const RuleSides wide, sides_of(rule, seed, ElementType::f64));
    VIRIDIAN_TRY(compare_in_scalar<double>(wide.before, wide.after, seed, 1e-9, Rounding::none));
    if (rule.polynomial)
        VIRIDIAN_TRY(compare_in_scalar<PrimeField>(wide.before, wide.after, seed, 0, Rounding::none));
    VIRIDIAN_TRY(const RuleSides single, sides_of(rule, seed, ElementType::f32));
    return compare_in_scalar<float>(single.before, single.after, seed, 1e-4, Rounding::declared);
}

}  // namespace viridian::rewrite
