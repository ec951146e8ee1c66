#include <algorithm>

#include "conformance/case.hpp"
#include "tests/support/greedy.hpp"
#include "tests/support/guarded_run.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/operators/row.hpp"
#include "viridian/prove/proof.hpp"

namespace viridian::conformance {
namespace {

constexpr double allowed = 1e-3;   // between kernels, Winograd's among them
constexpr std::size_t rounds = 4;  // the k-th round takes every node's k-th kernel, or its last

Result<Outputs> run_reference(const graph::Graph& graph, const std::vector<graph::Tensor>& inputs) {
    VIRIDIAN_TRY(std::vector<graph::Tensor> outputs, graph::evaluate(graph, inputs));
    return Outputs{std::move(outputs), {}};
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

// A kernel of an operator that only moves elements, or that is a view, computes nothing.
bool moves(const graph::Node& node, const plan::Choice& choice) {
    if (choice.aliasing == plan::Aliasing::view || choice.aliasing == plan::Aliasing::gather) return true;
    const graph::OperatorRow* row = find_operator(node);
    return row != nullptr && row->operator_class == graph::OperatorClass::movement;
}

Kernels count(const graph::Graph& graph, const plan::Plan& plan) {
    Kernels kernels;
    for (const plan::AssignedRegion& assigned : plan.assignment.regions) {
        if (assigned.choice.variant.algorithm == plan::Algorithm::reference) continue;
        const bool moving = moves(graph.node(assigned.region.nodes.front()), assigned.choice);
        ++(moving ? kernels.moving : kernels.computing);
    }
    return kernels;
}

// The plan that takes the k-th kernel of every node, or its last.
Result<plan::Plan> plan_of(execute::Device& device, const graph::Graph& graph, std::size_t k) {
    const auto pick = [k](const plan::Region&, const std::vector<plan::Choice>& choices) {
        return std::min(k, choices.size() - 1);
    };
    VIRIDIAN_TRY(plan::Assignment assignment,
                 execute::assign(device, graph, execute::single_node_regions(graph), pick));
    return plan::make_plan(graph, std::move(assignment));
}

// How a plan runs: as users run it, or with every tensor between guard pages.
using RunPlan = std::function<Result<std::vector<graph::Tensor>>(
    execute::Device&, const graph::Graph&, const plan::Plan&, const std::vector<graph::Tensor>&)>;

Result<std::vector<graph::Tensor>> run_plan(execute::Device& device, const graph::Graph& graph,
                                            const plan::Plan& plan,
                                            const std::vector<graph::Tensor>& inputs) {
    VIRIDIAN_TRY(const std::unique_ptr<execute::Executable> executable, device.prepare(graph, plan));
    VIRIDIAN_TRY(std::vector<graph::Tensor> outputs, execute::output_tensors(graph));
    VIRIDIAN_TRY(executable->run(inputs, outputs));
    return outputs;
}

Result<std::vector<graph::Tensor>> run_plan_guarded(execute::Device& device, const graph::Graph& graph,
                                                    const plan::Plan& plan,
                                                    const std::vector<graph::Tensor>& inputs) {
    const execute::cpu::Context context = tests::guarded_context(device.threads());
    VIRIDIAN_TRY(tests::run_guarded(context, graph, plan, inputs, tests::Guard::before));
    return tests::run_guarded(context, graph, plan, inputs, tests::Guard::behind);
}

// The processor's kernels; a model whose shapes only its data tell is evaluated by the reference.
Result<Outputs> run_cpu(execute::Device& device, const RunPlan& run_one, const graph::Graph& graph,
                        const std::vector<graph::Tensor>& inputs) {
    VIRIDIAN_TRY(const graph::Graph known, bound(graph, inputs));
    Outputs first;
    for (std::size_t round = 0; round < rounds; ++round) {
        const auto plan = plan_of(device, known, round);
        if (!plan.ok() && plan.error().code == ErrorCode::unsupported) return run_reference(graph, inputs);
        if (!plan.ok()) return plan.error();
        auto outputs = run_one(device, known, *plan, inputs);
        if (!outputs.ok() && outputs.error().code == ErrorCode::unsupported)
            return run_reference(graph, inputs);
        if (!outputs.ok()) return std::move(outputs).error();
        if (round == 0) {
            first = {*std::move(outputs), count(known, *plan)};
            if (first.kernels.computing + first.kernels.moving == 0) break;
        } else if (!same_outputs(*outputs, first.tensors)) {
            return fail(ErrorCode::not_equal, "compare its kernels",
                        "kernel {} of the operators differs from the first", round);
        }
    }
    return first;
}

Device processor(std::string name, int threads, RunPlan run_one) {
    return {std::move(name), [threads, run_one]() -> Result<Run> {
                VIRIDIAN_TRY(std::shared_ptr<execute::Device> device,
                             execute::make_cpu_device({.threads = threads, .pin = false, .allowances = {}}));
                return Run(
                    [device, run_one](const graph::Graph& graph, const std::vector<graph::Tensor>& inputs) {
                        return run_cpu(*device, run_one, graph, inputs);
                    });
            }};
}

}  // namespace

std::vector<Device> devices() {
    return {{"reference", [] { return Result<Run>(run_reference); }},
            processor("cpu", 1, run_plan),
            processor("cpu:4-threads", 4, run_plan),
            processor("cpu:guarded", 2, run_plan_guarded)};
}

}  // namespace viridian::conformance
