#include "viridian/search/objective/objective.hpp"

#include <algorithm>
#include <cmath>

namespace viridian::search {
namespace {

// A metric that the starting plan has none of is left as it is.
double relative(Metric metric, const Metrics& totals, const Metrics& start) {
    const double unit = measure(metric, start);
    return unit > 0 ? measure(metric, totals) / unit : measure(metric, totals);
}

double& raw(double& number) { return number; }
template <class Tag>
double& raw(Quantity<Tag>& quantity) {
    return quantity.value;
}

// Of Metrics or Weights: the member that belongs to an additive metric.
template <class Amounts>
double& member(Metric metric, Amounts& amounts) {
    switch (metric) {
        case Metric::time:
            return raw(amounts.seconds);
        case Metric::energy:
            return raw(amounts.joules);
        case Metric::flop:
            return raw(amounts.flop);
        case Metric::bytes:
            return raw(amounts.bytes);
        case Metric::kernels:
            break;
        case Metric::power:
            invariant(false, "power is not additive");
    }
    return raw(amounts.kernels);
}

}  // namespace

std::string_view name_of(Metric metric) {
    switch (metric) {
        case Metric::time:
            return "time";
        case Metric::energy:
            return "energy";
        case Metric::power:
            return "power";
        case Metric::flop:
            return "flop";
        case Metric::bytes:
            return "bytes";
        case Metric::kernels:
            return "kernels";
    }
    return "";
}

double measure(Metric metric, const Metrics& totals) {
    if (metric == Metric::power)
        return totals.seconds > Seconds(0) ? (totals.joules / totals.seconds).value : 0;
    Metrics copy = totals;
    return amount(metric, copy);
}

double& amount(Metric metric, Metrics& totals) { return member(metric, totals); }

void add_weight(Weights& weights, Metric metric, double weight) { member(metric, weights) += weight; }

bool Objective::uses(Metric metric) const {
    return (limit && limit->metric == metric) ||
           std::ranges::any_of(terms, [&](const Term& term) { return term.metric == metric; });
}

std::vector<Metric> weighed(const Objective& objective) {
    std::vector<Metric> metrics;
    for (const Metric m : additive_metrics) {
        const bool of_power = m == Metric::time || m == Metric::energy;
        if (objective.uses(m) || (of_power && objective.uses(Metric::power))) metrics.push_back(m);
    }
    return metrics;
}

bool Objective::additive() const {
    return form == Form::sum && !limit &&
           std::none_of(terms.begin(), terms.end(), [](const Term& t) { return t.metric == Metric::power; });
}

double Objective::value(const Metrics& totals, const Metrics& start) const {
    if (form == Form::product) {
        double product = 1;
        for (const Term& term : terms) product *= std::pow(relative(term.metric, totals, start), term.factor);
        return product;
    }
    if (terms.size() == 1) return terms[0].factor * measure(terms[0].metric, totals);
    double sum = 0;
    for (const Term& term : terms) sum += term.factor * relative(term.metric, totals, start);
    return sum;
}

bool Objective::within_limit(const Metrics& totals, const Metrics& start) const {
    return !limit || measure(limit->metric, totals) <= limit->factor * measure(limit->metric, start);
}

Weights Objective::weights(const Metrics& start) const {
    invariant(form == Form::sum, "only sums have weights");
    Weights weights;
    for (const Term& term : terms) {
        const double unit = terms.size() == 1 ? 1 : measure(term.metric, start);
        add_weight(weights, term.metric, unit > 0 ? term.factor / unit : term.factor);
    }
    return weights;
}

std::string text(const Objective& objective) {
    std::string out;
    for (const Objective::Term& term : objective.terms) {
        // Adding 0.0 turns a negative zero, which the grammar cannot say, into zero.
        if (objective.form == Objective::Form::product)
            out += fmt::format("{}{}^{}", out.empty() ? "" : "*", name_of(term.metric), term.factor + 0.0);
        else if (term.factor == 1)
            out += fmt::format("{}{}", out.empty() ? "" : "+", name_of(term.metric));
        else
            out += fmt::format("{}{}*{}", out.empty() ? "" : "+", term.factor + 0.0, name_of(term.metric));
    }
    if (objective.limit)
        out += fmt::format(" @ {}<={}x", name_of(objective.limit->metric), objective.limit->factor);
    return out;
}

}  // namespace viridian::search
