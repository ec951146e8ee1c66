#include "viridian/prove/f32_rounding.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <new>
#include <span>

#include "viridian/graph/evaluate.hpp"
#include "viridian/prove/training.hpp"

namespace viridian::prove {
namespace {

using graph::Graph;
using graph::Tensor;

constexpr double equal_in_double = 1e-6;

// Runs the graph on the reference kernels in `Scalar`, which rounds nothing to a shorter type in between.
template <class Scalar>
Result<std::vector<Tensor>> evaluate_in(const Graph& graph, const std::vector<Tensor>& given) {
    std::vector<graph::Array<Scalar>> inputs;
    for (const Tensor& tensor : given) inputs.push_back(graph::array_of<Scalar>(tensor));
    VIRIDIAN_TRY(const auto arrays, graph::evaluate<Scalar>(graph, std::move(inputs), graph::Rounding::none));
    std::vector<Tensor> outputs;
    for (const graph::Array<Scalar>& array : arrays) outputs.push_back(graph::tensor_of(array));
    return outputs;
}

// By result, the largest errors over all sets: of f32, and of the rewritten graph, against the original in
// double precision.
struct Errors {
    std::vector<double> lost, apart;
};

Result<Errors> errors_of(const Graph& original, const Graph& rewritten,
                         const std::vector<std::vector<Tensor>>& inputs) {
    const std::size_t results = run_outputs(original).size();
    Errors most{std::vector<double>(results, 0), std::vector<double>(results, 0)};
    for (const std::vector<Tensor>& given : inputs) {
        VIRIDIAN_TRY(const auto exact, evaluate_in<double>(original, given));
        const auto add = [&](const std::vector<Tensor>& found, std::vector<double>& to) -> Result<void> {
            VIRIDIAN_TRY(const auto errors, result_errors(original, given, exact, found));
            for (std::size_t i = 0; i < results; ++i) to[i] = std::max(to[i], errors[i].error);
            return {};
        };
        VIRIDIAN_TRY(const auto in_f32, evaluate_in<float>(original, given));
        VIRIDIAN_TRY(add(in_f32, most.lost));
        VIRIDIAN_TRY(const auto after, evaluate_in<double>(rewritten, given));
        VIRIDIAN_TRY(add(after, most.apart));
    }
    return most;
}

}  // namespace

std::vector<AllowedError> allowed_in_f32(const Graph& original, const Graph& rewritten,
                                         const std::vector<std::vector<Tensor>>& inputs) try {
    auto errors = errors_of(original, rewritten, inputs);
    if (!errors.ok()) return {};
    std::vector<double>& lost = errors->lost;
    for (double& one : lost) one = std::isfinite(one) ? one : 0;
    const std::span states(original.states());
    const std::span of_states = std::span(lost).subspan(original.outputs().size());
    std::map<graph::StateRole, double> worst;
    for (std::size_t i = 0; i < states.size(); ++i)
        worst[states[i].role] = std::max(worst[states[i].role], of_states[i]);
    for (std::size_t i = 0; i < states.size(); ++i) of_states[i] = worst[states[i].role];

    std::vector<AllowedError> allowed(original.outputs().size());
    for (std::size_t i = 0; i < lost.size(); ++i) {
        if (errors->apart[i] > std::max(equal_in_double, lost[i])) return {};
        if (i < original.outputs().size()) continue;
        allowed.push_back(
            {std::min(times_lost * lost[i], most_allowed),
             fmt::format("up to {:g} times the error of the reference kernels in f32", times_lost)});
    }
    for (std::size_t i = 0; i < states.size(); ++i)
        if (divides_gradients(original, states[i]))
            allowed[original.outputs().size() + i] = {most_allowed,
                                                      "weights whose optimiser divides gradients by their "
                                                      "size; moments are compared by themselves"};
    return allowed;
} catch (const std::bad_alloc&) {
    return {};
}

}  // namespace viridian::prove
