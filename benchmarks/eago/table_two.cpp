#include <algorithm>
#include <cmath>
#include <functional>

#include "tables.hpp"
#include "text.hpp"

namespace viridian::eago {
namespace {

constexpr std::size_t shown = 10;

// Of all graphs of the search, some at even distances in the order of their predicted cost, the dearest and
// the cheapest among them, each with its own best plan.
Result<std::vector<Row>> evenly_spaced(Laboratory& laboratory, std::vector<Study::Visit> visits) {
    std::ranges::stable_sort(visits, std::ranges::greater(),
                             [](const Study::Visit& visit) { return visit.totals.joules; });
    const search::Objective energy = *search::parse_objective("energy");
    const std::size_t count = std::min(shown, visits.size());
    std::vector<Row> rows;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = count < 2 ? 0 : i * (visits.size() - 1) / (count - 1);
        VIRIDIAN_TRY(optimize::PlannedModel planned,
                     optimize::make_planned(visits[at].graph, nullptr, laboratory.source, energy, {}));
        rows.push_back({fmt::format("graph {}", i + 1), "energy", std::move(planned), {}});
    }
    return rows;
}

struct Series {
    std::vector<double> estimated, actual;
    void add(double e, double a) {
        estimated.push_back(e);
        actual.push_back(a);
    }
    [[nodiscard]] std::string text(const char* name) const {
        double worst = 0, sum = 0;
        for (std::size_t i = 0; i < actual.size(); ++i) {
            const double error = std::abs(estimated[i] / actual[i] - 1);
            worst = std::max(worst, error);
            sum += error;
        }
        const auto least = [](const std::vector<double>& v) {
            return std::min_element(v.begin(), v.end()) - v.begin();
        };
        return line({name, fmt::format("{:.1f} %", 100 * sum / static_cast<double>(actual.size())),
                     fmt::format("{:.1f} %", 100 * worst), fmt::format("{:.3f}", kendall(estimated, actual)),
                     least(estimated) == least(actual) ? "yes" : "no"});
    }
};

std::string judged(const char* title, const Series& time, const Series& power, const Series& energy) {
    return std::string("\n") + title + ":\n\n" +
           head({"", "mean error", "largest error", "Kendall tau", "least estimate is least"}) +
           time.text("time") + power.text("power") + energy.text("energy");
}

}  // namespace

Result<std::string> table_two(Laboratory& laboratory, Study& study) {
    constexpr double alpha = 1.05;  // as in all other tables
    VIRIDIAN_TRY(std::vector<Study::Visit> visits, study.visits("energy", alpha));
    const std::size_t met = visits.size();
    VIRIDIAN_TRY(std::vector<Row> rows, evenly_spaced(laboratory, std::move(visits)));
    VIRIDIAN_TRY(run_rows(laboratory, rows));
    const bool ran = laboratory.runs();
    std::string out = fmt::format(
        "## Table 2: accuracy of the cost model\n\nSqueezeNet, {} of the {} graphs that one search for "
        "energy met (Algorithm 1 from the unsimplified network, α = {}), at even distances in the order of "
        "their predicted energy. Each has its own best plan over all kernels. {}\n\n",
        rows.size(), met, alpha,
        ran ? "The estimates are sums of the database's prices, from before the plans were run, interleaved."
            : "Nothing can be run on this processor: estimates alone.");
    std::vector<std::string> titles = {"graph", "operators", "estimated ms", "W", "mJ"};
    if (ran) titles.insert(titles.end(), {"actual ms (95 %)", "W", "mJ", "estimate / actual time"});
    out += head(titles);
    Series time, power, energy, paper_time, paper_power, paper_energy;
    std::vector<double> firm_estimated, firm_actual;
    for (const Row& row : rows) {
        const Figures p = row.predicted();
        std::vector<std::string> cells = {row.name, fmt::format("{}", row.planned.graph.nodes().size()),
                                          digits(p.milliseconds), digits(p.watts), digits(p.millijoules)};
        if (ran) {
            const Figures r = row.ran();
            const Summary& s = row.actual->seconds;
            cells.insert(cells.end(), {fmt::format("{} ({} to {})", digits(r.milliseconds),
                                                   digits(1e3 * s.low), digits(1e3 * s.high)),
                                       digits(r.watts), digits(r.millijoules),
                                       fmt::format("{:.3f}", p.milliseconds / r.milliseconds)});
            time.add(p.milliseconds, r.milliseconds);
            power.add(p.watts, r.watts);
            energy.add(p.millijoules, r.millijoules);
        }
        out += line(cells);
    }
    if (ran) {
        out += judged("Here", time, power, energy);
        int sum = 0, pairs = 0;
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) {
                const Summary &a = rows[i].actual->seconds, &b = rows[j].actual->seconds;
                if (a.low <= b.high && b.low <= a.high) continue;
                ++pairs;
                sum += (time.estimated[i] < time.estimated[j]) == (a.median < b.median) ? 1 : -1;
            }
        out +=
            fmt::format("\nOver the {} pairs of graphs whose intervals of time do not meet, tau is {:.3f}.\n",
                        pairs, pairs == 0 ? 1.0 : static_cast<double>(sum) / pairs);
    }
    for (const PaperGraph& g : table2) {
        paper_time.add(g.estimated.milliseconds, g.actual.milliseconds);
        paper_power.add(g.estimated.watts, g.actual.watts);
        paper_energy.add(g.estimated.millijoules, g.actual.millijoules);
    }
    return out + judged("The paper's eight graphs, from its table", paper_time, paper_power, paper_energy);
}

}  // namespace viridian::eago
