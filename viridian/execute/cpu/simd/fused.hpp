#pragma once
// Epilogue of our convolutions and products: what the micro-kernel does as it stores (a residual, then a
// clip), or, for anything else, a chain over what was just stored.
#include "viridian/execute/cpu/simd/operands.hpp"

namespace viridian::execute::cpu::simd {

struct Fused {
    std::optional<std::size_t> added;  // region input of full size, in the result's layout
    bool clip = false;
    float low = 0, high = 0;
    std::optional<Chain> chain;

    // Packs what it needs behind `constants`. Nothing where it cannot be.
    static std::optional<Fused> make(const Task& task, const std::vector<Step>& steps,
                                     const graph::Dims& dims, const plan::Layout& layout,
                                     std::vector<Packed>& constants);
};

// Offers `choice` with the residual's buffer overwritten where it dies, and without.
void offer_with_residual(const Task& task, const std::vector<Step>& steps, const graph::Dims& dims,
                         plan::Choice choice, std::vector<plan::Choice>& to);

}  // namespace viridian::execute::cpu::simd
