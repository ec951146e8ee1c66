#include "filters.hpp"

#include <algorithm>

namespace viridian::eago {
namespace {

using cost::PricedChoice;

using Choose = std::size_t (*)(const std::vector<PricedChoice>&);

// Views cost nothing and are no algorithms: they stay. Of the rest that has buffers of its own, one stays.
cost::PriceSource keep_one(cost::PriceSource source, Choose choose) {
    cost::PriceSource less = source;
    less.choices = [source, choose](const graph::Graph& graph,
                                    const plan::Region& region) -> Result<std::vector<PricedChoice>> {
        VIRIDIAN_TRY(std::vector<PricedChoice> all, source.choices(graph, region));
        std::vector<PricedChoice> kept, own;
        for (PricedChoice& priced : all)
            if (priced.choice.aliasing == plan::Aliasing::view)
                kept.push_back(std::move(priced));
            else if (priced.choice.aliasing == plan::Aliasing::none)
                own.push_back(std::move(priced));
        if (!own.empty()) kept.push_back(std::move(own[choose(own)]));
        return kept;
    };
    return less;
}

}  // namespace

cost::PriceSource fastest_only(cost::PriceSource source) {
    return keep_one(std::move(source), [](const std::vector<PricedChoice>& all) {
        const auto fastest = std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
            return a.price.seconds < b.price.seconds;
        });
        return static_cast<std::size_t>(fastest - all.begin());
    });
}

cost::PriceSource first_only(cost::PriceSource source) {
    return keep_one(std::move(source), [](const std::vector<PricedChoice>&) { return std::size_t{0}; });
}

cost::PriceSource unfused(cost::PriceSource source) {
    cost::PriceSource less = source;
    less.choices = [source](const graph::Graph& graph,
                            const plan::Region& region) -> Result<std::vector<PricedChoice>> {
        if (region.nodes.size() > 1) return std::vector<PricedChoice>{};
        return source.choices(graph, region);
    };
    return less;
}

}  // namespace viridian::eago
