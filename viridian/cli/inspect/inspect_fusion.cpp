#include "viridian/cli/inspect/inspect_fusion.hpp"

#include "viridian/base/json.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/cli/command.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/movement/readings.hpp"

namespace viridian::cli {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::ValueId;
using movement::ReadWords;
using movement::Region;
using movement::Words;

// "2 16 (1024)": loops, reduced ones in parentheses; those that only a part of the region runs follow a bar.
std::string loops_text(const Region& region) {
    std::string text;
    for (std::size_t i = 0; i < region.loops.size(); ++i) {
        const graph::Axis& axis = region.loops[i];
        if (i == region.shared_loops) text += " |";
        text += text.empty() ? "" : " ";
        text += axis.reduced ? fmt::format("({})", axis.size) : fmt::format("{}", axis.size);
    }
    return text;
}

Json names_json(const Graph& graph, const std::vector<ValueId>& ids) {
    Json list = Json::array();
    for (const ValueId id : ids) list.push_back(graph.value(id).name);
    return list;
}

Json to_json(const Graph& graph, const Region& region) {
    const Words words = words_of(graph, region);
    Json json = {{"nodes", Json::array()},
                 {"loops", Json::array()},
                 {"shared_loops", region.shared_loops},
                 {"reads", names_json(graph, region.reads)},
                 {"writes", names_json(graph, region.writes)},
                 {"words_read", words.read},
                 {"words_written", words.written},
                 {"bytes_moved", movement::bytes_of(graph, region).value}};
    for (const NodeId id : region.nodes) json["nodes"].push_back(graph.node(id).name);
    for (const graph::Axis& axis : region.loops)
        json["loops"].push_back({{"size", axis.size}, {"reduced", axis.reduced}});
    return json;
}

std::string line_of(const Graph& graph, const Region& region) {
    const Words words = words_of(graph, region);
    std::string names;
    for (const NodeId id : region.nodes)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", graph.node(id).name);
    return fmt::format("  {:<20} {:>10} {:>10}  {}\n", loops_text(region),
                       quantity(static_cast<double>(words.read), ""),
                       quantity(static_cast<double>(words.written), ""), names);
}

double percent(double share) { return 100 * share; }

Json to_json(const ReadWords& read) {
    return {{"name", name_of(read.reading)},
            {"words_unfused", read.unfused.moved()},
            {"words_fused", read.fused.moved()},
            {"words_interim", read.interim},
            {"saved_percent", percent(read.saved())},
            {"saved_percent_as_the_paper_counts", percent(read.saved_as_the_paper_counts())}};
}

// The readings, without those that do not differ from the last one.
std::string readings_text(const std::vector<ReadWords>& readings) {
    std::string text = fmt::format("\n  {:<14} {:>10} {:>10} {:>8} {:>10}  {}\n", "reading", "unfused",
                                   "fused", "less", "as paper", "what one unfused operator is");
    for (const ReadWords& read : readings) {
        if (&read != &readings.back() && read.unfused.moved() == readings.back().unfused.moved()) continue;
        text += fmt::format("  {:<14} {:>10} {:>10} {:>6.1f} % {:>8.1f} %  {}\n", name_of(read.reading),
                            quantity(static_cast<double>(read.unfused.moved()), ""),
                            quantity(static_cast<double>(read.fused.moved()), ""), percent(read.saved()),
                            percent(read.saved_as_the_paper_counts()), explanation_of(read.reading));
    }
    return text;
}

}  // namespace

Result<FusionAnswer> describe_fusion(const Graph& graph, movement::FusionRule rule, std::int64_t fast_words) {
    if (const auto error = graph::free_dimensions_error(graph)) return *error;
    VIRIDIAN_TRY(const movement::Fusion fusion, movement::fuse(graph, rule, fast_words));
    FusionAnswer answer{.json = {{"rule", name_of(rule)}, {"regions", Json::array()}}, .text = {}};
    const Words all = words_of(graph, fusion.regions);
    std::string lines;
    for (const Region& region : fusion.regions) {
        answer.json["regions"].push_back(to_json(graph, region));
        if (!region.loops.empty()) lines += line_of(graph, region);
    }
    answer.json["words_read"] = all.read;
    answer.json["words_written"] = all.written;
    answer.text = fmt::format("\n{} by the rule `{}`, which read {} words and write {}\n",
                              counted(fusion.regions.size(), "region"), name_of(rule),
                              quantity(static_cast<double>(all.read), ""),
                              quantity(static_cast<double>(all.written), "")) +
                  fmt::format("  {:<20} {:>10} {:>10}  {}\n", "loops (reduced)", "read", "written", "nodes") +
                  lines;
    if (rule != movement::FusionRule::none) {
        VIRIDIAN_TRY(const std::vector<ReadWords> readings, movement::readings(graph, fusion));
        answer.json["readings"] = Json::array();
        for (const ReadWords& read : readings) answer.json["readings"].push_back(to_json(read));
        answer.text += readings_text(readings);
    }
    return answer;
}

}  // namespace viridian::cli
