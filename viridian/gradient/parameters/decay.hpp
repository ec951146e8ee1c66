#pragma once
// Decides which parameters are drawn towards zero by weight decay. Usually the matrices and filters are, and
// biases and the scales of normalisations are not (Goyal et al., "Accurate, Large Minibatch SGD", 2017,
// section 5.3, for the latter; the parameter groups of nanoGPT and Hugging Face's Trainer for both).
#include <span>
#include <string>
#include <string_view>

#include "viridian/base/result.hpp"

namespace viridian::gradient {

// A DecayRule is one `PATTERN=DECAY`: the decay of all parameters whose name the pattern matches.
struct DecayRule {
    std::string pattern;
    double decay = 0;
};
// Errors: invalid_argument (no `=`, a pattern with an open set or without text, a decay that is negative
// or not finite).
[[nodiscard]] Result<DecayRule> parse_decay_rule(std::string_view text);

// The decay of one parameter, and the sentence that says why.
struct Decay {
    double value = 0;
    std::string reason;  // "its name ends in `bias`"
};
// Returns the decay of the parameter `name` of `rank` dimensions. The last rule that matches the name
// decides. Without one the decay is 0 if the parameter has fewer than two dimensions, if the last part of its
// name is bias, beta, gamma or scale, or if a part names a normalisation (norm, bn, ln); otherwise it is
// `usual`. Dots and slashes divide a name into parts.
[[nodiscard]] Decay decay_of(std::string_view name, std::int64_t rank, double usual,
                             std::span<const DecayRule> rules);

}  // namespace viridian::gradient
