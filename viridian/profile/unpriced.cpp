#include "viridian/profile/unpriced.hpp"

namespace viridian::profile {

cost::PriceSource unpriced(execute::Device& device) {
    return {[&device](const graph::Graph& graph,
                      const plan::Region& region) -> Result<std::vector<cost::PricedChoice>> {
                VIRIDIAN_TRY(std::vector<plan::Choice> choices, device.choices(graph, region));
                std::vector<cost::PricedChoice> priced;
                for (plan::Choice& choice : choices)
                    if (choice.aliasing != plan::Aliasing::overwrite || region.dies[choice.overwritten])
                        priced.push_back({std::move(choice), {}});
                return priced;
            },
            [](const graph::Dims&, const plan::Format&, const plan::Format&) -> Result<cost::Price> {
                return cost::Price{};
            }};
}

}  // namespace viridian::profile
