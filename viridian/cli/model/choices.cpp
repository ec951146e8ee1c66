#include "viridian/cli/model/choices.hpp"

#include <algorithm>

#include "viridian/base/units_text.hpp"

namespace viridian::cli {
namespace {

Json choice_json(const cost::PricedChoice& priced) {
    Json json = plan::to_json(priced.choice);
    json["seconds"] = priced.price.seconds.value;
    json["low"] = priced.price.low.value;
    json["high"] = priced.price.high.value;
    return json;
}

}  // namespace

Result<Answer> choices(const graph::Graph& graph, const cost::PriceSource& source) {
    VIRIDIAN_TRY(const std::vector<plan::Region> regions, plan::candidate_regions(graph));
    Answer answer{Json::array(), {}};
    for (const plan::Region& region : regions) {
        VIRIDIAN_TRY(const std::vector<cost::PricedChoice> all, source.choices(graph, region));
        if (all.empty()) continue;
        const auto [fastest, slowest] =
            std::ranges::minmax_element(all, {}, [](const auto& one) { return one.price.seconds; });
        Json names = Json::array(), list = Json::array();
        for (const graph::NodeId id : region.nodes) names.push_back(graph.node(id).name);
        for (const cost::PricedChoice& one : all) list.push_back(choice_json(one));
        answer.text +=
            fmt::format("{:>9} to {:>9}  {:>3}  {:<32} {}\n", quantity(fastest->price.seconds.value, "s"),
                        quantity(slowest->price.seconds.value, "s"), all.size(), fastest->choice.kernel,
                        graph.node(region.nodes.front()).name +
                            (region.nodes.size() > 1 ? fmt::format(" + {}", region.nodes.size() - 1) : ""));
        answer.json.push_back(
            {{"nodes", std::move(names)}, {"flop", plan::flop(graph, region)}, {"choices", std::move(list)}});
    }
    return answer;
}

}  // namespace viridian::cli
