#include "viridian/cli/nearest_name.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace viridian::cli {
namespace {

TEST(NearestName, FindsWhatWasMeantAndNothingElse) {
    const std::vector<std::string> names = {"doctor", "optimize", "run", "record", "report"};
    EXPECT_EQ(nearest_name("optimise", names), "optimize");
    EXPECT_EQ(nearest_name("optmze", names), "optimize");
    EXPECT_EQ(nearest_name("rum", names), "run");
    EXPECT_EQ(nearest_name("repord", names), "record") << "the first among equals";
    EXPECT_EQ(nearest_name("improve", names), std::nullopt);
    EXPECT_EQ(nearest_name("", names), std::nullopt);
    EXPECT_EQ(nearest_name(std::string(1 << 20, 'x'), names), std::nullopt);
}

}  // namespace
}  // namespace viridian::cli
