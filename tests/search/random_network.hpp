#pragma once
// Small random networks with random kernels and prices, and an oracle that tries everything. The oracle
// shares no code with the solver: it goes by the words of docs/search.md.
#include <map>

#include "viridian/base/random.hpp"
#include "viridian/search/assign/solvers.hpp"

namespace viridian::search::tests {

struct Network {
    graph::Graph graph;
    std::vector<plan::Region> regions;
    std::map<std::vector<graph::NodeId>, std::vector<cost::PricedChoice>> choices;
    std::map<std::pair<std::string, std::string>, cost::Price> conversions;  // by format
    std::vector<plan::Format> formats;

    [[nodiscard]] cost::PriceSource source() const;
};

struct Recipe {
    std::size_t nodes = 5;
    std::size_t formats = 3;
    std::size_t choices = 3;
    bool fusion = true;
    bool in_place = true;
};

[[nodiscard]] Network random_network(Random& random, const Recipe& recipe);
[[nodiscard]] cost::Price price(double seconds, double joules);
[[nodiscard]] Result<plan::Assignment> assigned(const Network& network, const Objective& objective,
                                                const AssignOptions& options = {});

// The least objective over every cover, every choice and every set of formats.
[[nodiscard]] double brute_force(const Network& network, const Weights& weights);
// What this assignment costs; infinite if it breaks a rule, or carries a price that is not the network's.
[[nodiscard]] double price_of(const Network& network, const plan::Assignment& assignment,
                              const Weights& weights);

}  // namespace viridian::search::tests
