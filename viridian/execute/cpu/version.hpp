#pragma once
// The version of our own kernels is part of every price's key, so that no database hides a kernel that came
// later or keeps the price of one that changed.
#include <string_view>

namespace viridian::execute::cpu {

// Returns a hash of the folders cpu/kernels and cpu/simd without comments and white space ("bd7501f1cc27"),
// which the build computes (cmake/code_hash.cmake).
[[nodiscard]] std::string_view kernels_version();

}  // namespace viridian::execute::cpu
