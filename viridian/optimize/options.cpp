#include "viridian/optimize/options.hpp"

#include <charconv>

namespace viridian::optimize {
namespace {

Error not_a_budget(std::string_view text) {
    return fail(ErrorCode::invalid_argument, "write it as --budget 300, --budget 60s or --budget 300,5m",
                "`{}` is not a number of graphs or seconds", text);
}

}  // namespace

Result<SearchBudget> parse_budget(std::string_view text) {
    SearchBudget budget;
    for (std::string_view rest = text;;) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        std::string_view part = rest.substr(0, comma);
        const char unit = part.empty() ? '\0' : part.back();
        const double seconds = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : 0;
        if (seconds > 0) part.remove_suffix(1);
        double number = 0;
        const char* last = part.data() + part.size();
        const auto [end, error] = std::from_chars(part.data(), last, number);
        if (error != std::errc() || end != last || !(number >= 0) || number > 1e9) return not_a_budget(text);
        if (seconds > 0)
            budget.seconds = Seconds(number * seconds);
        else if (number < 1 || number != static_cast<double>(static_cast<std::size_t>(number)))
            return not_a_budget(text);
        else
            budget.graphs = static_cast<std::size_t>(number);
        if (comma == rest.size()) return budget;
        rest.remove_prefix(comma + 1);
    }
}

std::string text(const SearchBudget& budget) {
    return fmt::format("{},{:g}s", budget.graphs, budget.seconds.value);
}

bool weighs_joules(const search::Objective& objective) {
    return objective.uses(search::Metric::energy) || objective.uses(search::Metric::power);
}

bool tries_fewer_threads(const OptimizeOptions& options) {
    return options.fewer_threads.value_or(options.frontier || weighs_joules(options.objective));
}

}  // namespace viridian::optimize
