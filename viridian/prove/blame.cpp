#include "viridian/prove/blame.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "viridian/graph/evaluate.hpp"
#include "viridian/plan/precision.hpp"
#include "viridian/plan/states.hpp"
#include "viridian/prove/check_regions.hpp"
#include "viridian/prove/proof.hpp"
#include "viridian/prove/training.hpp"

namespace viridian::prove {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;

using Values = std::map<ValueId, Tensor>;

constexpr std::size_t most_region_runs = 20'000;  // regions that round × all regions

Tensor through_bf16(Tensor tensor) {
    if (tensor.type() != ElementType::f32) return tensor;
    for (float& value : tensor.mutable_values<float>())
        value = graph::from_bfloat16(graph::to_bfloat16(value));
    return tensor;
}

// One region of the plan, made ready to run alone in f32 and, where it rounds, as planned.
struct Part {
    plan::Region region;
    plan::Choice choice;
    bool rounds = false;
    Graph alone;
    std::unique_ptr<execute::Executable> exact;    // null: the reference kernels
    std::unique_ptr<execute::Executable> rounded;  // null: a view, whose inputs are rounded instead
};

bool free_of_work(const plan::Choice& choice) {
    return choice.aliasing == plan::Aliasing::view || choice.aliasing == plan::Aliasing::gather;
}

Result<std::unique_ptr<execute::Executable>> ready(execute::Device& device, Graph alone,
                                                   const plan::Choice& choice) {
    VIRIDIAN_TRY(const plan::Plan plan, plan_alone(alone, choice));
    return device.prepare(alone, plan);
}

Result<Part> make_part(execute::Device& device, const Graph& graph, const plan::AssignedRegion& assigned) {
    Part part{assigned.region, assigned.choice, false, extract(graph, assigned.region), {}, {}};
    part.rounds = plan::rounds(graph, part.region, part.choice);
    if (!part.rounds && !free_of_work(part.choice)) {
        VIRIDIAN_TRY(part.exact, ready(device, part.alone, part.choice));
        return part;
    }
    VIRIDIAN_TRY(const std::vector<plan::Choice> choices, device.choices(graph, part.region));
    for (const plan::Choice& choice : choices) {
        if (choice.aliasing != plan::Aliasing::none || plan::rounds(graph, part.region, choice)) continue;
        VIRIDIAN_TRY(part.exact, ready(device, part.alone, choice));
        break;
    }
    if (part.rounds && !free_of_work(part.choice)) {
        VIRIDIAN_TRY(part.rounded, ready(device, part.alone, part.choice));
    }
    return part;
}

// The region's outputs, from values given in f32.
Result<std::vector<Tensor>> outputs_of(const Graph& graph, Part& part, const Values& exact,
                                       const Values& changed, bool as_planned) {
    std::vector<Tensor> given;
    for (std::size_t i = 0; i < part.region.inputs.size(); ++i) {
        const auto found = changed.find(part.region.inputs[i]);
        given.push_back(found != changed.end() ? found->second : exact.at(part.region.inputs[i]));
        if (as_planned && !part.rounded && part.choice.inputs[i].element == ElementType::bf16)
            given.back() = through_bf16(std::move(given.back()));
    }
    execute::Executable* executable = as_planned && part.rounded ? part.rounded.get() : part.exact.get();
    if (executable == nullptr) return graph::evaluate(part.alone, given);
    std::vector<Tensor> outputs;
    for (const ValueId id : part.region.outputs)
        outputs.emplace_back(graph.value(id).type.element, graph.value(id).type.dims());
    VIRIDIAN_TRY(executable->run(given, outputs));
    return outputs;
}

double difference(const Tensor& tensor, const Tensor& exact) {
    return same_nan_pattern(tensor, exact) ? relative_error(tensor, exact)
                                           : std::numeric_limits<double>::infinity();
}

bool reads_any(const plan::Region& region, const Values& values) {
    return std::ranges::any_of(region.inputs, [&](ValueId id) { return values.contains(id); });
}

// Regions in an order in which each finds its inputs made.
Result<std::vector<Part>> parts_of(execute::Device& device, const Graph& graph, const plan::Plan& plan) {
    VIRIDIAN_TRY(const std::vector<std::size_t> order, plan::execution_order(graph, plan.assignment.regions));
    std::vector<Part> parts;
    for (const std::size_t r : order) {
        VIRIDIAN_TRY(Part part, make_part(device, graph, plan.assignment.regions[r]));
        parts.push_back(std::move(part));
    }
    return parts;
}

// Runs on from `first`, where `changed` differs from the exact values, to the outputs.
Result<void> propagate(const Graph& graph, std::vector<Part>& parts, std::size_t first, const Values& exact,
                       Values& changed) {
    for (std::size_t p = first; p < parts.size(); ++p) {
        if (!reads_any(parts[p].region, changed)) continue;
        VIRIDIAN_TRY(std::vector<Tensor> outputs, outputs_of(graph, parts[p], exact, changed, false));
        for (std::size_t i = 0; i < outputs.size(); ++i)
            changed.insert_or_assign(parts[p].region.outputs[i], std::move(outputs[i]));
    }
    return {};
}

// Every value on these inputs with nothing rounded.
Result<Values> exact_values(const Graph& graph, std::vector<Part>& parts, const std::vector<Tensor>& inputs) {
    Values exact;
    const std::vector<ValueId> given = run_inputs(graph);
    for (std::size_t i = 0; i < inputs.size(); ++i) exact.emplace(given[i], inputs[i]);
    for (Part& part : parts) {
        VIRIDIAN_TRY(std::vector<Tensor> outputs, outputs_of(graph, part, exact, {}, false));
        for (std::size_t i = 0; i < outputs.size(); ++i)
            exact.emplace(part.region.outputs[i], std::move(outputs[i]));
    }
    return exact;
}

// The results of a run with nothing rounded, against which changed ones are judged.
struct ExactResults {
    std::vector<ValueId> results;
    std::vector<bool> counts;  // Blame::error
    ResultJudge judge;
};

Result<ExactResults> exact_results(const Graph& graph, const std::vector<Tensor>& inputs,
                                   const Values& exact) {
    std::vector<ValueId> results = run_outputs(graph);
    std::vector<bool> counts(graph.outputs().size(), true);
    for (const graph::State& state : graph.states()) counts.push_back(!divides_gradients(graph, state));
    std::vector<Tensor> expected;
    for (const ValueId id : results) {
        const auto made = exact.find(id);
        expected.push_back(made != exact.end() ? made->second : *graph.constant(id));
    }
    VIRIDIAN_TRY(ResultJudge judge, ResultJudge::make(graph, inputs, std::move(expected)));
    return ExactResults{std::move(results), std::move(counts), std::move(judge)};
}

// Returns the largest error of the outputs and new states (Blame::error).
double worst_difference(const ExactResults& right, const Values& changed) {
    double worst = 0;
    for (std::size_t i = 0; i < right.results.size(); ++i)
        if (const auto found = changed.find(right.results[i]); found != changed.end() && right.counts[i])
            worst = std::max(worst, right.judge.error(i, found->second).error);
    return worst;
}

// Rounds the p-th part alone and, unless `right` is null, runs on to the outputs.
Result<void> add_blame(const Graph& graph, std::vector<Part>& parts, std::size_t p, const Values& exact,
                       const ExactResults* right, Blame& blame) {
    VIRIDIAN_TRY(std::vector<Tensor> outputs, outputs_of(graph, parts[p], exact, {}, true));
    Values changed;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const ValueId id = parts[p].region.outputs[i];
        blame.local = std::max(blame.local, difference(outputs[i], exact.at(id)));
        changed.emplace(id, std::move(outputs[i]));
    }
    if (right == nullptr) {
        blame.error = blame.local;
        return {};
    }
    VIRIDIAN_TRY(propagate(graph, parts, p + 1, exact, changed));
    blame.error = std::max(blame.error, worst_difference(*right, changed));
    return {};
}

}  // namespace

