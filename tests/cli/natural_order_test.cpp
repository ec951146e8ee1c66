#include "viridian/cli/natural_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace viridian::cli {
namespace {

TEST(NaturalOrder, NumbersCompareByValue) {
    const std::vector<std::string> ordered = {
        "",      "10",    "a",       "a0",       "a00",       "a1",         "a01b",    "a2",      "a2b9",
        "a2b10", "input", "input_2", "input_10", "input_10a", "input_010b", "input_x", "\xc3\xa9"};
    for (std::size_t i = 0; i < ordered.size(); ++i)
        for (std::size_t j = 0; j < ordered.size(); ++j)
            EXPECT_EQ(natural_less(ordered[i], ordered[j]), i < j) << ordered[i] << " " << ordered[j];
}

TEST(NaturalOrder, NumbersMayBeLong) {
    const std::string one = "x" + std::string(40, '9'), more = "x1" + std::string(40, '0');
    EXPECT_TRUE(natural_less(one, more));
    EXPECT_FALSE(natural_less(more, one));
}

}  // namespace
}  // namespace viridian::cli
