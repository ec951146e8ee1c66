#pragma once
// Recognises pooling of concatenations along images or channels, for concat_before_pool and
// pool_before_concat.
#include "viridian/base/random.hpp"
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

// Returns whether `node` is a MaxPool, AveragePool, GlobalAveragePool or GlobalMaxPool of one output.
[[nodiscard]] bool is_pooling(const Node& node);

// Returns whether the Concat `joined` joins images or channels, which no window of pooling spans.
[[nodiscard]] bool joins_images_or_channels(const Editor& editor, const Node& joined);

// Makes a random pooling of a concatenation, or a concatenation of pooled parts if `pools_first`.
Graph pooled_concat_instance(Random& random, ElementType element, bool pools_first);

}  // namespace viridian::rewrite
