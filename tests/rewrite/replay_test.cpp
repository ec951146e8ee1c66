#include <gtest/gtest.h>

#include "viridian/base/json.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/rewrite/certificate.hpp"

namespace viridian::rewrite {
namespace {

// What a certificate says after it was written to a file and read back.
Certificate read_back(const Certificate& certificate) {
    const auto read = certificate_of(to_json({certificate, 1}));
    EXPECT_TRUE(read.ok());
    return read.ok() ? read->applications : Certificate{};
}

// Every rule on graphs that it matches: wherever it applies, alone and with all that always pays behind it.
TEST(Replay, EveryRuleOverGeneratedMatches) {
    for (const Rule& rule : rules()) {
        int matches = 0;
        for (std::uint64_t seed = 1; seed <= 10; ++seed) {
            Random random(seed);
            ASSERT_NE(rule.instance, nullptr) << rule.name;
            Graph original = rule.instance(random, graph::ElementType::f32);
            ASSERT_TRUE(graph::infer_types(original).ok()) << rule.name;
            for (const NodeId at : original.nodes()) {
                Graph graph = original;
                const auto applied = apply(rule, graph, at);
                ASSERT_TRUE(applied.ok()) << rule.name << ": " << applied.error().text();
                if (!*applied) continue;
                ++matches;
                Certificate certificate = {**applied};
                const auto alone = replay(original, read_back(certificate));
                ASSERT_TRUE(alone.ok()) << rule.name << ": " << alone.error().text();
                EXPECT_EQ(structural_hash(*alone), structural_hash(graph)) << rule.name;

                const auto rest = simplify(graph);
                ASSERT_TRUE(rest.ok()) << rule.name << ": " << rest.error().text();
                certificate.insert(certificate.end(), rest->certificate.begin(), rest->certificate.end());
                const auto replayed = replay(original, read_back(certificate));
                ASSERT_TRUE(replayed.ok()) << rule.name << ": " << replayed.error().text();
                EXPECT_EQ(structural_hash(*replayed), structural_hash(graph)) << rule.name;

                Certificate forged = certificate;
                forged[0].after ^= 1U;
                EXPECT_FALSE(replay(original, forged).ok()) << rule.name;
                forged = certificate;
                forged[0].removed.emplace_back("another");
                EXPECT_FALSE(replay(original, forged).ok()) << rule.name;
                forged[0].removed.clear();
                EXPECT_EQ(replay(original, forged).ok(), certificate[0].removed.empty()) << rule.name;
                const std::uint64_t end = structural_hash(graph);
                EXPECT_TRUE(replay_file(original, {certificate, end}).ok()) << rule.name;
                EXPECT_FALSE(replay_file(original, {certificate, end ^ 1U}).ok()) << rule.name;
                EXPECT_EQ(replay_file(original, {{}, end}).ok(), structural_hash(original) == end)
                    << rule.name;
                forged = certificate;
                forged[0].rule = rule.name == "merge_common" ? "remove_no_op" : "merge_common";
                EXPECT_FALSE(replay(original, forged).ok()) << rule.name;
            }
        }
        EXPECT_GT(matches, 0) << rule.name << " never matched its own instances";
    }
}

}  // namespace
}  // namespace viridian::rewrite
