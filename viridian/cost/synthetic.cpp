#include "viridian/cost/synthetic.hpp"

#include <algorithm>
#include <memory>

#include "viridian/base/hash.hpp"
#include "viridian/base/random.hpp"
#include "viridian/graph/operators/row.hpp"
#include "viridian/graph/types_of.hpp"

namespace viridian::cost {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::OperatorClass;
using graph::ValueId;

bool is(const Graph& graph, NodeId id, std::initializer_list<graph::KnownOperator> operators) {
    const Node& node = graph.node(id);
    return node.op.domain().empty() &&
           std::find(operators.begin(), operators.end(), node.op) != operators.end();
}

bool contraction(const Graph& graph, NodeId id) {
    return is(graph, id, {graph::op::Conv, graph::op::ConvTranspose, graph::op::Gemm, graph::op::MatMul});
}

// Regions that one kernel does: any node; a contraction with up to three element-wise nodes after it; chains
// of element-wise nodes.
bool one_kernel(const Graph& graph, const plan::Region& region) {
    if (region.nodes.size() == 1) return true;
    for (std::size_t i = contraction(graph, region.nodes[0]) ? 1 : 0; i < region.nodes.size(); ++i) {
        const auto* row = find_operator(graph.node(region.nodes[i]));
        if (row == nullptr || row->operator_class != OperatorClass::elementwise) return false;
    }
    return region.nodes.size() <= 4 && region.outputs.size() == 1;
}

bool small_kernel(const Graph& graph, NodeId id) {
    const Node& node = graph.node(id);
    const graph::Dims ones = {1, 1};
    const auto weights = graph.value(node.inputs[1]).type;
    return node.op == graph::op::Conv && node.integer("group", 1) == 1 && weights.known() &&
           weights.dims().size() == 4 && weights.dims()[2] == 3 && weights.dims()[3] == 3 &&
           node.get("strides", ones) == ones && node.get("dilations", ones) == ones;
}

struct Demand {
    double flop = 0, bytes = 0, outputs = 0;  // outputs: elements
    bool rank_four = true, known = true;
};

Demand demand_of(const Graph& graph, const plan::Region& region) {
    Demand demand;
    const auto bytes = [&](ValueId id) {
        const graph::TensorType& type = graph.value(id).type;
        if (!type.known()) {
            demand.known = false;
            return;
        }
        double count = 1;
        for (const std::int64_t d : type.dims()) count *= static_cast<double>(d);
        demand.bytes += count * static_cast<double>(graph::size_of(type.element));
    };
    const auto port = [&](ValueId id) {
        bytes(id);
        const graph::TensorType& type = graph.value(id).type;
        demand.rank_four = demand.rank_four && type.known() && type.dims().size() == 4 &&
                           type.element == graph::ElementType::f32;
    };
    for (const ValueId id : region.inputs) port(id);
    for (const ValueId id : region.outputs) port(id);
    for (const ValueId id : region.constants) bytes(id);
    if (!demand.known) return demand;
    for (const ValueId id : region.outputs) {
        double count = 1;
        for (const std::int64_t d : graph.value(id).type.dims()) count *= static_cast<double>(d);
        demand.outputs += count;
    }
    for (const NodeId id : region.nodes) {
        const Node& node = graph.node(id);
        if (find_operator(node) == nullptr) continue;
        const auto inputs = types_of(graph, node.inputs), outputs = types_of(graph, node.outputs);
        demand.flop += static_cast<double>(graph::flop({node, inputs, outputs}).value);
    }
    return demand;
}

Price price_of(const Processor& processor, double seconds, double watts) {
    const Joules joules(seconds * watts);
    return {Seconds(seconds),
            Seconds(seconds),
            Seconds(seconds),
            {joules, joules, joules, {Provenance::Kind::estimated, processor.name}}};
}

plan::Choice choice_of(const Graph& graph, const plan::Region& region, std::string kernel, bool last) {
    plan::Choice choice;
    choice.kernel = std::move(kernel);
    choice.variant.algorithm = plan::Algorithm::direct;
    const auto format = [&](ValueId id) {
        const graph::TensorType& type = graph.value(id).type;
        const std::size_t rank = type.dims().size();
        return plan::Format{last ? plan::channels_last(rank) : plan::plain(rank), type.element, {}};
    };
    for (const ValueId id : region.inputs) choice.inputs.push_back(format(id));
    for (const ValueId id : region.outputs) choice.outputs.push_back(format(id));
    return choice;
}

std::vector<PricedChoice> choices_of(const Processor& processor, const Graph& graph,
                                     const plan::Region& region) {
    const Demand demand = demand_of(graph, region);
    if (!demand.known || !one_kernel(graph, region)) return {};
    const NodeId head = region.nodes[0];
    if (is(graph, head,
           {graph::op::Reshape, graph::op::Flatten, graph::op::Squeeze, graph::op::Unsqueeze,
            graph::op::Identity}) &&
        region.inputs.size() == 1 && region.outputs.size() == 1) {
        plan::Choice view = choice_of(graph, region, "view", false);
        view.aliasing = plan::Aliasing::view;
        return {{std::move(view), price_of(processor, 0, 0)}};
    }
    const double occupancy = demand.outputs / (demand.outputs + processor.half_occupied);
    const double by_flop =
        demand.flop / (processor.peak_flop * processor.reachable * std::max(occupancy, 1e-3));
    const double by_bytes = demand.bytes / processor.bandwidth;
    const double seconds = processor.launch + std::max(by_flop, by_bytes);
    const double watts = processor.idle_watts +
                         processor.flop_watts * demand.flop / (processor.peak_flop * seconds) +
                         processor.byte_watts * by_bytes / seconds;

    const bool convolution = is(graph, head, {graph::op::Conv});
    std::vector<Algorithm> algorithms = convolution ? processor.convolutions : processor.others;
    if (convolution && small_kernel(graph, head))
        algorithms.insert(algorithms.end(), processor.small_convolutions.begin(),
                          processor.small_convolutions.end());
    const bool last =
        demand.rank_four &&
        !is(graph, head, {graph::op::MatMul, graph::op::Gemm, graph::op::Transpose, graph::op::Softmax});
    const std::string subject = plan::signature(graph, region);
    std::vector<PricedChoice> list;
    for (const Algorithm& algorithm : algorithms) {
        if (algorithm.channels_last && !last) continue;
        Random random(Hash{}.add(processor.seed).add(subject).add(algorithm.name).value());
        const double slower = random.uniform(algorithm.seconds.low, algorithm.seconds.high);
        const double leaner = random.uniform(algorithm.watts.low, algorithm.watts.high);
        const double luck = random.uniform(0.95, 1.05);  // no formula knows a library's kernels
        list.push_back({choice_of(graph, region, algorithm.name, algorithm.channels_last),
                        price_of(processor, seconds * slower * luck, watts * leaner)});
    }
    return list;
}

}  // namespace

PriceSource synthetic(Processor processor) {
    const auto shared = std::make_shared<const Processor>(std::move(processor));
    return {
        [shared](const Graph& graph, const plan::Region& region) -> Result<std::vector<PricedChoice>> {
            return choices_of(*shared, graph, region);
        },
        [shared](const graph::Dims& dims, const plan::Format& from, const plan::Format& to) -> Result<Price> {
            if (from == to) return price_of(*shared, 0, 0);  // as a device answers: no conversion
            const auto bytes =
                static_cast<double>(plan::buffer_bytes(from, dims) + plan::buffer_bytes(to, dims));
            const double seconds = shared->launch + bytes / shared->bandwidth;
            const double moving = bytes / shared->bandwidth / seconds;
            return price_of(*shared, seconds, shared->idle_watts + shared->byte_watts * moving);
        }};
}

PriceSource synthetic(std::uint64_t seed) {
    Processor processor;
    processor.seed = seed;
    return synthetic(std::move(processor));
}

}  // namespace viridian::cost
