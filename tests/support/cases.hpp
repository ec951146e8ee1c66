#pragma once
#include <concepts>

namespace viridian {

// How many random cases a test tries: `all` in an optimised build; with sanitizers, which make each of them
// take many times as long, one in eight. Tests count up from the same seed, so those are the first ones.
template <std::integral Number>
constexpr Number cases(Number all) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return (all + 7) / 8;
#endif
#endif
    return all;
}

}  // namespace viridian
