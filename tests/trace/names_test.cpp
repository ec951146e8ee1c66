#include "viridian/trace/names.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <unordered_map>

#include "viridian/base/random.hpp"

namespace viridian::trace {
namespace {

TEST(Names, AgreesWithAMapOnRandomStrings) {
    Random random(7);
    Names names;
    std::unordered_map<std::string, NameId> known{{"", 0}};
    for (int i = 0; i < 20'000; ++i) {
        std::string text(random.below(40), 'a');
        for (char& c : text) c = static_cast<char>('a' + random.below(2));
        const auto [found, fresh] = known.emplace(text, static_cast<NameId>(names.size()));
        EXPECT_EQ(names.add(text), found->second);
        EXPECT_EQ(names[found->second], text);
    }
    EXPECT_EQ(names.size(), known.size());
    EXPECT_EQ(names[static_cast<NameId>(names.size())], "");
}

TEST(Names, ACopyOutlivesItsOriginalAndGrowsOnItsOwn) {
    auto original = std::make_unique<Names>();
    const NameId a = original->add("shared text");
    Names copy(*original);
    const NameId mine = copy.add("only in the copy");
    const NameId theirs = original->add("only in the original");
    EXPECT_EQ(mine, theirs);
    EXPECT_EQ((*original)[theirs], "only in the original");
    original.reset();
    EXPECT_EQ(copy[a], "shared text");
    EXPECT_EQ(copy[mine], "only in the copy");
}

TEST(Paths, PartsAreSharedAndJoined) {
    Names names;
    Paths paths;
    const PathId query = paths.add(0, "bert//encoder/layer_0/", names, '/');
    EXPECT_EQ(paths.text(query, names), "bert/encoder/layer_0");
    EXPECT_EQ(paths.depth(query), 3U);
    EXPECT_EQ(paths.add(0, "bert/encoder", names, '/'), paths.parent(query));
    EXPECT_EQ(paths.text(0, names), "");
    for (int i = 0; i < 3000; ++i) paths.add(query, names.add(std::to_string(i)));
    EXPECT_EQ(paths.size(), 3004U);
    EXPECT_EQ(paths.add(query, names.add("17")), 21U);
}

}  // namespace
}  // namespace viridian::trace
