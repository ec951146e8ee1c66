#include "viridian/profile/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "viridian/base/statistics.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::profile {
namespace {

constexpr std::int64_t side = 256;  // of the matrices: three of 256 KiB
constexpr double probe_flop = 2.0 * side * side * side;
const graph::Dims probe_tensor = {1, 64, 56, 56};
constexpr double probe_bytes = 2.0 * 4 * 64 * 56 * 56;
// How often a byte that a kernel reads or writes passes between the cores, relative to the conversion: both
// read the same inputs, and some kernels have intermediate results. Fitted to the kernels of four networks in
// two states of one machine (benchmarks/results/earlier/prediction.md).
constexpr double passes = 2;

// No constants: the weights of kernels come from main memory when they are timed.
Result<graph::Graph> product() {
    graph::Graph graph;
    const graph::TensorType matrix{graph::ElementType::f32, graph::shape_of({side, side})};
    const graph::ValueId a = graph.add_input("a", matrix), b = graph.add_input("b", matrix);
    graph.set_outputs({graph.add("MatMul", {a, b}, {}, "probe")});
    VIRIDIAN_TRY(graph::infer_types(graph));
    return graph;
}

}  // namespace

Work Work::of(const graph::Graph& graph, const plan::Region& region) {
    Work work{plan::flop(graph, region), 0};
    for (const auto* values : {&region.inputs, &region.outputs, &region.constants})
        for (const graph::ValueId id : *values)
            if (const graph::TensorType& type = graph.value(id).type; type.known())
                work.bytes += static_cast<double>(
                    plan::buffer_bytes({plan::plain(type.dims().size()), type.element, {}}, type.dims()));
    return work;
}

Work Work::of(const graph::Dims& dims, const plan::Format& from, const plan::Format& to) {
    return {0, static_cast<double>(plan::buffer_bytes(from, dims) + plan::buffer_bytes(to, dims))};
}

Calibration::Calibration(execute::Device& device) : device_(device) {}

Result<void> Calibration::look() {
    const execute::TimingProtocol protocol = {
        .precision = 0.01, .budget = Seconds(8e-3), .at_least = 9, .cached_weights = true};
    execute::TimingProtocol staying = protocol;
    staying.inputs_stay = true;
    if (!arithmetic_) {
        VIRIDIAN_TRY(graph::Graph graph, product());
        plan::Region region = plan::make_region(graph, graph::uses(graph), {graph.nodes().front()});
        arithmetic_.emplace(Arithmetic{std::move(graph), std::move(region), std::nullopt});
        VIRIDIAN_TRY(const auto choices, device_.choices(arithmetic_->graph, arithmetic_->region));
        if (!choices.empty()) arithmetic_->choice = choices.front();
    }
    if (!arithmetic_->choice) return {};
    VIRIDIAN_TRY(const execute::Timing arithmetic,
                 device_.time(arithmetic_->graph, arithmetic_->region, *arithmetic_->choice, staying));
    const plan::Format plain{plan::plain(probe_tensor.size()), graph::ElementType::f32, {}};
    const plan::Format blocked{plan::channels_last(probe_tensor.size()), graph::ElementType::f32, {}};
    VIRIDIAN_TRY(const execute::Timing memory,
                 device_.time_conversion(probe_tensor, plain, blocked, protocol));
    last_ = {arithmetic.median, memory.median};
    return {};
}

Result<void> Calibration::settle() {
    constexpr std::size_t least_looks = 5, most_looks = 20;
    constexpr double agreement = 0.04, enough = 0.75;
    std::vector<double> arithmetic, memory, latencies;
    latency_ = {};
    while (arithmetic.size() < most_looks) {
        VIRIDIAN_TRY(look());
        if (!last_.known()) return {};
        arithmetic.push_back(last_.arithmetic.value);
        memory.push_back(last_.memory.value);
        if (const Seconds latency = device_.core_to_core_latency(); latency.value > 0)
            latencies.push_back(latency.value);
        last_ = {Seconds(summarize(arithmetic).median), Seconds(summarize(memory).median)};
        double agree = 0;
        for (std::size_t i = 0; i < arithmetic.size(); ++i)
            agree += alike({Seconds(arithmetic[i]), Seconds(memory[i])}, last_, agreement) ? 1 : 0;
        const auto looks = static_cast<double>(arithmetic.size());
        if (arithmetic.size() >= least_looks && agree >= enough * looks) break;
    }
    if (!latencies.empty()) latency_ = Seconds(summarize(std::move(latencies)).median);
    return {};
}

double Drift::factor(const Work& work) const {
    if (!then.known() || !now.known() || then == now) return 1;
    const double arithmetic = work.flop / probe_flop * then.arithmetic.value;
    const double memory = passes * work.bytes / probe_bytes * then.memory.value;
    const double share = arithmetic + memory > 0 ? memory / (arithmetic + memory) : 0.5;
    return std::clamp((1 - share) * (now.arithmetic / then.arithmetic) + share * (now.memory / then.memory),
                      1 / limit, limit);
}

cost::ProbeTimes between(const cost::ProbeTimes& a, const cost::ProbeTimes& b) {
    if (!a.known()) return b;
    if (!b.known()) return a;
    const auto middle = [](Seconds x, Seconds y) { return Seconds(std::sqrt(x.value * y.value)); };
    return {middle(a.arithmetic, b.arithmetic), middle(a.memory, b.memory)};
}

bool alike(const cost::ProbeTimes& a, const cost::ProbeTimes& b, double share) {
    if (!a.known() || !b.known()) return true;
    const auto near = [&](Seconds x, Seconds y) { return std::abs(std::log(x / y)) <= std::log1p(share); };
    return near(a.arithmetic, b.arithmetic) && near(a.memory, b.memory);
}

bool slower(const cost::ProbeTimes& a, const cost::ProbeTimes& b, double share) {
    if (!a.known() || !b.known()) return false;
    return a.arithmetic > b.arithmetic * (1 + share) || a.memory > b.memory * (1 + share);
}

}  // namespace viridian::profile
