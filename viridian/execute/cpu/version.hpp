#pragma once
// Our own kernels' version, a part of every price's key: no warm database hides a kernel that came later, or
// keeps the price of one that changed.
#include <cstdint>

namespace viridian::execute::cpu {

constexpr int kernels_version = 14;

// Of the kernels' sources, by which tests/execute/version_test.cpp notices that they changed.
constexpr std::uint64_t kernels_hash = 0x1492d04519bc81a9;

}  // namespace viridian::execute::cpu
