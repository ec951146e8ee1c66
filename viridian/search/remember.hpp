#pragma once
// A source that is asked once for each kind of region: a search meets the same regions in hundreds of graphs.
#include <string>
#include <unordered_map>

#include "viridian/cost/source.hpp"

namespace viridian::search {

// Answers are kept by the region's signature and by which of its inputs die there; errors are not kept. Used
// by one thread; `source` outlives it.
class Remembered {
  public:
    explicit Remembered(const cost::Source& source);
    Remembered(const Remembered&) = delete;
    Remembered& operator=(const Remembered&) = delete;
    [[nodiscard]] const cost::Source& source() const { return remembering_; }

  private:
    std::unordered_map<std::string, std::vector<cost::PricedChoice>> choices_;
    std::unordered_map<std::string, cost::Price> conversions_;
    cost::Source remembering_;
};

}  // namespace viridian::search
