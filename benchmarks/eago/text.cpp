#include "text.hpp"

namespace viridian::eago {

std::string line(const std::vector<std::string>& cells) {
    return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string head(const std::vector<std::string>& titles) {
    return line(titles) + line(std::vector<std::string>(titles.size(), "---"));
}

std::string digits(double value) {
    if (value == 0) return "0";
    return value >= 100 ? fmt::format("{:.1f}", value) : fmt::format("{:.3g}", value);
}

std::string relative(const Figures& figures, const Figures& base) {
    return fmt::format("{:.2f} · {:.2f} · {:.2f}", figures.milliseconds / base.milliseconds,
                       figures.watts / base.watts, figures.millijoules / base.millijoules);
}

std::string rows_table(const std::vector<Row>& rows, const std::vector<Figures>& paper) {
    const bool ran = rows.front().actual.has_value();
    std::vector<std::string> titles = {"plan", "ms", "W", "mJ", "of the first row: time · power · energy"};
    if (ran) titles.insert(titles.end(), {"ran ms (95 %)", "ran W", "ran mJ", "ran, of the first row"});
    titles.insert(titles.end(), {"paper ms", "W", "mJ", "of its first row"});
    std::string out = head(titles);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Figures p = rows[i].predicted();
        std::vector<std::string> cells = {rows[i].name, digits(p.milliseconds), digits(p.watts),
                                          digits(p.millijoules), relative(p, rows.front().predicted())};
        if (ran) {
            const Figures r = rows[i].ran();
            const Summary& s = rows[i].actual->seconds;
            cells.push_back(fmt::format("{} ({} to {})", digits(r.milliseconds), digits(1e3 * s.low),
                                        digits(1e3 * s.high)));
            cells.insert(cells.end(),
                         {digits(r.watts), digits(r.millijoules), relative(r, rows.front().ran())});
        }
        if (i < paper.size())
            cells.insert(cells.end(), {digits(paper[i].milliseconds), digits(paper[i].watts),
                                       digits(paper[i].millijoules), relative(paper[i], paper.front())});
        else
            cells.insert(cells.end(), {"–", "–", "–", "–"});
        out += line(cells);
    }
    return out;
}

double kendall(const std::vector<double>& a, const std::vector<double>& b) {
    int sum = 0, pairs = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const double product = (a[i] - a[j]) * (b[i] - b[j]);
            sum += product > 0 ? 1 : product < 0 ? -1 : 0;
            ++pairs;
        }
    return pairs == 0 ? 1.0 : static_cast<double>(sum) / pairs;
}

}  // namespace viridian::eago
