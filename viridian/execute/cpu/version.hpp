#pragma once
// The version of our own kernels is part of every price's key, so that no database hides a kernel that came
// later or keeps the price of one that changed.
#include <cstdint>

namespace viridian::execute::cpu {

constexpr int kernels_version = 14;

// A hash of the folders cpu/kernels and cpu/simd without comments and white space, by which
// tests/execute/version_test.cpp notices a change.
constexpr std::uint64_t kernels_hash = 0xfd20e5baa1d196cd;

}  // namespace viridian::execute::cpu
