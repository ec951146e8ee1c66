#include "tests/support/browser/visit.hpp"

#include <gmock/gmock.h>

namespace viridian::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The helper itself: what it would miss, no test of a page could find.
TEST(Browser, SeesErrorsWidthsAndColours) {
    const std::string html =
        "<!doctype html><html><head></head><body><p style=\"width:600px\">é "
        "\"&</p><script>console.error('one');"
        "nothing();</script></body></html>";
    const auto light = tests::visit(html, {.width = 390, .script = tests::overflow_script});
    if (!light.ok() && light.error().code == ErrorCode::no_device) GTEST_SKIP() << light.error().text();
    ASSERT_TRUE(light.ok()) << light.error().text();
    EXPECT_EQ(light->answer["width"], 390);
    EXPECT_GT(light->answer["overflow"], 200);
    EXPECT_THAT(light->problems, ElementsAre("one", HasSubstr("nothing")));

    const auto dark = tests::visit(html, {.width = 800,
                                          .dark = true,
                                          .script = "return [innerWidth, document.body.innerText.trim(), "
                                                    "matchMedia('(prefers-color-scheme: dark)').matches];"});
    ASSERT_TRUE(dark.ok()) << dark.error().text();
    EXPECT_EQ(dark->answer, Json::parse("[800, \"é \\\"&\", true]"));
}

}  // namespace
}  // namespace viridian::report
