#pragma once
// Reads sums of two convolutions, for the rules factor_convolutions and add_before_convolution. The rules
// themselves check that the two share an input or weights.
#include "viridian/base/random.hpp"
#include "viridian/rewrite/convolution.hpp"

namespace viridian::rewrite {

struct ConvolutionSum {
    Convolution a, b;

    // Returns the terms of `sum` if it is an Add of two convolutions that nothing else reads, and if they
    // have equal windows, groups and weight extents.
    static std::optional<ConvolutionSum> of(const Editor& editor, const Node& sum);
};

// Makes a random sum of two convolutions: of one input if `same_input`, else with the same weights.
Graph convolution_sum_instance(Random& random, ElementType element, bool same_input);

}  // namespace viridian::rewrite
