#pragma once
// Defines what to minimise (docs/method.md, 2), and the small language in which users say it:
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
// Each metric may occur once; no coefficient or exponent is below 0, and not all are 0; limits are above 0.
// One metric alone is in its own unit. In sums of several, in products and in limits every metric is divided
// by that of the starting plan, which therefore has value 1 if coefficients or exponents add up to 1. `power`
// alone means `power @ time<=3x`, because the least power is that of the slowest kernels.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "viridian/base/result.hpp"
#include "viridian/search/metrics.hpp"

namespace viridian::search {

enum class Metric { time, energy, power, flop, bytes, kernels };

[[nodiscard]] std::string_view name_of(Metric metric);
// These are the metrics that add up over a plan: all but power.
inline constexpr std::array additive_metrics = {Metric::time, Metric::energy, Metric::flop, Metric::bytes,
                                                Metric::kernels};
[[nodiscard]] double measure(Metric metric, const Metrics& totals);  // in s, J, W, flop, bytes or launches
// Returns the amount of `metric` in `totals`, which the caller may set or change. `metric` must be
// additive, here and in add_weight().
[[nodiscard]] double& amount(Metric metric, Metrics& totals);
void add_weight(Weights& weights, Metric metric, double weight);

// An Objective is a sum or product of terms, perhaps with a limit.
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

    [[nodiscard]] bool uses(Metric metric) const;  // in value or limit
    // Returns whether it is one assignment problem under fixed weights.
    [[nodiscard]] bool additive() const;
    // Returns whether it is relative to a starting plan.
    [[nodiscard]] bool needs_start() const {
        return terms.size() > 1 || form == Form::product || limit.has_value();
    }
    // Returns its value for a plan with these totals, whether or not they keep the limit.
    [[nodiscard]] double value(const Metrics& totals, const Metrics& start) const;
    [[nodiscard]] bool within_limit(const Metrics& totals, const Metrics& start) const;
    // Returns the weights of an additive objective.
    [[nodiscard]] Weights weights(const Metrics& start) const;
};

// Writes an objective in the language above.
[[nodiscard]] std::string text(const Objective& objective);
// Returns the additive metrics that decide its value and limit, each once; power counts as time and energy.
[[nodiscard]] std::vector<Metric> weighed(const Objective& objective);
// Reads an objective in that language. Errors: invalid_argument, with a caret under the faulty character.
[[nodiscard]] Result<Objective> parse_objective(std::string_view text);

}  // namespace viridian::search
