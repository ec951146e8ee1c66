#include <algorithm>

#include "conformance/case.hpp"
#include "tests/support/greedy.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/prove/proof.hpp"

namespace viridian::conformance {
namespace {

constexpr double allowed = 1e-3;   // between kernels, Winograd's among them
constexpr std::size_t rounds = 4;  // the k-th round takes every node's k-th kernel, or its last

Result<Outputs> run_reference(const graph::Graph& graph, const std::vector<graph::Tensor>& inputs) {
    VIRIDIAN_TRY(std::vector<graph::Tensor> outputs, graph::evaluate(graph, inputs));
    return Outputs{std::move(outputs), 0};
}

// The shapes of these inputs, instead of symbols.
Result<graph::Graph> bound(graph::Graph graph, const std::vector<graph::Tensor>& inputs) {
    for (std::size_t i = 0; i < std::min(inputs.size(), graph.inputs().size()); ++i)
        if (inputs[i].type() == graph.value(graph.inputs()[i]).type.element)
            graph.set_type(graph.inputs()[i], inputs[i].tensor_type());
    VIRIDIAN_TRY(graph::infer_types(graph));
    graph::remove_dead_nodes(graph);  // a device plans what is read
    return graph;
}

// As method.md, 4 proves plans: relative error over each output, integers equal.
bool same_outputs(const std::vector<graph::Tensor>& a, const std::vector<graph::Tensor>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        if (x.type() != y.type() || x.dims() != y.dims()) return false;
        if (!graph::is_floating(x.type())) return x.same_bytes(y);
        return prove::same_nan_pattern(x, y) && prove::relative_error(x, y) <= allowed;
    });
}

// The processor's kernels; a model whose shapes only its data tell is evaluated by the reference.
Result<Outputs> run_cpu(execute::Device& device, const graph::Graph& graph,
                        const std::vector<graph::Tensor>& inputs) {
    VIRIDIAN_TRY(const graph::Graph known, bound(graph, inputs));
    Outputs first;
    for (std::size_t round = 0; round < rounds; ++round) {
        const auto pick = [&](const plan::Region&, const std::vector<plan::Choice>& choices) {
            return std::min(round, choices.size() - 1);
        };
        auto run = execute::run_greedily(device, known, inputs, pick);
        if (!run.ok() && run.error().code == ErrorCode::unsupported) return run_reference(graph, inputs);
        if (!run.ok()) return std::move(run).error();
        const auto fast = std::count_if(run->kernels.begin(), run->kernels.end(),
                                        [](const auto& kernel) { return kernel.second != "reference"; });
        if (round == 0) {
            first = {std::move(run->outputs), static_cast<int>(fast)};
            if (fast == 0) break;
        } else if (!same_outputs(run->outputs, first.tensors)) {
            return fail(ErrorCode::not_equal, "compare its kernels",
                        "kernel {} of the operators differs from the first", round);
        }
    }
    return first;
}

}  // namespace

std::vector<Device> devices() {
    return {{"reference", [] { return Result<Run>(run_reference); }},
            {"cpu", []() -> Result<Run> {
                 VIRIDIAN_TRY(std::shared_ptr<execute::Device> device,
                              execute::make_cpu_device({.threads = 1, .pin = false, .allowances = {}}));
                 return Run([device](const graph::Graph& graph, const std::vector<graph::Tensor>& inputs) {
                     return run_cpu(*device, graph, inputs);
                 });
             }}};
}

}  // namespace viridian::conformance
