#include "viridian/search/assign/cached_source.hpp"

namespace viridian::search {

CachedSource::CachedSource(const cost::PriceSource& source, std::function<bool()> stop)
    : stop_(std::move(stop)) {
    cached_.choices = [this, &source](const graph::Graph& graph,
                                      const plan::Region& region) -> Result<std::vector<cost::PricedChoice>> {
        std::string key = plan::signature(graph, region);
        for (const bool dies : region.dies) key += dies ? '+' : '-';
        if (const auto at = choices_.find(key); at != choices_.end()) return at->second;
        VIRIDIAN_TRY(may_ask());
        VIRIDIAN_TRY(std::vector<cost::PricedChoice> choices, source.choices(graph, region));
        return choices_.emplace(std::move(key), std::move(choices)).first->second;
    };
    cached_.conversion = [this, &source](const graph::Dims& dims, const plan::Format& from,
                                         const plan::Format& to) -> Result<cost::Price> {
        std::string key = fmt::format("{}|{}|{}", fmt::join(dims, ","), text(from), text(to));
        if (const auto at = conversions_.find(key); at != conversions_.end()) return at->second;
        VIRIDIAN_TRY(may_ask());
        VIRIDIAN_TRY(const cost::Price price, source.conversion(dims, from, to));
        return conversions_.emplace(std::move(key), price).first->second;
    };
}

Result<void> CachedSource::may_ask() const {
    if (stop_ && stop_())
        return fail(ErrorCode::cancelled, "give the search a larger --budget", "the search's time is over");
    return {};
}

}  // namespace viridian::search
