#pragma once
// A Schedule is plain data: the units that each rank runs, in order. The dependencies between ranks follow
// from the units themselves (`network.hpp`).
#include <cstdint>
#include <string>
#include <vector>

#include "viridian/pipeline/unit.hpp"

namespace viridian::pipeline {

struct Schedule {
    std::string name;
    int stages = 0;  // virtual stages: chunks of the model, rank by rank or several per rank
    int micro_batches = 0;
    bool split_backward = false;  // backward units compute the input gradient only; weight units do the rest
    std::vector<std::vector<Unit>> ranks;  // the units of each rank, in the order in which it runs them

    // Returns the number of units on all ranks.
    [[nodiscard]] std::int64_t size() const {
        std::int64_t count = 0;
        for (const auto& rank : ranks) count += static_cast<std::int64_t>(rank.size());
        return count;
    }
    bool operator==(const Schedule&) const = default;
};

// The most units that a schedule may have. Larger ones are refused before anything is allocated.
inline constexpr std::int64_t most_units = std::int64_t{1} << 25;

}  // namespace viridian::pipeline
