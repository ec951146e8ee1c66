#pragma once
// The paper's tables as Markdown, its own numbers beside ours.
#include "study.hpp"

namespace viridian::eago {

struct Network {
    std::string name;       // of the zoo
    std::size_t paper = 0;  // its place in Table 3
};
inline const std::vector<Network> networks = {{"squeezenet1_1", 0}, {"inception_v3", 1}, {"resnet50", 2}};

// Three convolutions, each by every kernel there is.
[[nodiscard]] Result<std::string> table_one(Laboratory& laboratory);
// Graphs of one search: predicted and run.
[[nodiscard]] Result<std::string> table_two(Laboratory& laboratory, Study& study);
// Objectives on one network; searches for all of them.
[[nodiscard]] Result<std::string> table_three(Laboratory& laboratory, Study& study, const Network& network);
[[nodiscard]] Result<std::string> table_four(Laboratory& laboratory, Study& study);
[[nodiscard]] Result<std::string> table_five(Laboratory& laboratory, Study& study);

}  // namespace viridian::eago
