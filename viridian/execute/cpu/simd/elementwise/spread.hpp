#pragma once
// A Spread reads an operand that broadcasts in the memory order of the result, chunk by chunk. Elements
// that repeat are copied out.
#include <algorithm>
#include <optional>

#include "viridian/plan/format.hpp"

namespace viridian::execute::cpu::simd {

class Spread {
  public:
    // Spreads a row-major operand of dims `own` over a result of `dims` in a dense `layout`. `own` may begin
    // with extents of one that `dims` lacks. Returns nothing if `own` has more dims otherwise, or if blocks
    // of the result would read beyond the operand's end.
    static std::optional<Spread> make(graph::Dims own, const graph::Dims& dims, const plan::Layout& layout);

    // Returns elements [first, first + n) of the result's memory: where they lie, or copied into `scratch`.
    template <class T>
    const T* chunk(const T* data, std::int64_t first, std::int64_t n, T* scratch) const {
        if (loops_.size() == 1 && loops_[0].stride == 1) return data + first;
        const Loop& inner = loops_.back();
        for (std::int64_t done = 0; done < n;) {
            std::int64_t position = first + done;
            const std::int64_t at = position % inner.size;
            std::int64_t offset = at * inner.stride;
            position /= inner.size;
            for (std::size_t l = loops_.size() - 1; l-- > 0;) {
                offset += position % loops_[l].size * loops_[l].stride;
                position /= loops_[l].size;
            }
            const std::int64_t run = std::min(inner.size - at, n - done);
            const T* from = data + offset;
            if (run == n && inner.stride == 1) return from;
            if (const std::int64_t times = at == 0 ? repeats(first + done, n - done) : 0; times > 1) {
                for (std::int64_t i = 0; i < times; ++i)
                    std::copy_n(from, repeated, scratch + done + i * repeated);
                done += times * repeated;
                continue;
            }
            if (inner.stride == 1)
                std::copy_n(from, run, scratch + done);
            else if (inner.stride == 0)
                std::fill_n(scratch + done, run, *from);
            else
                for (std::int64_t i = 0; i < run; ++i) scratch[done + i] = from[i * inner.stride];
            done += run;
        }
        return scratch;
    }

  private:
    // `repeated` is the length of a block of channels that is the same for every pixel. Such blocks are
    // copied with a length that the compiler knows.
    static constexpr std::int64_t repeated = 16;

    // Returns how often the innermost `repeated` elements of the operand follow each other within the next
    // `n` elements. `position` is at the first of them. Returns 0 if the operand is not of this kind.
    [[nodiscard]] std::int64_t repeats(std::int64_t position, std::int64_t n) const {
        if (loops_.size() < 2 || loops_.back().stride != 1 || loops_.back().size != repeated) return 0;
        const Loop& outer = loops_[loops_.size() - 2];
        if (outer.stride != 0) return 0;
        return std::min(outer.size - position / repeated % outer.size, n / repeated);
    }

    struct Loop {
        std::int64_t size,
            stride;  // memory order, outermost first; stride in the operand, 0 where it repeats
    };
    std::vector<Loop> loops_;
};

}  // namespace viridian::execute::cpu::simd
