#pragma once
// A source that is asked once for each kind of region: a search meets the same regions in hundreds of graphs.
#include <functional>
#include <string>
#include <unordered_map>

#include "viridian/cost/source.hpp"

namespace viridian::search {

// Answers are kept by the region's signature and by which of its inputs die there; errors are not kept. Where
// `stop` says so, what is not known is the error `cancelled` instead of a question that may take seconds.
// Used by one thread; `source` outlives it.
class Remembered {
  public:
    explicit Remembered(const cost::Source& source, std::function<bool()> stop = {});
    Remembered(const Remembered&) = delete;
    Remembered& operator=(const Remembered&) = delete;
    [[nodiscard]] const cost::Source& source() const { return remembering_; }

  private:
    [[nodiscard]] Result<void> may_ask() const;

    std::function<bool()> stop_;
    std::unordered_map<std::string, std::vector<cost::PricedChoice>> choices_;
    std::unordered_map<std::string, cost::Price> conversions_;
    cost::Source remembering_;
};

}  // namespace viridian::search
