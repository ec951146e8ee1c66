#include "viridian/train/loop/portions.hpp"

#include <algorithm>

namespace viridian::train {

std::vector<Portion> portions_of(const data::Subset& subset, std::int64_t batch, bool full,
                                 std::size_t most) {
    std::vector<Portion> portions;
    for (std::int64_t first = 0; first < subset.count() && portions.size() < most; first += batch) {
        Portion& portion = portions.emplace_back();
        portion.draw.first = first;
        portion.counted = std::min(batch, subset.count() - first);
        for (std::int64_t i = 0; i < (full ? batch : portion.counted); ++i)
            portion.draw.samples.push_back(subset.at(first + std::min(i, portion.counted - 1)));
    }
    return portions;
}

}  // namespace viridian::train
