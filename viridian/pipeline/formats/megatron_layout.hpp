#pragma once
// Reads and writes Megatron-LM's pipeline layout string: `E` embedding, `t` decoder layer, `m` multi-token
// prediction, `L` loss; `|` ends a stage; `x*n` and `(…)*n` repeat; commas mean nothing.
// `Et*2|(t*2|)*34,t*2|mL` has 37 stages.
#include <string>
#include <string_view>
#include <vector>

#include "viridian/base/result.hpp"

namespace viridian::pipeline {

// Returns the layers of each stage, one letter per layer. Errors: malformed, limit_exceeded (more than a
// million layers).
[[nodiscard]] Result<std::vector<std::string>> read_megatron_layout(std::string_view text);
// Returns the layout string of `stages`. Equal neighbouring layers become `t*2`. Equal neighbouring
// stages become `(t*2|)*34`; the last stage always stands by itself, because no `|` follows it.
[[nodiscard]] std::string write_megatron_layout(const std::vector<std::string>& stages);

}  // namespace viridian::pipeline
