#include "viridian/cli/optimize_parts.hpp"

#include "viridian/cli/search_options.hpp"

namespace viridian::cli {

void append(rewrite::Certificate& certificate, rewrite::Certificate more) {
    certificate.insert(certificate.end(), std::make_move_iterator(more.begin()),
                       std::make_move_iterator(more.end()));
}

std::vector<std::string> all_but_folding(const std::vector<std::string>& without) {
    std::vector<std::string> names = without;
    for (const rewrite::Rule& rule : rewrite::rules())
        if (rule.name != "fold_shapes" && rule.name != "fold_constants" && rule.name != "remove_no_op")
            names.emplace_back(rule.name);
    return names;
}

Result<graph::Graph> fold(const graph::Graph& original, const std::vector<std::string>& without,
                          rewrite::Certificate& certificate) {
    graph::Graph folded = original;
    VIRIDIAN_TRY(rewrite::Outcome outcome, rewrite::simplify(folded, {.without = all_but_folding(without)}));
    append(certificate, std::move(outcome.certificate));
    return folded;
}

Json rewrites_json(const rewrite::Certificate& certificate) {
    Json list = Json::array();
    for (const rewrite::Application& entry : certificate)
        list.push_back({{"rule", entry.rule},
                        {"node", entry.node},
                        {"removed", entry.removed},
                        {"before", fmt::format("{:016x}", entry.before)},
                        {"after", fmt::format("{:016x}", entry.after)}});
    return list;
}

Result<Json> frontier_of(const graph::Graph& graph, const cost::Source& source,
                         const search::AssignOptions& solver) {
    VIRIDIAN_TRY(const std::vector<plan::Region> regions, plan::candidate_regions(graph));
    VIRIDIAN_TRY(const search::Instance instance,
                 search::Instance::make(graph, regions, source, solver.boundary, solver.keep_f32));
    VIRIDIAN_TRY(const search::Frontier frontier, search::frontier(instance, solver));
    return frontier_json(frontier);
}

std::string to_text(const cost::Recording& recording) {
    const Json json = recording.to_json();
    std::string out = "{";
    for (const auto& [key, value] : json.items()) {
        out += (out.size() > 1 ? ",\n" : "\n") + Json(key).dump() + ": ";
        if (!value.is_structured()) {
            out += value.dump();
            continue;
        }
        const bool list = value.is_array();
        out += list ? "[" : "{";
        bool first = true;
        for (const auto& [name, item] : value.items()) {
            out += (first ? "\n" : ",\n") + (list ? item.dump() : Json(name).dump() + ": " + item.dump());
            first = false;
        }
        out += list ? "]" : "}";
    }
    return out + "\n}\n";
}

}  // namespace viridian::cli
