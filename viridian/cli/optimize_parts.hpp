#pragma once
// Steps that `optimize` takes the same way whether prices are measured or recorded.
#include "viridian/cost/recording.hpp"
#include "viridian/rewrite/certificate.hpp"
#include "viridian/search/hull.hpp"

namespace viridian::cli {

void append(rewrite::Certificate& certificate, rewrite::Certificate more);

// The rules that do more than fold constants and shapes, and those in `without`.
[[nodiscard]] std::vector<std::string> all_but_folding(const std::vector<std::string>& without);

// Constants and shapes folded, and no more, by rules that are not in `without`: the graph whose first kernels
// the plan is compared with.
[[nodiscard]] Result<graph::Graph> fold(const graph::Graph& original, const std::vector<std::string>& without,
                                        rewrite::Certificate& certificate);

[[nodiscard]] Json rewrites_json(const rewrite::Certificate& certificate);

// Every best trade of time against energy on this graph, as `frontier` of the result.
[[nodiscard]] Result<Json> frontier_of(const graph::Graph& graph, const cost::Source& source,
                                       const search::AssignOptions& solver);

// The file that `--record` writes: a line per region, so that changes can be read.
[[nodiscard]] std::string to_text(const cost::Recording& recording);

}  // namespace viridian::cli
