// GridSample of f32 images, nearest and linear: cells and weights of a place once for all channels, places
// shared by the threads. Places are found in double, as the reference finds them.
#include <algorithm>
#include <array>
#include <cmath>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

constexpr std::string_view sampling_family_name = "grid_sample";

enum class SamplingPadding : std::uint8_t { zeros, border, reflection };

struct Taps {
    std::array<std::int64_t, 2> cells{};
    std::array<float, 2> weights{};  // 0: not read
};

struct Sampler {
    SamplingPadding padding = SamplingPadding::zeros;
    bool nearest = false, corners = false;

    // Along one axis of `length` cells, for a coordinate in [−1, 1].
    [[nodiscard]] Taps taps(std::int64_t length, float grid) const {
        const auto extent = static_cast<double>(length);
        const auto coordinate = static_cast<double>(grid);
        double at = corners ? (coordinate + 1) / 2 * (extent - 1) : ((coordinate + 1) * extent - 1) / 2;
        if (!(std::abs(at) < 1e15)) at = -1e15;  // not a number, or far outside
        if (padding == SamplingPadding::reflection) {
            const double low = corners ? 0 : -0.5;
            const double range = corners ? extent - 1 : extent;
            const double turn = range > 0 ? std::fmod(std::abs(at - low), 2 * range) : 0;
            at = low + (turn > range ? 2 * range - turn : turn);
        }
        if (padding != SamplingPadding::zeros) at = std::clamp(at, 0.0, extent - 1);
        const double first = nearest ? std::nearbyint(at) : std::floor(at);
        const double after = nearest ? 0 : at - first;
        Taps taps;
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
            const double cell = first + static_cast<double>(i);
            if (cell < 0 || cell > extent - 1) continue;
            taps.cells[i] = static_cast<std::int64_t>(cell);
            taps.weights[i] = static_cast<float>(i == 0 ? 1 - after : after);
        }
        return taps;
    }
};

std::optional<Sampler> sampler_of(const Task& task) {
    const graph::Node& node = task.node();
    if (task.region.nodes.size() != 1 || node.op != graph::op::GridSample ||
        task.type(node.inputs[0]).element != graph::ElementType::f32 || !task.all_f32())
        return std::nullopt;
    if (!task.input_index(node.input(0)) || task.dims(node.inputs[0]).size() != 4) return std::nullopt;
    if (!task.input_index(node.input(1)) && task.graph.constant(node.input(1)) == nullptr)
        return std::nullopt;
    const std::string mode = node.get("mode", std::string("linear"));
    const std::string padding = node.get("padding_mode", std::string("zeros"));
    Sampler sampler;
    sampler.nearest = mode == "nearest";
    sampler.corners = node.integer("align_corners", 0) != 0;
    if (!sampler.nearest && mode != "linear" && mode != "bilinear") return std::nullopt;
    if (padding == "border")
        sampler.padding = SamplingPadding::border;
    else if (padding == "reflection")
        sampler.padding = SamplingPadding::reflection;
    else if (padding != "zeros")
        return std::nullopt;
    return sampler;
}

std::vector<plan::Choice> offers_sampling(const Task& task) {
    if (!sampler_of(task)) return {};
    return {task.plain_choice(std::string(sampling_family_name))};
}

// The four cells of a place: where they lie in a plane, and what they count.
struct Sample {
    std::array<std::int64_t, 4> cells{};
    std::array<float, 4> weights{};
    int count = 0;

    Sample(const Taps& rows, const Taps& columns, std::int64_t width) {
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
            for (const std::size_t j : {std::size_t{0}, std::size_t{1}}) {
                if (rows.weights[i] == 0 || columns.weights[j] == 0) continue;
                const auto next = static_cast<std::size_t>(count++);
                cells[next] = rows.cells[i] * width + columns.cells[j];
                weights[next] = rows.weights[i] * columns.weights[j];
            }
    }
    [[nodiscard]] float read(const float* plane) const {
        float sum = 0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) sum += weights[i] * plane[cells[i]];
        return sum;
    }
};

Result<Kernel> prepare_sampling(const Task& task, const plan::Choice& choice) {
    const auto sampler = sampler_of(task);
    if (!sampler) return unknown_kernel(choice);
    const graph::Node& node = task.node();
    const std::size_t image = *task.input_index(node.inputs[0]);
    const auto grid = task.input_index(node.inputs[1]);
    const graph::Dims from = task.dims(node.inputs[0]);
    const graph::Dims to = task.dims(node.outputs[0]);
    Kernel kernel;
    if (!grid) kernel.constants.push_back(plain_constant(task, node.inputs[1]));
    kernel.run = [=, sampler = *sampler, threads = task.context.threads](const Pointers& pointers) {
        const auto* source = reinterpret_cast<const float*>(pointers.inputs[image]);
        const auto* places =
            reinterpret_cast<const float*>(grid ? pointers.inputs[*grid] : pointers.constants[0]);
        auto* result = reinterpret_cast<float*>(pointers.outputs[0]);
        const std::int64_t channels = from[1], cells = from[2] * from[3], per_image = to[2] * to[3];
        const auto work_on = [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i) {
                const Sample place(sampler.taps(from[2], places[2 * i + 1]),
                                   sampler.taps(from[3], places[2 * i]), from[3]);
                const float* plane = source + i / per_image * channels * cells;
                float* out = result + i / per_image * channels * per_image + i % per_image;
                for (std::int64_t c = 0; c < channels; ++c, plane += cells, out += per_image)
                    *out = place.read(plane);
            }
        };
        const std::int64_t count = to[0] * per_image;
        if (count * (channels + 4) < 4096) return work_on(0, count);
        in_shares(threads, count, work_on);
    };
    return kernel;
}

}  // namespace

Family grid_sample_family() { return {sampling_family_name, offers_sampling, prepare_sampling}; }

}  // namespace viridian::execute::cpu
