#include "viridian/account/products/repeated_runs.hpp"

#include "viridian/base/json.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace viridian::account {

Spread spread_of(const std::vector<double>& values) {
    Spread out;
    out.count = values.size();
    if (values.empty()) return out;
    const auto n = static_cast<double>(values.size());
    for (const double value : values) out.mean += value / n;
    double squares = 0.0;
    for (const double value : values) squares += (value - out.mean) * (value - out.mean);
    if (values.size() > 1) out.deviation = std::sqrt(squares / (n - 1.0));
    out.least = *std::min_element(values.begin(), values.end());
    out.most = *std::max_element(values.begin(), values.end());
    return out;
}

RepeatedRuns repeated_runs(const std::vector<Accounting>& runs) {
    struct Values {
        std::vector<double> joules, watts;
    };
    std::map<std::string, Values> names;
    std::vector<double> total, forward, backward, unknown, idle;
    Energy sources;
    bool any = false;
    for (const Accounting& run : runs) {
        double sum = 0.0;
        for (const FootprintRow& entry : summarized_footprint(run)) {
            Values& values = names[entry.name];
            values.joules.push_back(entry.energy.value);
            values.watts.push_back(entry.watts().value);
            sum += entry.energy.value;
        }
        const Passes passes = by_pass(run);
        total.push_back(sum);
        forward.push_back(passes.forward.value);
        backward.push_back(passes.backward.value);
        unknown.push_back((passes.unknown + passes.recompute + passes.optimizer).value);
        idle.push_back(0.0);
        for (const Device& device : run.devices) idle.back() += device.idle.value.value;
        for (const Operation& operation : run.operations) {
            if (!operation.energy) continue;
            if (!any) sources.provenance = operation.energy->provenance;
            any = true;
            sources += Energy{Joules(0), Joules(0), Joules(0), operation.energy->provenance};
        }
    }
    RepeatedRuns out{{},
                     spread_of(total),
                     spread_of(forward),
                     spread_of(backward),
                     spread_of(unknown),
                     spread_of(idle),
                     sources.provenance};
    for (auto& [name, values] : names) {
        const std::size_t count = values.joules.size();
        values.joules.resize(runs.size(), 0.0);
        out.entries.push_back({name, spread_of(values.joules), spread_of(values.watts), count});
    }
    std::stable_sort(
        out.entries.begin(), out.entries.end(),
        [](const RepeatedEntry& a, const RepeatedEntry& b) { return a.joules.mean > b.joules.mean; });
    return out;
}

Json to_json(const Spread& spread) {
    return {{"mean", spread.mean},
            {"deviation", spread.deviation},
            {"least", spread.least},
            {"most", spread.most},
            {"count", spread.count}};
}

}  // namespace viridian::account
