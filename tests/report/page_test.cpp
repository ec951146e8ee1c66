#include "viridian/report/page.hpp"

#include "viridian/base/json.hpp"

#include <gtest/gtest.h>

#include "viridian/report/assets.hpp"

namespace viridian::report {
namespace {

TEST(Page, HoldsTheResultSafely) {
    Json result = {{"schema", "viridian.optimize/1"}, {"model", "a</script><b>.onnx"}};
    EXPECT_EQ(page(result).error().code, ErrorCode::malformed);  // a page of errors helps nobody
    for (const char* field :
         {"device", "objective", "meter", "baseline", "optimized", "assignment", "rewrites", "layers"})
        result[field] = Json::object();
    const auto html = page(result);
    ASSERT_TRUE(html.ok());
    EXPECT_EQ(html->find("</script><b>"), std::string::npos);
    EXPECT_NE(html->find("a&lt;/script&gt;&lt;b&gt;.onnx"), std::string::npos);
    EXPECT_EQ(html->find("src="), std::string::npos);  // nothing is fetched
}

TEST(Page, UnknownSchemasAreRefused) {
    EXPECT_EQ(page(Json{{"schema", "x"}}).error().code, ErrorCode::unsupported);
    EXPECT_FALSE(page(Json::array()).ok());
    EXPECT_NE(page(Json{{"schema", "viridian.run/1"}}).error().next_step.find("`optimize`"),
              std::string::npos);
}

TEST(Assets, AreWhole) {
    EXPECT_TRUE(asset("page.css").starts_with(":root"));
    EXPECT_TRUE(asset("optimize.js").ends_with("graph();\n"));
    EXPECT_TRUE(asset("no such file").empty());
}

}  // namespace
}  // namespace viridian::report
