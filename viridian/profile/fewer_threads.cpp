#include "viridian/profile/fewer_threads.hpp"

namespace viridian::profile {

std::vector<int> FewerThreads::counts(int threads) {
    if (threads < 2) return {};
    if (threads < 4) return {1};
    return {1, threads / 2};
}

FewerThreads::FewerThreads(std::unique_ptr<execute::Device> device, Seconds wake, cost::Database& database,
                           EnergyPricer energy, const OnDemandOptions& options)
    : device_(std::move(device)),
      wake_(wake),
      correction_(options.correction),
      prices_(*device_, database, std::move(energy), options) {}

Result<std::unique_ptr<FewerThreads>> FewerThreads::open(execute::Device& device, int threads,
                                                         cost::Database& database,
                                                         const EnergyOptions& energy,
                                                         const OnDemandOptions& options) {
    VIRIDIAN_TRY(std::unique_ptr<execute::Device> fewer, device.on_threads(threads));
    if (fewer == nullptr) return std::unique_ptr<FewerThreads>();
    VIRIDIAN_TRY(EnergyPricer pricer, EnergyPricer::open(energy, *fewer));
    return std::unique_ptr<FewerThreads>(
        new FewerThreads(std::move(fewer), device.wake_latency(), database, std::move(pricer), options));
}

Result<std::vector<cost::PricedChoice>> FewerThreads::choices(const graph::Graph& graph,
                                                              const plan::Region& region) {
    VIRIDIAN_TRY(std::vector<cost::PricedChoice> list, prices_.source().choices(graph, region));
    // What takes no time, such as a view, runs on no thread.
    std::erase_if(list, [](const cost::PricedChoice& priced) { return priced.price.seconds.value == 0; });
    for (auto& [choice, price] : list) {
        choice.threads = threads();
        const double longer = 1 + wake_ / price.seconds;
        price.seconds += wake_;
        price.low += wake_;
        price.high += wake_;
        price.energy.value = price.energy.value * longer;
        price.energy.low = price.energy.low * longer;
        price.energy.high = price.energy.high * longer;
    }
    return list;
}

cost::PriceSource FewerThreads::alone() {
    const cost::PriceSource own = prices_.source();
    const auto choices = [this, own](const graph::Graph& graph,
                                     const plan::Region& region) -> Result<std::vector<cost::PricedChoice>> {
        VIRIDIAN_TRY(std::vector<cost::PricedChoice> list, own.choices(graph, region));
        for (cost::PricedChoice& priced : list)
            if (priced.price.seconds.value != 0) priced.choice.threads = threads();
        return list;
    };
    return {choices, own.conversion};
}

}  // namespace viridian::profile
