#include "viridian/profile/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "viridian/graph/infer.hpp"

namespace viridian::profile {
namespace {

constexpr std::int64_t side = 256;  // of the matrices: three of 256 KiB
constexpr double probe_flop = 2.0 * side * side * side;
const graph::Dims probe_tensor = {1, 64, 56, 56};
constexpr double probe_bytes = 2.0 * 4 * 64 * 56 * 56;

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
    const execute::TimingProtocol protocol = {0.01, Seconds(8e-3), 9, true};
    if (!arithmetic_) {
        VIRIDIAN_TRY(graph::Graph graph, product());
        plan::Region region = plan::make_region(graph, graph::uses(graph), {graph.nodes().front()});
        arithmetic_.emplace(Arithmetic{std::move(graph), std::move(region), std::nullopt});
        VIRIDIAN_TRY(const auto choices, device_.choices(arithmetic_->graph, arithmetic_->region));
        if (!choices.empty()) arithmetic_->choice = choices.front();
    }
    if (!arithmetic_->choice) return {};
    VIRIDIAN_TRY(const execute::Timing arithmetic,
                 device_.time(arithmetic_->graph, arithmetic_->region, *arithmetic_->choice, protocol));
    const plan::Format plain{plan::plain(probe_tensor.size()), graph::ElementType::f32, {}};
    const plan::Format blocked{plan::channels_last(probe_tensor.size()), graph::ElementType::f32, {}};
    VIRIDIAN_TRY(const execute::Timing memory,
                 device_.time_conversion(probe_tensor, plain, blocked, protocol));
    last_ = {arithmetic.median, memory.median};
    return {};
}

Result<void> Calibration::settle() {
    constexpr std::size_t least_looks = 5, most_looks = 20;
    constexpr std::ptrdiff_t enough = 3;
    constexpr double agreement = 0.04;
    std::vector<cost::ProbeTimes> looks;
    cost::ProbeTimes least{Seconds(1e30), Seconds(1e30)};
    while (looks.size() < most_looks) {
        VIRIDIAN_TRY(look());
        if (!last_.known()) return {};
        looks.push_back(last_);
        least = {std::min(least.arithmetic, last_.arithmetic), std::min(least.memory, last_.memory)};
        const auto agree = std::ranges::count_if(
            looks, [&](const cost::ProbeTimes& seen) { return alike(seen, least, agreement); });
        if (looks.size() >= least_looks && agree >= enough) break;
    }
    last_ = least;
    return {};
}

double Drift::factor(const Work& work) const {
    if (!then.known() || !now.known() || then == now) return 1;
    const double arithmetic = work.flop / probe_flop * then.arithmetic.value;
    const double memory = work.bytes / probe_bytes * then.memory.value;
    const double share = arithmetic + memory > 0 ? memory / (arithmetic + memory) : 0.5;
    return std::clamp((1 - share) * (now.arithmetic / then.arithmetic) + share * (now.memory / then.memory),
                      1 / limit, limit);
}

bool alike(const cost::ProbeTimes& a, const cost::ProbeTimes& b, double share) {
    if (!a.known() || !b.known()) return true;
    const auto near = [&](Seconds x, Seconds y) { return std::abs(std::log(x / y)) <= std::log1p(share); };
    return near(a.arithmetic, b.arithmetic) && near(a.memory, b.memory);
}

}  // namespace viridian::profile
