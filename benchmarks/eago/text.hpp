#pragma once
// Rows and numbers of Markdown tables.
#include <string>
#include <vector>

#include "study.hpp"

namespace viridian::eago {

[[nodiscard]] std::string line(const std::vector<std::string>& cells);   // | a | b |
[[nodiscard]] std::string head(const std::vector<std::string>& titles);  // with its rule
[[nodiscard]] std::string digits(double value);                          // three that matter
// "0.74 × 0.85 × 0.63 ×": time, power and energy relative to `base`.
[[nodiscard]] std::string relative(const Figures& figures, const Figures& base);
// Rows with figures predicted, run where they were, and the paper's.
[[nodiscard]] std::string rows_table(const std::vector<Row>& rows, const std::vector<Figures>& paper);

// Kendall's tau of two rankings; ties count for neither.
[[nodiscard]] double kendall(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace viridian::eago
