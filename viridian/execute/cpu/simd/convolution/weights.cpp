#include "viridian/execute/cpu/simd/convolution/weights.hpp"

#include <algorithm>

namespace viridian::execute::cpu::simd {

Packed pack_weights(const Task& task, graph::ValueId id, const Groups& groups, std::int64_t taps,
                    std::int64_t channels, const std::string& how,
                    const std::function<float(std::int64_t, std::int64_t, std::int64_t)>& weight) {
    const std::int64_t per_block = taps * channels * 16;
    const std::string key =
        fmt::format("{:x} {} {} columns", task.graph.constant(id)->content_hash(), how, groups.columns);
    return task.context.packed->find_or_make(
        key, static_cast<std::size_t>(groups.blocks() * per_block * 4), [&](std::byte* bytes) {
            auto* to = reinterpret_cast<float*>(bytes);
            for (std::int64_t g = 0; g < groups.count(); ++g) {
                const std::int64_t lanes = groups.width(g) * 16;
                const std::int64_t first = g * groups.columns * 16;
                for (std::int64_t t = 0; t < taps; ++t)
                    for (std::int64_t c = 0; c < channels; ++c)
                        for (std::int64_t lane = 0; lane < lanes; ++lane, ++to)
                            *to = first + lane < groups.channels ? weight(first + lane, c, t) : 0.0F;
            }
        });
}

Packed pack_bf16_weights(const Task& task, graph::ValueId id, const Groups& groups, std::int64_t taps,
                         std::int64_t channels, const std::string& how,
                         const std::function<float(std::int64_t, std::int64_t, std::int64_t)>& weight) {
    const std::int64_t per_block = taps * ((channels + 1) / 2) * 32;
    const std::string key =
        fmt::format("{:x} bf16 {} {} columns", task.graph.constant(id)->content_hash(), how, groups.columns);
    return task.context.packed->find_or_make(
        key, static_cast<std::size_t>(groups.blocks() * per_block * 2), [&](std::byte* bytes) {
            auto* to = reinterpret_cast<std::uint16_t*>(bytes);
            for (std::int64_t g = 0; g < groups.count(); ++g) {
                const std::int64_t lanes = groups.width(g) * 16;
                const std::int64_t first = g * groups.columns * 16;
                for (std::int64_t t = 0; t < taps; ++t)
                    for (std::int64_t pair = 0; pair < channels; pair += 2)
                        for (std::int64_t lane = 0; lane < lanes; ++lane)
                            for (std::int64_t c = pair; c < pair + 2; ++c, ++to) {
                                const bool there = first + lane < groups.channels && c < channels;
                                *to =
                                    there ? graph::to_bfloat16(weight(first + lane, c, t)) : std::uint16_t{0};
                            }
            }
        });
}

Packed pack_bias(const Task& task, graph::ValueId id, const Groups& groups) {
    const auto values = task.graph.constant(id)->values<float>();
    return task.context.packed->find_or_make(
        fmt::format("bias {:x}", task.graph.constant(id)->content_hash()),
        static_cast<std::size_t>(groups.blocks() * 64),
        [&](std::byte* bytes) { std::ranges::copy(values, reinterpret_cast<float*>(bytes)); });
}

}  // namespace viridian::execute::cpu::simd
