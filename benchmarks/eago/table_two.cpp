#include <algorithm>
#include <cmath>

#include "filters.hpp"
#include "tables.hpp"
#include "text.hpp"

namespace viridian::eago {
namespace {

constexpr std::size_t shown = 10;

// Of many, some spread over the range of predicted times, the fastest and the slowest among them.
std::vector<Row> spread(std::vector<Row> all) {
    const auto seconds = [](const Row& row) { return row.planned.totals.seconds.value; };
    std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return seconds(a) > seconds(b); });
    std::vector<Row> different;
    for (Row& row : all)
        if (different.empty() || seconds(row) < seconds(different.back()) * (1 - 1e-4))
            different.push_back(std::move(row));
    if (different.size() <= shown) return different;
    std::vector<Row> chosen;
    std::size_t next = 0;
    const double first = seconds(different.front()), last = seconds(different.back());
    for (std::size_t i = 0; i < shown; ++i) {
        const double aim = first + (last - first) * static_cast<double>(i) / (shown - 1);
        const std::size_t latest = different.size() - (shown - i);  // so many must remain
        while (next < latest &&
               std::abs(seconds(different[next + 1]) - aim) <= std::abs(seconds(different[next]) - aim))
            ++next;
        chosen.push_back(std::move(different[next++]));
    }
    return chosen;
}

// Graphs that a search met, with the assignments of searches that have not seen every kernel yet, from none
// to all of them.
Result<std::vector<Row>> on_the_way(Laboratory& laboratory, const std::vector<Study::Visit>& visits) {
    constexpr std::size_t graphs = 24, steps = 4;
    const search::Objective energy = *search::parse_objective("energy");
    std::vector<Row> rows;
    for (std::size_t i = 0; i < std::min(graphs, visits.size()); ++i) {
        const std::size_t at = i * visits.size() / std::min(graphs, visits.size());
        const double share = static_cast<double>(1 + i % steps) / steps;
        VIRIDIAN_TRY(optimize::PlannedModel planned,
                     optimize::make_planned(visits[at].graph, nullptr, thinned(laboratory.source, i, share),
                                            energy, {}));
        rows.push_back({"", "energy", std::move(planned), {}});
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
    VIRIDIAN_TRY(const auto visits, study.visits("energy", 1.3));
    VIRIDIAN_TRY(std::vector<Row> all, on_the_way(laboratory, visits));
    std::vector<Row> rows = spread(std::move(all));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].name = fmt::format("graph {}", i + 1);
    VIRIDIAN_TRY(run_rows(laboratory, rows));
    const bool ran = laboratory.runs();
    std::string out = fmt::format(
        "## Table 2: accuracy of the cost model\n\nSqueezeNet, {} of {} graphs of one search for energy from "
        "the "
        "unsimplified network (α = 1.3), with assignments on the way: of a quarter, half, three quarters or "
        "all of the "
        "kernels{}\n\n",
        rows.size(), visits.size(),
        ran ? "; run interleaved." : ". Nothing can be run on this processor: estimates alone.");
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
