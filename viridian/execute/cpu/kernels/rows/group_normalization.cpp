// InstanceNormalization and GroupNormalization of f32, row-major: each (image, group) is one contiguous row.
#include <algorithm>
#include <cmath>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/simd/elementwise/reduce.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::Node;
using graph::ValueId;

constexpr std::string_view group_normalization_family_name = "simd:groups";

struct Groups {
    std::int64_t rows = 1, channels = 1, plane = 1;  // channels per row; elements per channel
    std::int64_t all_channels = 1;
    double epsilon = 1e-5;
};

std::optional<Groups> groups_of(const Task& task) {
    const Node& node = task.node();
    if (task.region.nodes.size() != 1 || !node.op.domain().empty() || !task.all_f32() ||
        (node.op != graph::op::InstanceNormalization && node.op != graph::op::GroupNormalization) ||
        node.inputs.size() != 3 || !task.input_index(node.inputs[0]))
        return std::nullopt;
    const Dims dims = task.dims(node.inputs[0]);
    if (dims.size() < 2 || std::ranges::count(dims, 0) > 0) return std::nullopt;
    for (std::size_t i = 1; i < 3; ++i)
        if (node.inputs[i] == ValueId::none || task.dims(node.inputs[i]) != Dims{dims[1]})
            return std::nullopt;
    const std::int64_t groups =
        node.op == graph::op::GroupNormalization ? node.integer("num_groups", 1) : dims[1];
    if (groups < 1 || dims[1] % groups != 0) return std::nullopt;
    Groups result{dims[0] * groups, dims[1] / groups, 1, dims[1], node.get("epsilon", 1e-5)};
    for (std::size_t d = 2; d < dims.size(); ++d) result.plane *= dims[d];
    return result;
}

std::vector<plan::Choice> offers_group_normalization(const Task& task) {
    if (!groups_of(task)) return {};
    return {task.plain_choice(std::string(group_normalization_family_name))};
}

Result<Kernel> prepare_group_normalization(const Task& task, const plan::Choice& choice) {
    const auto groups = groups_of(task);
    if (!groups) return unknown_kernel(choice);
    const Node& node = task.node();
    Kernel kernel;
    const std::size_t source = *task.input_index(node.inputs[0]);
    struct Operand {
        bool constant;
        std::size_t index;
    };
    const auto operand = [&](ValueId id) -> Operand {
        if (const auto input = task.input_index(id)) return {false, *input};
        kernel.constants.push_back(plain_constant(task, id));
        return {true, kernel.constants.size() - 1};
    };
    const Operand scales = operand(node.inputs[1]), shifts = operand(node.inputs[2]);
    kernel.run = [=, g = *groups, threads = task.context.threads](const Pointers& pointers) {
        const auto read = [&](const Operand& from) {
            return reinterpret_cast<const float*>(from.constant ? pointers.constants[from.index]
                                                                : pointers.inputs[from.index]);
        };
        const float* scale = read(scales);
        const float* shift = read(shifts);
        const std::int64_t length = g.channels * g.plane;
        const auto work_on = [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t row = first; row < last; ++row) {
                const float* x = reinterpret_cast<const float*>(pointers.inputs[source]) + row * length;
                float* y = reinterpret_cast<float*>(pointers.outputs[0]) + row * length;
                const auto n = static_cast<double>(length);
                // Elements are centred before they are scaled. If the variance is 0, x·factor − mean·factor
                // is the difference of two numbers 316 times as large as x (1 / √ε): all of it is rounding.
                const auto centre = static_cast<float>(simd::fold_row(simd::Fold::sum, 0, x, length) / n);
                const simd::Deviations apart = simd::deviations(x, centre, length);
                const double rest = apart.sum / n;  // from the centre to the mean
                const double variance = std::max(apart.squares / n - rest * rest, 0.0);
                const double inverse = 1 / std::sqrt(variance + g.epsilon);
                for (std::int64_t c = 0; c < g.channels; ++c) {
                    const std::int64_t channel = (row * g.channels + c) % g.all_channels;
                    const double factor = inverse * static_cast<double>(scale[channel]);
                    simd::centred_affine(
                        y + c * g.plane, x + c * g.plane, centre, static_cast<float>(factor),
                        static_cast<float>(static_cast<double>(shift[channel]) - rest * factor), g.plane);
                }
            }
        };
        if (g.rows * length < 16384) return work_on(0, g.rows);
        in_shares(threads, g.rows, work_on);
    };
    return kernel;
}

}  // namespace

Family group_normalization_family() {
    return {group_normalization_family_name, offers_group_normalization, prepare_group_normalization};
}

}  // namespace viridian::execute::cpu