Result<std::vector<Blame>> blame_rounding(execute::Device& device, const Graph& graph, const plan::Plan& plan,
                                          const std::vector<std::vector<Tensor>>& sets) {
    VIRIDIAN_TRY(std::vector<Part> parts, parts_of(device, graph, plan));
    std::vector<Blame> blames;
    std::vector<std::size_t> rounding;  // the blames' parts
    for (std::size_t p = 0; p < parts.size(); ++p) {
        if (!parts[p].rounds) continue;
        const graph::Node& last = graph.node(parts[p].region.nodes.back());
        rounding.push_back(p);
        blames.push_back({parts[p].region.nodes, last.name.empty() ? std::string(last.op.name()) : last.name,
                          graph.value(parts[p].region.outputs.front()).name, parts[p].choice.kernel,
                          parts[p].choice.variant.algorithm == plan::Algorithm::winograd_bf16, 0, 0});
    }
    const bool runs_on = rounding.size() * parts.size() <= most_region_runs;
    for (const std::vector<Tensor>& inputs : sets) {
        VIRIDIAN_TRY(const Values exact, exact_values(graph, parts, inputs));
        std::optional<ExactResults> right;
        if (runs_on) {
            VIRIDIAN_TRY(right, exact_results(graph, inputs, exact));
        }
        for (std::size_t i = 0; i < blames.size(); ++i)
            VIRIDIAN_TRY(add_blame(graph, parts, rounding[i], exact, right ? &*right : nullptr, blames[i]));
    }
    std::ranges::stable_sort(blames, std::greater<>(), &Blame::error);
    return blames;
}

}  // namespace viridian::prove
