#include "viridian/search/assign/close_choices.hpp"

#include <gmock/gmock.h>

#include "viridian/graph/infer.hpp"
#include "viridian/search/assign/assign.hpp"

namespace viridian::search {
namespace {

// x → Abs → Neg → Relu, each region's kernel priced by its operators; intervals of 1 % either way.
struct Chain {
    graph::Graph graph;
    std::vector<plan::Region> regions;
    std::map<std::string, std::vector<double>> prices;  // seconds of kernels 0, 1, ..
    std::map<std::string, std::vector<double>> joules;  // of the same kernels, metered; 1 % either way too

    Chain() {
        auto value = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({4})});
        for (const char* op : {"Abs", "Neg", "Relu"}) value = graph.add(op, {value});
        graph.set_outputs({value});
        EXPECT_TRUE(graph::infer_types(graph).ok());
        regions = *plan::candidate_regions(graph);
    }
    std::string operators(const plan::Region& region) const {
        std::string text;
        for (const auto id : region.nodes)
            text += (text.empty() ? "" : " ") + graph.node(id).op.qualified_name();
        return text;
    }
    cost::PriceSource source() const {
        return {[this](const graph::Graph&,
                       const plan::Region& region) -> Result<std::vector<cost::PricedChoice>> {
                    std::vector<cost::PricedChoice> list;
                    const auto found = prices.find(operators(region));
                    if (found == prices.end()) return list;
                    for (const double price : found->second) {
                        cost::PricedChoice priced;
                        priced.choice.kernel = fmt::format("k{}", list.size());
                        const plan::Format format{plan::plain(1), graph::ElementType::f32, {}};
                        priced.choice.inputs = {format};
                        priced.choice.outputs = {format};
                        priced.price.seconds = Seconds(price);
                        priced.price.low = Seconds(0.99 * price);
                        priced.price.high = Seconds(1.01 * price);
                        if (const auto metered = joules.find(found->first); metered != joules.end()) {
                            const double value = metered->second[list.size()];
                            priced.price.energy = {Joules(value),
                                                   Joules(0.99 * value),
                                                   Joules(1.01 * value),
                                                   {Provenance::Kind::measured, "powercap"}};
                        }
                        list.push_back(std::move(priced));
                    }
                    return list;
                },
                [](const graph::Dims&, const plan::Format&, const plan::Format&) -> Result<cost::Price> {
                    return cost::Price{};
                }};
    }
    std::vector<std::string> found(double margin, const std::string& objective = "time") const {
        const Objective wanted = *parse_objective(objective);
        const auto outcome = solve(*Instance::of(graph, source()), wanted);
        EXPECT_TRUE(outcome.ok());
        const auto yardstick = Yardstick::of(wanted, outcome->totals, outcome->totals);
        const auto list = close_choices(graph, regions, source(), outcome->assignment, yardstick, margin);
        EXPECT_TRUE(list.ok());
        std::vector<std::string> names;
        for (const auto& one : *list) EXPECT_TRUE(one.price.has_value());
        for (const auto& one : *list) names.push_back(operators(one.region) + " " + one.choice.kernel);
        return names;
    }
};

using testing::UnorderedElementsAre;

TEST(CloseChoices, OtherKernelsOfAChosenRegion) {
    Chain chain;
    chain.prices = {{"Abs", {1.0, 1.03, 1.5}}, {"Neg", {1.0}}, {"Relu", {2.0, 1.0}}};
    EXPECT_THAT(chain.found(0.03), UnorderedElementsAre("Abs k0", "Abs k1", "Neg k0", "Relu k1"));
}

TEST(CloseChoices, AMergeThatNearlyWon) {
    Chain chain;
    chain.prices = {
        {"Abs", {1.0}}, {"Neg", {1.0}}, {"Relu", {1.0}}, {"Abs Neg", {2.05, 3.0}}, {"Neg Relu", {2.5}}};
    EXPECT_THAT(chain.found(0.03), UnorderedElementsAre("Abs k0", "Neg k0", "Relu k0", "Abs Neg k0"));
}

TEST(CloseChoices, TheBestCutOfAChosenChain) {
    Chain chain;
    chain.prices = {
        {"Abs", {1.0}}, {"Neg", {1.5}}, {"Relu", {1.0}}, {"Neg Relu", {2.0}}, {"Abs Neg Relu", {2.95}}};
    EXPECT_THAT(chain.found(0.03), UnorderedElementsAre("Abs Neg Relu k0", "Abs k0", "Neg Relu k0"));
    chain.prices["Abs Neg Relu"] = {2.5};
    EXPECT_THAT(chain.found(0.03), UnorderedElementsAre("Abs Neg Relu k0"));
}

// k0 and k1 take equal joules and k0 and k2 equal seconds: the objective says which of them may have won by
// chance.
TEST(CloseChoices, TheObjectiveSaysWhatIsClose) {
    Chain chain;
    chain.prices = {{"Abs", {1.0, 2.0, 1.01}}, {"Neg", {1.0}}, {"Relu", {1.0}}};
    chain.joules = {{"Abs", {50.0, 50.5, 90.0}}, {"Neg", {50.0}}, {"Relu", {50.0}}};
    EXPECT_THAT(chain.found(0.03, "energy"), UnorderedElementsAre("Abs k0", "Abs k1", "Neg k0", "Relu k0"));
    EXPECT_THAT(chain.found(0.03, "time"), UnorderedElementsAre("Abs k0", "Abs k2", "Neg k0", "Relu k0"));
}

}  // namespace
}  // namespace viridian::search
