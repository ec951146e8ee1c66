#pragma once
// Reads sums of two convolutions that share an input or weights, for factor_convolutions and
// add_before_convolution.
#include "viridian/base/random.hpp"
#include "viridian/rewrite/convolution.hpp"

namespace viridian::rewrite {

struct ConvolutionSum {
    Convolution a, b;

    // Returns the terms of the Add `sum`, if both are convolutions of equal windows, groups and weight
    // extents that nothing else reads.
    static std::optional<ConvolutionSum> of(const Editor& editor, const Node& sum);
};

// Makes a random sum of two convolutions: of one input if `same_input`, else with the same weights.
Graph convolution_sum_instance(Random& random, ElementType element, bool same_input);

}  // namespace viridian::rewrite
