#pragma once
// Reads and writes Megatron-LM's pipeline layout string: `E` embedding, `t` decoder layer, `m` multi-token
// prediction, `L` loss; `|` ends a stage; `x*n` and `(…)*n` repeat; commas mean nothing.
// `Et*2|(t*2|)*34,t*2|mL` has 36 stages.
#include <string>
#include <string_view>
#include <vector>

#include "viridian/base/result.hpp"

namespace viridian::pipeline {

// The layers of each stage, one letter each. Errors: malformed, limit_exceeded (more than a million layers).
[[nodiscard]] Result<std::vector<std::string>> read_megatron_layout(std::string_view text);
// The layout string in which equal layers are `t*2`, and equal neighbouring stages `(t*2|)*34`.
[[nodiscard]] std::string write_megatron_layout(const std::vector<std::string>& stages);

}  // namespace viridian::pipeline
