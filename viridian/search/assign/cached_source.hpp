#pragma once
// Asks a source once for each kind of region, because a search meets the same regions in hundreds of graphs.
#include <functional>
#include <string>
#include <unordered_map>

#include "viridian/cost/source.hpp"

namespace viridian::search {

// Answers are kept by the region's signature and by which of its inputs die there; errors are not kept. If
// `stop` says so, an unknown price is the error `cancelled` instead of a question that may take seconds.
// Used by one thread; `source` must outlive it.
class CachedSource {
  public:
    explicit CachedSource(const cost::Source& source, std::function<bool()> stop = {});
    CachedSource(const CachedSource&) = delete;
    CachedSource& operator=(const CachedSource&) = delete;
    [[nodiscard]] const cost::Source& source() const { return cached_; }

  private:
    [[nodiscard]] Result<void> may_ask() const;

    std::function<bool()> stop_;
    std::unordered_map<std::string, std::vector<cost::PricedChoice>> choices_;
    std::unordered_map<std::string, cost::Price> conversions_;
    cost::Source cached_;
};

}  // namespace viridian::search
