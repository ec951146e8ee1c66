#include "viridian/search/graphs/outer.hpp"

#include <array>

#include "viridian/search/graphs/search_state.hpp"

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

// Says whether changes of the whole network pay; the time and graphs that this takes come off the budget.
Result<bool> whole_changes_pay(const graph::Graph& graph, std::vector<RewrittenGraph> changes,
                               const cost::PriceSource& source, const Objective& objective,
                               OuterOptions& options) {
    OuterOptions alone = options;
    alone.method = OuterMethod::none;
    alone.visited = nullptr;
    SearchState state(source, objective, alone);
    VIRIDIAN_TRY(state.begin(graph));
    VIRIDIAN_TRY(const bool pays, try_changes(state.lead(), std::move(changes)));
    options.time_limit = std::max(state.left(), Seconds(0));
    options.most_graphs -= std::min(options.most_graphs - 1, state.lead().graphs() - 1);
    return pays;
}

}  // namespace

Result<OuterResult> outer_search(const graph::Graph& graph, const cost::PriceSource& source,
                                 const Objective& objective, const OuterOptions& given) {
    OuterOptions options = given;
    bool whole = false;
    if (options.method != OuterMethod::none) {
        VIRIDIAN_TRY(std::vector<RewrittenGraph> changes, whole_changes({graph}, options.rules));
        if (!changes.empty()) {
            VIRIDIAN_TRY(whole, whole_changes_pay(graph, std::move(changes), source, objective, options));
        }
    }
    SearchState state(source, objective, options);
    Strategy& lead = state.lead();
    VIRIDIAN_TRY(state.begin(graph));
    if (options.method == OuterMethod::joint) {
        VIRIDIAN_TRY(improve_jointly(lead, state.beside()));
        lead.adopt(state.beside());
    }
    if (options.method != OuterMethod::none) {
        lead.enqueue(lead.best());
        VIRIDIAN_TRY(backtrack(lead));
    }
    if (whole) {
        state.ignore_time_limit();  // few prices are still unknown
        VIRIDIAN_TRY(std::vector<RewrittenGraph> changes, whole_changes(lead.best(), state.rules()));
        VIRIDIAN_TRY([[maybe_unused]] const bool better, try_changes(lead, std::move(changes)));
    }
    return std::move(state).finish();
}

}  // namespace viridian::search
