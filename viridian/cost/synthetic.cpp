#include "viridian/cost/synthetic.hpp"

#include <algorithm>

#include "viridian/base/hash.hpp"
#include "viridian/base/random.hpp"
#include "viridian/graph/operators/row.hpp"

namespace viridian::cost {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::OperatorClass;
using graph::ValueId;

constexpr double peak_flop = 14e12;      // per second; NVIDIA, Tesla V100 data sheet: f32, PCIe
constexpr double reachable = 0.6;        // of it, by a kernel with enough work
constexpr double bandwidth = 0.7e12;     // of the sheet's 900 GB/s
constexpr double launch = 3e-6;          // seconds
constexpr double half_occupied = 1.2e5;  // output elements that half fill the device
constexpr double idle_watts = 45, flop_watts = 250, byte_watts = 60;

struct Range {
    double low = 1, high = 1;
};
// One algorithm: times the first one's seconds and watts.
struct Algorithm {
    std::string_view name;
    bool channels_last = false;
    Range seconds, watts;
};
// EAGO, Table 1: B takes 0.88 to 1.85 of A's seconds at 0.58 to 0.81 of its watts; C, where it exists, 0.5 at
// 0.75.
constexpr Algorithm convolutions[] = {{"implicit_gemm", false, {}, {}},
                                      {"lean_gemm", false, {0.88, 1.85}, {0.58, 0.81}},
                                      {"tensor_nhwc", true, {0.75, 1.2}, {0.75, 1.05}},
                                      {"lean_nhwc", true, {0.95, 1.9}, {0.55, 0.8}}};
constexpr Algorithm winograd = {"winograd", false, {0.5, 0.95}, {0.7, 0.9}};
constexpr Algorithm others[] = {{"fast", false, {}, {}},
                                {"lean", false, {1.02, 1.5}, {0.6, 0.9}},
                                {"fast_nhwc", true, {0.95, 1.1}, {0.95, 1.05}}};

bool is(const Graph& graph, NodeId id, std::initializer_list<std::string_view> operators) {
    const Node& node = graph.node(id);
    return node.domain.empty() && std::find(operators.begin(), operators.end(), node.op) != operators.end();
}

bool contraction(const Graph& graph, NodeId id) {
    return is(graph, id, {"Conv", "ConvTranspose", "Gemm", "MatMul"});
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
    return node.op == "Conv" && node.integer("group", 1) == 1 && weights.known() &&
           weights.dims().size() == 4 && weights.dims()[2] == 3 && weights.dims()[3] == 3 &&
           node.get("strides", ones) == ones && node.get("dilations", ones) == ones;
}

struct Work {
    double flop = 0, bytes = 0, outputs = 0;  // outputs: elements
    bool rank_four = true, known = true;
};

Work work_of(const Graph& graph, const plan::Region& region) {
    Work work;
    const auto bytes = [&](ValueId id) {
        const graph::TensorType& type = graph.value(id).type;
        if (!type.known()) {
            work.known = false;
            return;
        }
        double count = 1;
        for (const std::int64_t d : type.dims()) count *= static_cast<double>(d);
        work.bytes += count * static_cast<double>(graph::size_of(type.element));
    };
    const auto port = [&](ValueId id) {
        bytes(id);
        const graph::TensorType& type = graph.value(id).type;
        work.rank_four = work.rank_four && type.known() && type.dims().size() == 4 &&
                         type.element == graph::ElementType::f32;
    };
    for (const ValueId id : region.inputs) port(id);
    for (const ValueId id : region.outputs) port(id);
    for (const ValueId id : region.constants) bytes(id);
    if (!work.known) return work;
    for (const ValueId id : region.outputs) {
        double count = 1;
        for (const std::int64_t d : graph.value(id).type.dims()) count *= static_cast<double>(d);
        work.outputs += count;
    }
    for (const NodeId id : region.nodes) {
        const Node& node = graph.node(id);
        if (find_operator(node) == nullptr) continue;
        std::vector<graph::TensorType> inputs, outputs;
        for (const ValueId v : node.inputs)
            inputs.push_back(v == ValueId::none ? graph::TensorType{} : graph.value(v).type);
        for (const ValueId v : node.outputs)
            outputs.push_back(v == ValueId::none ? graph::TensorType{} : graph.value(v).type);
        work.flop += static_cast<double>(graph::flop({node, inputs, outputs}).value);
    }
    return work;
}

Price price_of(double seconds, double watts) {
    const Joules joules(seconds * watts);
    return {Seconds(seconds),
            Seconds(seconds),
            Seconds(seconds),
            {joules, joules, joules, {Provenance::Kind::estimated, std::string(synthetic_name)}}};
}

plan::Choice choice_of(const Graph& graph, const plan::Region& region, std::string kernel, bool last) {
    plan::Choice choice;
    choice.kernel = std::move(kernel);
    const auto format = [&](ValueId id) {
        const graph::TensorType& type = graph.value(id).type;
        const std::size_t rank = type.dims().size();
        return plan::Format{last ? plan::channels_last(rank) : plan::plain(rank), type.element, {}};
    };
    for (const ValueId id : region.inputs) choice.inputs.push_back(format(id));
    for (const ValueId id : region.outputs) choice.outputs.push_back(format(id));
    return choice;
}

std::vector<PricedChoice> choices_of(const Graph& graph, const plan::Region& region, std::uint64_t seed) {
    const Work work = work_of(graph, region);
    if (!work.known || !one_kernel(graph, region)) return {};
    const NodeId head = region.nodes[0];
    if (is(graph, head, {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"}) &&
        region.inputs.size() == 1 && region.outputs.size() == 1) {
        plan::Choice view = choice_of(graph, region, "view", false);
        view.aliasing = plan::Aliasing::view;
        return {{std::move(view), price_of(0, 0)}};
    }
    const double occupancy = work.outputs / (work.outputs + half_occupied);
    const double by_flop = work.flop / (peak_flop * reachable * std::max(occupancy, 1e-3));
    const double by_bytes = work.bytes / bandwidth;
    const double seconds = launch + std::max(by_flop, by_bytes);
    const double watts =
        idle_watts + flop_watts * work.flop / (peak_flop * seconds) + byte_watts * by_bytes / seconds;

    std::vector<Algorithm> algorithms;
    if (is(graph, head, {"Conv"})) {
        algorithms.assign(std::begin(convolutions), std::end(convolutions));
        if (small_kernel(graph, head)) algorithms.push_back(winograd);
    } else {
        algorithms.assign(std::begin(others), std::end(others));
    }
    const bool last = work.rank_four && !is(graph, head, {"MatMul", "Gemm", "Transpose", "Softmax"});
    const std::string subject = plan::signature(graph, region);
    std::vector<PricedChoice> list;
    for (const Algorithm& algorithm : algorithms) {
        if (algorithm.channels_last && !last) continue;
        Random random(Hash{}.add(seed).add(subject).add(algorithm.name).value());
        const double slower = random.uniform(algorithm.seconds.low, algorithm.seconds.high);
        const double leaner = random.uniform(algorithm.watts.low, algorithm.watts.high);
        const double luck = random.uniform(0.95, 1.05);  // no formula knows a library's kernels
        list.push_back({choice_of(graph, region, std::string(algorithm.name), algorithm.channels_last),
                        price_of(seconds * slower * luck, watts * leaner)});
    }
    return list;
}

}  // namespace

Source synthetic(std::uint64_t seed) {
    return {[seed](const Graph& graph, const plan::Region& region) -> Result<std::vector<PricedChoice>> {
                return choices_of(graph, region, seed);
            },
            [](const graph::Dims& dims, const plan::Format& from, const plan::Format& to) -> Result<Price> {
                const auto bytes =
                    static_cast<double>(plan::buffer_bytes(from, dims) + plan::buffer_bytes(to, dims));
                const double seconds = launch + bytes / bandwidth;
                return price_of(seconds, idle_watts + byte_watts * bytes / bandwidth / seconds);
            }};
}

}  // namespace viridian::cost
