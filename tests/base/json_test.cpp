#include "viridian/base/json.hpp"

#include <gtest/gtest.h>

namespace viridian {
namespace {

TEST(Json, KeepsKeyOrder) {
    const auto json = parse_json(R"({"b":1,"a":2})", "x");
    ASSERT_TRUE(json.ok());
    EXPECT_EQ(json->dump(), R"({"b":1,"a":2})");
}

TEST(Json, NamesLineAndColumn) {
    const auto json = parse_json("{\n  \"a\": ?}", "x.json");
    ASSERT_FALSE(json.ok());
    EXPECT_EQ(json.error().code, ErrorCode::malformed);
    EXPECT_NE(json.error().message.find("`x.json`"), std::string::npos);
    EXPECT_NE(json.error().message.find("line 2"), std::string::npos);
}

TEST(Json, RefusesDeepNesting) {
    EXPECT_EQ(parse_json(std::string(100000, '['), "x").error().code, ErrorCode::limit_exceeded);
    EXPECT_TRUE(parse_json("\"" + std::string(100000, '[') + "\"", "x").ok());
}

}  // namespace
}  // namespace viridian
