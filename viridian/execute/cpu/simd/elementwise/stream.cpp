#include "viridian/execute/cpu/simd/elementwise/stream.hpp"

#include <hwy/cache_control.h>
#include <algorithm>
#include <cstring>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/elementwise/stream.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
constexpr std::int64_t line = 64;

// Streaming stores cover whole lines, because flushing a line of which a part was stored costs more. Ordinary
// stores write both ends.
void stream_lines(const std::byte* from, std::byte* to, std::int64_t bytes) {
    const hn::CappedTag<std::uint8_t, line> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % line);
    const std::int64_t head = std::min(bytes, (line - past) % line);
    std::memcpy(to, from, static_cast<std::size_t>(head));
    std::int64_t i = head;
    for (; i + line <= bytes; i += line)
        for (std::int64_t k = i; k < i + line; k += lanes)
            hn::Stream(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + k)), d,
                       reinterpret_cast<std::uint8_t*>(to + k));
    std::memcpy(to + i, from + i, static_cast<std::size_t>(bytes - i));
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(stream_lines);

void stream(const std::byte* from, std::byte* to, std::int64_t bytes) {
    HWY_DYNAMIC_DISPATCH(stream_lines)(from, to, bytes);
}
void finish_stream() { hwy::FlushStream(); }

}  // namespace viridian::execute::cpu::simd
#endif
