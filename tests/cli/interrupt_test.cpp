#include "viridian/cli/interrupt.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "viridian/cost/synthetic.hpp"
#include "viridian/search/graphs/outer.hpp"
#include "viridian/zoo/zoo.hpp"

namespace viridian::cli {
namespace {

// A real SIGINT in the middle of a search: it ends at once with the best graph so far, which replays.
TEST(Interrupt, ends_a_search_with_the_best_so_far) {
    auto graph = zoo::build("squeezenet1_1", {});
    ASSERT_TRUE(graph.ok());
    ASSERT_TRUE(rewrite::simplify(*graph).ok());
    for (const auto method : {search::OuterMethod::joint, search::OuterMethod::backtracking}) {
        const Interrupt interrupt;
        search::OuterOptions options;
        options.method = method;
        options.most_graphs = 1000000;
        options.time_limit = Seconds(600);
        std::size_t after = 0;
        options.progress = [&](const search::OuterProgress& now) {
            if (now.graphs >= 100 && !interrupt.asked()) std::raise(SIGINT);
            after = now.graphs;
        };
        options.cancelled = [&] { return interrupt.asked(); };
        const auto found = search::outer_search(*graph, cost::synthetic(1), search::Objective{}, options);
        ASSERT_TRUE(found.ok()) << found.error().text();
        EXPECT_EQ(found->ended_by, search::EndedBy::cancelled);
        EXPECT_LE(after, 110u) << "it ends soon";
        EXPECT_LT(found->outcome.assignment.value, found->improvements.front().best);
        const auto replayed = rewrite::replay(*graph, found->certificate);
        ASSERT_TRUE(replayed.ok()) << replayed.error().text();
        EXPECT_EQ(structural_hash(*replayed), structural_hash(found->graph));
    }
}

// Cluster managers send SIGTERM some time before they kill.
TEST(Interrupt, hears_of_both_signals) {
    for (const int number : {SIGINT, SIGTERM}) {
        const Interrupt interrupt;
        EXPECT_FALSE(interrupt.asked());
        std::raise(number);
        EXPECT_TRUE(interrupt.asked());
    }
}

}  // namespace
}  // namespace viridian::cli
