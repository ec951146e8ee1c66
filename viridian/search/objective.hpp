#pragma once
// What to minimise (docs/method.md, 2), and the small language users say it in:
//
//     objective   = (sum | product) [ "@" limit ]
//     sum         = [coefficient "*"] metric { "+" [coefficient "*"] metric }
//     product     = metric "^" factor { "*" metric "^" factor }
//     limit       = metric "<=" factor "x"
//     metric      = "time" | "energy" | "power" | "flop" | "bytes" | "kernels"
//     coefficient = factor { ("*"|"/") factor }
//     factor      = digits | "-" factor | "(" constant ")"
//     constant    = coefficient { ("+"|"-") coefficient }
//
// Each metric once; no coefficient or exponent below 0, and not all 0; limits above 0.
// One metric alone is in its own unit. In sums of several, in products and limits every metric is divided by
// that of the starting plan, which so has value 1 when coefficients or exponents add up to 1. `power` alone
// means `power @ time<=3x`: the least power is that of the slowest kernels.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "viridian/base/result.hpp"
#include "viridian/search/metrics.hpp"

namespace viridian::search {

enum class Metric { time, energy, power, flop, bytes, kernels };

[[nodiscard]] std::string_view name_of(Metric metric);
[[nodiscard]] double measure(Metric metric, const Metrics& totals);  // s, J, W, flop, bytes, launches
void add_weight(Weights& weights, Metric metric, double weight);     // any but power, which is not additive

struct Objective {
    enum class Form { sum, product } form = Form::sum;
    struct Term {
        Metric metric = Metric::time;
        double factor = 1;  // coefficient in a sum, exponent in a product
    };
    struct Limit {
        Metric metric = Metric::time;
        double factor = 1;  // times the starting plan's
    };
    std::vector<Term> terms = {{}};
    std::optional<Limit> limit;

    [[nodiscard]] bool uses(Metric metric) const;  // in its value or its limit
    // One assignment problem under fixed weights.
    [[nodiscard]] bool additive() const;
    [[nodiscard]] bool needs_start() const {
        return terms.size() > 1 || form == Form::product || limit.has_value();
    }
    // Of a plan with these totals; limits apart.
    [[nodiscard]] double value(const Metrics& totals, const Metrics& start) const;
    [[nodiscard]] bool within_limit(const Metrics& totals, const Metrics& start) const;
    // Of an additive objective.
    [[nodiscard]] Weights weights(const Metrics& start) const;
};

[[nodiscard]] std::string text(const Objective& objective);
// The additive metrics that decide its value and limit, each once; power counts as time and energy.
[[nodiscard]] std::vector<Metric> weighed(const Objective& objective);
// Errors: invalid_argument, with a caret under the place.
[[nodiscard]] Result<Objective> parse_objective(std::string_view text);

}  // namespace viridian::search
