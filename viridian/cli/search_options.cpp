#include "viridian/cli/search_options.hpp"

#include <charconv>

namespace viridian::cli {
namespace {

Error not_a_budget(std::string_view text) {
    return fail(ErrorCode::invalid_argument, "write it as --budget 300, --budget 60s or --budget 300,5m",
                "`{}` is no number of graphs or seconds", text);
}

}  // namespace

void add_search_options(CLI::App& app, SearchOptions& options) {
    app.add_option(
           "--search", options.method,
           "Over equal graphs: joint, backtracking (EAGO Algorithm 1), or none (only rules that always "
           "pay)")
        ->check(CLI::IsMember({"joint", "backtracking", "none"}))
        ->capture_default_str();
    app.add_option("--alpha", options.alpha, "Search on from graphs that cost less than this times the best")
        ->check(CLI::Range(1.0, 10.0))
        ->capture_default_str();
    app.add_option("--budget", options.budget,
                   "Graphs and time of the search, as 300, 60s, 5m or 300,60s; what its graphs need to have "
                   "measured counts, the model's own prices before it do not")
        ->capture_default_str();
    app.add_option("--without", options.without, "Do not use this rewrite rule; may be given several times");
    app.add_flag("--list-rules", options.list_rules, "Print the rewrite rules, and do nothing else");
    app.add_flag("--frontier", options.frontier,
                 "Also all best trades of time against energy on the graph that was found");
}

Result<Budget> parse_budget(std::string_view text) {
    Budget budget;
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

Result<search::OuterResult> search_graphs(const graph::Graph& graph, const cost::Source& source,
                                          const search::Objective& objective,
                                          const search::AssignOptions& assign, const SearchOptions& options,
                                          Progress& progress, const Interrupt& interrupt) {
    search::OuterOptions outer;
    VIRIDIAN_TRY(const Budget budget, parse_budget(options.budget));
    VIRIDIAN_TRY(outer.method, search::parse_outer_method(options.method));
    outer.alpha = options.alpha;
    outer.most_graphs = budget.graphs;
    outer.time_limit = budget.seconds;
    outer.assign = assign;
    outer.rules.without = options.without;
    outer.cancelled = [&] { return interrupt.asked(); };
    double first = 0;
    outer.progress = [&](const search::OuterProgress& now) {
        if (first == 0) first = now.best;
        progress.show(fmt::format("{} graphs priced, {} waiting, best {:.6g} ({:+.2f} %)", now.graphs,
                                  now.waiting, now.best, 100 * (now.best / first - 1)));
    };
    return search::outer_search(graph, source, objective, outer);
}

Json search_json(const SearchOptions& options, const search::OuterResult& result) {
    Json progress = Json::array();
    for (const search::OuterProgress& step : result.improvements)
        progress.push_back({{"graphs", step.graphs}, {"seconds", step.seconds.value}, {"best", step.best}});
    return {{"method", options.method},           {"alpha", options.alpha},
            {"budget", options.budget},           {"graphs", result.graphs},
            {"seconds", result.seconds.value},    {"ended_by", search::name_of(result.ended_by)},
            {"unpriced", result.unpriced},        {"crowded_out", result.crowded_out},
            {"improvements", std::move(progress)}};
}

Json frontier_json(const search::Frontier& frontier) {
    Json vertices = Json::array();
    for (const search::Outcome& vertex : frontier.vertices)
        vertices.push_back({{"seconds", vertex.totals.seconds},
                            {"joules", vertex.totals.joules},
                            {"watts", vertex.totals.joules / vertex.totals.seconds},
                            {"proven", vertex.assignment.gap() <= 0}});
    return {{"vertices", std::move(vertices)}, {"unresolved", frontier.unresolved}};
}

}  // namespace viridian::cli
