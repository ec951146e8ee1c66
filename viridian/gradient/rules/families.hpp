#pragma once
// Lists the families of gradient rules. To add a rule, add it to the file of its family; to add a family,
// write rules/<family>.cpp, declare it here and list it in rules.cpp.
#include "viridian/gradient/rule.hpp"

namespace viridian::gradient {

[[nodiscard]] std::vector<Rule> unary_rules();
[[nodiscard]] std::vector<Rule> arithmetic_rules();
[[nodiscard]] std::vector<Rule> matrix_rules();
[[nodiscard]] std::vector<Rule> convolution_rules();
[[nodiscard]] std::vector<Rule> pooling_rules();
[[nodiscard]] std::vector<Rule> softmax_rules();
[[nodiscard]] std::vector<Rule> normalization_rules();
[[nodiscard]] std::vector<Rule> local_normalization_rules();
[[nodiscard]] std::vector<Rule> batch_norm_rules();
[[nodiscard]] std::vector<Rule> activation_rules();
[[nodiscard]] std::vector<Rule> movement_rules();
[[nodiscard]] std::vector<Rule> padding_rules();
[[nodiscard]] std::vector<Rule> gather_rules();
[[nodiscard]] std::vector<Rule> reduction_rules();
[[nodiscard]] std::vector<Rule> loss_rules();
[[nodiscard]] std::vector<Rule> dropout_rules();
[[nodiscard]] std::vector<Rule> rotary_rules();

}  // namespace viridian::gradient
