#include "viridian/plan/arena.hpp"

#include <algorithm>
#include <numeric>

namespace viridian::plan {

namespace {

constexpr std::int64_t whole_lines(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

std::int64_t place(std::vector<Lifetime>& lifetimes) {
    std::vector<std::size_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
    std::int64_t arena = 0;
    std::vector<std::size_t> placed;  // by offset
    for (const std::size_t i : order) {
        Lifetime& buffer = lifetimes[i];
        const std::int64_t size = whole_lines(buffer.bytes);
        std::int64_t offset = 0;
        for (const std::size_t j : placed) {
            const Lifetime& other = lifetimes[j];
            if (other.last < buffer.first || buffer.last < other.first) continue;
            if (offset + size <= other.offset) break;
            offset = std::max(offset, other.offset + whole_lines(other.bytes));
        }
        buffer.offset = offset;
        arena = std::max(arena, offset + size);
        placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                       [&](std::size_t a, std::size_t b) {
                                           return lifetimes[a].offset < lifetimes[b].offset;
                                       }),
                      i);
    }
    return arena;
}

std::int64_t conversion_workspace(const Format& from, const Format& to, const graph::Dims& dims) {
    std::int64_t bytes = 0;
    for (const Format* side : {&from, &to})
        if (side->element == graph::ElementType::bf16 && from.layout != to.layout)
            bytes += whole_lines(2 * buffer_bytes(*side, dims));
    return bytes;
}

}  // namespace viridian::plan
