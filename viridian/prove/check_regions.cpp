#include "viridian/prove/check_regions.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "viridian/graph/evaluate.hpp"
#include "viridian/plan/precision.hpp"
#include "viridian/prove/proof.hpp"
#include "viridian/prove/training.hpp"

namespace viridian::prove {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::Tensor;
using graph::ValueId;

// Values at the regions' borders, from the reference kernels.
Result<std::map<ValueId, Tensor>> border_values(const Graph& graph, const plan::Plan& plan,
                                                const std::vector<Tensor>& inputs) {
    std::set<ValueId> wanted;
    for (const plan::Step& step : plan.steps) {
        wanted.insert(step.region.inputs.begin(), step.region.inputs.end());
        wanted.insert(step.region.outputs.begin(), step.region.outputs.end());
    }
    Graph all = graph;
    const std::vector<ValueId> order(wanted.begin(), wanted.end());
    all.set_outputs(order);
    VIRIDIAN_TRY(std::vector<Tensor> tensors, evaluate(all, inputs));
    std::map<ValueId, Tensor> values;
    for (std::size_t i = 0; i < order.size(); ++i) values.emplace(order[i], std::move(tensors[i]));
    return values;
}

// A copy of input `i` that the region reads instead: a kernel that overwrites it leaves the caller's alone.
NodeId copy_input(Graph& alone, std::size_t i) {
    const ValueId input = alone.inputs()[i];
    const ValueId copied = alone.add(graph::op::Identity, {input}, {}, "copy");
    alone.set_type(copied, alone.value(input).type);
    alone.replace_uses(input, copied);
    const NodeId copy = alone.value(copied).producer;
    graph::Node node = alone.node(copy);
    node.inputs = {input};
    alone.set_node(copy, std::move(node));
    return copy;
}

// The old value of the state whose new value is `output`, if gradients change that state and the region reads
// it.
const Tensor* state_before(const Graph& graph, const plan::Region& region, ValueId output,
                           const std::map<ValueId, Tensor>& values) {
    for (const graph::State& state : graph.states())
        if (state.after == output && changed_by_gradients(state.role) &&
            std::ranges::count(region.inputs, state.before) > 0)
            return &values.at(state.before);
    return nullptr;
}

Result<double> error_alone(execute::Device& device, const Graph& graph, const plan::Step& step,
                           const std::map<ValueId, Tensor>& values) {
    Graph alone = extract(graph, step.region);
    VIRIDIAN_TRY(const plan::Plan single, plan_alone(alone, step.choice));
    VIRIDIAN_TRY(const auto executable, device.prepare(alone, single));
    std::vector<Tensor> given, outputs;
    for (const ValueId id : step.region.inputs) given.push_back(values.at(id));
    for (const ValueId id : step.region.outputs)
        outputs.emplace_back(values.at(id).type(), values.at(id).dims());
    VIRIDIAN_TRY(executable->run(given, outputs));
    double error = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const ValueId output = step.region.outputs[i];
        const Tensor& expected = values.at(output);
        const Tensor* before = state_before(graph, step.region, output, values);
        if (before != nullptr && graph::is_floating(expected.type()))
            error = std::max(error, update_error(outputs[i], expected, *before));
        else if (same_nan_pattern(outputs[i], expected))
            error = std::max(error, relative_error(outputs[i], expected));
        else
            error = std::numeric_limits<double>::infinity();
    }
    return error;
}

}  // namespace

Result<plan::Plan> plan_alone(Graph& alone, const plan::Choice& choice) {
    plan::Assignment assignment;
    const std::vector<NodeId> nodes = alone.nodes();
    const auto plain = [&](ValueId id) {
        const auto& type = alone.value(id).type;
        return plan::Format{plan::plain(type.shape->size()), type.element, {}};
    };
    if (choice.aliasing == plan::Aliasing::overwrite) {
        const NodeId copy = copy_input(alone, choice.overwritten);
        plan::Choice copies;
        copies.kernel = "reference";
        copies.variant.algorithm = plan::Algorithm::reference;
        copies.inputs = copies.outputs = {plain(alone.node(copy).outputs[0])};
        assignment.regions.push_back({plan::make_region(alone, graph::uses(alone), {copy}), copies});
    }
    plan::Region region = plan::make_region(alone, graph::uses(alone), nodes);
    if (choice.aliasing == plan::Aliasing::overwrite) region.dies[choice.overwritten] = true;
    for (std::size_t i = 0; i < region.inputs.size(); ++i)
        if (plain(region.inputs[i]) != choice.inputs[i])
            assignment.conversions.push_back({region.inputs[i], plain(region.inputs[i]), choice.inputs[i]});
    for (std::size_t i = 0; i < region.outputs.size(); ++i)
        if (plain(region.outputs[i]) != choice.outputs[i])
            assignment.conversions.push_back(
                {region.outputs[i], choice.outputs[i], plain(region.outputs[i])});
    assignment.regions.push_back({region, choice});
    return make_plan(alone, std::move(assignment));
}

Graph extract(const Graph& graph, const plan::Region& region) {
    Graph alone;
    std::map<ValueId, ValueId> to;
    for (const ValueId id : region.inputs)
        to[id] = alone.add_input(graph.value(id).name, graph.value(id).type);
    for (const ValueId id : region.constants)
        to[id] = alone.add_constant(graph.value(id).name, *graph.constant(id));
    for (const NodeId id : region.nodes) {
        graph::Node node = graph.node(id);
        const std::vector<ValueId> outputs = node.outputs;
        for (ValueId& input : node.inputs)
            if (input != ValueId::none) input = to.at(input);
        const NodeId added = alone.add_node(std::move(node), outputs.size());
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (outputs[i] == ValueId::none) continue;
            to[outputs[i]] = alone.node(added).outputs[i];
            alone.set_type(to[outputs[i]], graph.value(outputs[i]).type);
        }
    }
    std::vector<ValueId> outputs;
    for (const ValueId id : region.outputs) outputs.push_back(to.at(id));
    alone.set_outputs(std::move(outputs));
    return alone;
}

Result<std::vector<RegionCheck>> check_regions(execute::Device& device, const Graph& graph,
                                               const plan::Plan& plan,
                                               std::span<const std::vector<Tensor>> inputs) {
    std::vector<RegionCheck> checks;
    std::map<std::string, std::size_t> known;  // by signature and choice
    for (const std::vector<Tensor>& set : inputs) {
        VIRIDIAN_TRY(const auto values, border_values(graph, plan, set));
        for (const plan::Step& step : plan.steps) {
            if (step.kind != plan::Step::Kind::kernel) continue;
            VIRIDIAN_TRY(const double error, error_alone(device, graph, step, values));
            const std::string signature = plan::signature(graph, step.region);
            const std::string node = graph.node(step.region.nodes.back()).name;
            const auto [at, is_new] = known.try_emplace(signature + step.choice.key(), checks.size());
            if (is_new)
                checks.push_back({node, step.choice.kernel, error,
                                  plan::rounds(graph, step.region, step.choice), signature,
                                  step.choice.key()});
            RegionCheck& check = checks[at->second];
            if (error > check.error) check.error = error, check.node = node;
        }
    }
    return checks;
}

}  // namespace viridian::prove
