#include "viridian/execute/cpu/simd/elementwise/spread.hpp"

namespace viridian::execute::cpu::simd {
namespace {

using graph::Dims;

// The memory of a dense layout as nested loops: (logical dimension, step along it, size), outermost first.
struct MemoryLoop {
    std::size_t dimension;
    std::int64_t step, size;
};

std::vector<MemoryLoop> memory_loops(const plan::Layout& layout, const Dims& dims) {
    std::vector<MemoryLoop> loops;
    std::vector<std::int64_t> tile(dims.size(), 1);
    for (const auto& block : layout.blocks) tile[block.dimension] *= block.size;
    for (const std::uint8_t d : layout.order)
        loops.push_back({d, tile[d], (dims[d] + tile[d] - 1) / tile[d]});
    for (const auto& block : layout.blocks) {
        tile[block.dimension] /= block.size;
        loops.push_back({block.dimension, tile[block.dimension], block.size});
    }
    return loops;
}

}  // namespace

std::optional<Spread> Spread::make(Dims own, const Dims& dims, const plan::Layout& layout) {
    while (own.size() > dims.size() && own.front() == 1) own.erase(own.begin());  // Clip's bounds may be [1]
    if (own.size() > dims.size()) return std::nullopt;
    own.insert(own.begin(), dims.size() - own.size(), 1);
    for (const auto& block : layout.blocks)
        if (own[block.dimension] != 1 && own[block.dimension] % block.size != 0) return std::nullopt;
    Spread spread;
    const auto strides = plan::strides_of(plan::plain(own.size()), own);
    for (const MemoryLoop& loop : memory_loops(layout, dims)) {
        const std::int64_t stride = own[loop.dimension] == 1 ? 0 : strides[loop.dimension] * loop.step;
        if (loop.size == 1) continue;
        // Loops that continue each other are one.
        if (!spread.loops_.empty() && spread.loops_.back().stride == stride * loop.size) {
            spread.loops_.back().size *= loop.size;
            spread.loops_.back().stride = stride;
        } else {
            spread.loops_.push_back({loop.size, stride});
        }
    }
    if (spread.loops_.empty()) spread.loops_.push_back({1, 0});
    return spread;
}

}  // namespace viridian::execute::cpu::simd
