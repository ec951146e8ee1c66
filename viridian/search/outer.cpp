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

Result<OuterResult> outer_search(const graph::Graph& graph, const cost::Source& source,
                                 const Objective& objective, const OuterOptions& options) {
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
    return std::move(run).finish();
}

}  // namespace viridian::search
