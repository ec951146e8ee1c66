#pragma once
// CachedSource asks another source once for each kind of region and of conversion, because a search meets the
// same ones in hundreds of graphs. Choices are kept by the region's signature and by which of its inputs die
// there, conversions by shape and formats; errors are not kept. If `stop` returns true, a price that is not
// known yet is the error `cancelled`, because asking for it may take seconds. One thread uses the object;
// `source` must outlive it.
#include <functional>
#include <string>
#include <unordered_map>

#include "viridian/cost/source.hpp"

namespace viridian::search {

class CachedSource {
  public:
    explicit CachedSource(const cost::PriceSource& source, std::function<bool()> stop = {});
    CachedSource(const CachedSource&) = delete;
    CachedSource& operator=(const CachedSource&) = delete;
    // Returns a source that answers from the cache. It refers to this object.
    [[nodiscard]] const cost::PriceSource& source() const { return cached_; }

  private:
    // Returns the error `cancelled` if `stop` says so.
    [[nodiscard]] Result<void> may_ask() const;

    std::function<bool()> stop_;
    std::unordered_map<std::string, std::vector<cost::PricedChoice>> choices_;
    std::unordered_map<std::string, cost::Price> conversions_;
    cost::PriceSource cached_;
};

}  // namespace viridian::search
