#include "viridian/execute/cpu/simd/operands.hpp"

#include <algorithm>

#include "viridian/execute/cpu/simd/loops.hpp"

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

std::optional<Chain> Chain::make(const Task& task, const std::vector<Step>& steps, const Dims& dims,
                                 const plan::Layout& layout, std::vector<Packed>& constants) {
    Chain chain;
    for (const Step& step : steps) {
        Link link{step, Link::From::none, 0, false, {}};
        if (is_binary(step.function)) {
            if (step.function == Function::pow) return std::nullopt;
            Dims own = task.dims(step.operand);
            const auto input = task.input_index(step.operand);
            link.whole = input && own == dims;
            if (input) {
                link.from = Link::From::input;
                link.index = *input;
            } else {
                link.from = Link::From::constant;
                link.index = constants.size();
                constants.push_back(plain_constant(task, step.operand));
            }
            if (!link.whole) {
                own.insert(own.begin(), dims.size() - own.size(), 1);
                // Padding of a split dimension would be read beyond the operand's end.
                for (const auto& block : layout.blocks)
                    if (own[block.dimension] != 1 && own[block.dimension] % block.size != 0)
                        return std::nullopt;
                const auto strides = plan::strides_of(plan::plain(own.size()), own);
                for (const MemoryLoop& loop : memory_loops(layout, dims)) {
                    const std::int64_t stride =
                        own[loop.dimension] == 1 ? 0 : strides[loop.dimension] * loop.step;
                    if (loop.size == 1) continue;
                    // Loops that continue each other are one.
                    if (!link.loops.empty() && link.loops.back().stride == stride * loop.size) {
                        link.loops.back().size *= loop.size;
                        link.loops.back().stride = stride;
                    } else {
                        link.loops.push_back({loop.size, stride});
                    }
                }
                if (link.loops.empty()) link.loops.push_back({1, 0});
            }
        }
        chain.links_.push_back(std::move(link));
    }
    return chain;
}

void Chain::spread(const Link& link, const float* data, std::int64_t first, std::int64_t n, float* to) {
    const Loop& inner = link.loops.back();
    std::int64_t done = 0;
    while (done < n) {
        std::int64_t position = first + done;
        const std::int64_t at = position % inner.size;
        std::int64_t offset = at * inner.stride;
        position /= inner.size;
        for (std::size_t l = link.loops.size() - 1; l-- > 0;) {
            offset += position % link.loops[l].size * link.loops[l].stride;
            position /= link.loops[l].size;
        }
        const std::int64_t run = std::min(inner.size - at, n - done);
        const float* from = data + offset;
        if (inner.stride == 1)
            std::copy_n(from, run, to + done);
        else if (inner.stride == 0)
            std::fill_n(to + done, run, *from);
        else
            for (std::int64_t i = 0; i < run; ++i) to[done + i] = from[i * inner.stride];
        done += run;
    }
}

void Chain::run(const Pointers& pointers, const float* from, float* to, std::int64_t first, std::int64_t n,
                float* scratch) const {
    for (const Link& link : links_) {
        const float* operand = nullptr;
        if (link.from != Link::From::none) {
            const std::byte* memory =
                link.from == Link::From::input ? pointers.inputs[link.index] : pointers.constants[link.index];
            operand = reinterpret_cast<const float*>(memory);
            if (link.whole) {
                operand += first;
            } else if (link.loops.size() == 1 && link.loops[0].stride == 1) {
                operand += first;
            } else {
                spread(link, operand, first, n, scratch);
                operand = scratch;
            }
        }
        apply(link.step, to, from, operand, n);
        from = to;
    }
}

}  // namespace viridian::execute::cpu::simd
