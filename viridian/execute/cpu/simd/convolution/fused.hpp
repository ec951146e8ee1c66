#pragma once
// Applies the epilogue of our convolutions and products. The micro-kernel itself adds a residual and clips
// as it stores; any other epilogue is a chain of element-wise steps over what was just stored.
#include "viridian/execute/cpu/simd/elementwise/chain.hpp"

namespace viridian::execute::cpu::simd {

// A Fused is an epilogue in this form.
struct Fused {
    std::optional<std::size_t> added;  // region input of full size, in the result's layout
    bool clip = false;
    float low = 0, high = 0;
    std::optional<Chain> chain;

    // Makes the form of `steps` for results of `dims` in `layout`. Packs the constants that the steps need
    // behind `constants`. Returns nothing if a step cannot be done.
    static std::optional<Fused> make(const Task& task, const std::vector<EpilogueStep>& steps,
                                     const graph::Dims& dims, const plan::Layout& layout,
                                     std::vector<Packed>& constants);
};

// Appends `choice` to `to`. If the residual of `steps` dies, also appends, before it, a choice that
// overwrites the buffer of the residual.
void offer_with_residual(const Task& task, const std::vector<EpilogueStep>& steps, const graph::Dims& dims,
                         plan::Choice choice, std::vector<plan::Choice>& to);

}  // namespace viridian::execute::cpu::simd
