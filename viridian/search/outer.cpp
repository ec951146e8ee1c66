#include "viridian/search/outer.hpp"

#include <array>

#include "viridian/search/outer_run.hpp"

namespace viridian::search {
namespace {

constexpr std::array methods = {OuterMethod::joint, OuterMethod::backtracking, OuterMethod::none};

}  // namespace

std::string_view name_of(OuterMethod method) {
    switch (method) {
        case OuterMethod::joint:
            return "joint";
        case OuterMethod::backtracking:
            return "backtracking";
        case OuterMethod::none:
            return "none";
    }
    return "";
}

Result<OuterMethod> parse_outer_method(std::string_view name) {
    for (const OuterMethod method : methods)
        if (name_of(method) == name) return method;
    return fail(ErrorCode::invalid_argument, "choose joint, backtracking or none",
                "no outer search is called `{}`", name);
}

std::string_view name_of(EndedBy reason) {
    switch (reason) {
        case EndedBy::exhausted:
            return "exhausted";
        case EndedBy::graphs:
            return "graphs";
        case EndedBy::time:
            return "time";
        case EndedBy::cancelled:
            return "cancelled";
    }
    return "";
}

namespace {

// Whether changes of the whole network pay; what that took is taken off the budget.
Result<bool> scout(const graph::Graph& graph, std::vector<Place> changes, const cost::Source& source,
                   const Objective& objective, OuterOptions& options) {
    OuterOptions alone = options;
    alone.visited = nullptr;
    OuterRun run(source, objective, alone);
    VIRIDIAN_TRY(run.begin(graph));
    VIRIDIAN_TRY(const bool pays, try_changes(run, std::move(changes)));
    options.time_limit = std::max(run.left(), Seconds(0));
    options.most_graphs -= std::min(options.most_graphs - 1, run.graphs() - 1);
    return pays;
}

}  // namespace

Result<OuterResult> outer_search(const graph::Graph& graph, const cost::Source& source,
                                 const Objective& objective, const OuterOptions& given) {
    OuterOptions options = given;
    bool whole = false;
    if (options.method != OuterMethod::none) {
        VIRIDIAN_TRY(std::vector<Place> changes, whole_changes({graph, {}}, options.rules));
        if (!changes.empty()) {
            VIRIDIAN_TRY(whole, scout(graph, std::move(changes), source, objective, options));
        }
    }
    OuterRun run(source, objective, options);
    VIRIDIAN_TRY(run.begin(graph));
    std::optional<OuterRun> beside;
    if (options.method == OuterMethod::joint) {
        OuterOptions shared = options;
        shared.rules = run.rules();
        shared.visited = nullptr;  // twice the same graphs
        beside.emplace(source, objective, shared);
        VIRIDIAN_TRY(beside->begin(graph));
        run.share_with(*beside);
        beside->share_with(run);
        VIRIDIAN_TRY(improve_jointly(run, run.best(), *beside));
        run.adopt(*beside);
    }
    if (options.method != OuterMethod::none) {
        run.wait_for(run.best());
        VIRIDIAN_TRY(backtrack(run));
    }
    if (whole) {
        run.ask_freely();  // little is left to ask
        VIRIDIAN_TRY(std::vector<Place> changes, whole_changes(run.best(), run.rules()));
        VIRIDIAN_TRY([[maybe_unused]] const bool better, try_changes(run, std::move(changes)));
    }
    return std::move(run).finish();
}

}  // namespace viridian::search
