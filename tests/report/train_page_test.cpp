// The page of `train` in a browser: a result that the command wrote, on a phone and on a desk, in both
// colours; and results that lack joules, epochs or metrics.
#include <gmock/gmock.h>

#include "tests/support/browser/visit.hpp"
#include "tests/support/paths.hpp"
#include "viridian/base/file.hpp"
#include "viridian/base/json.hpp"
#include "viridian/report/page.hpp"

namespace viridian::report {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class TrainPage : public testing::Test {
  protected:
    void SetUp() override {
        const auto text = read_file(tests::source_folder() / "tests/data/report/train.json");
        ASSERT_TRUE(text.ok());
        result_ = *parse_json(*text, "train.json");
    }
    // What `script` answers in the page of `result`; null without a browser.
    Json ask(const Json& result, int width, bool dark, const std::string& script) {
        const auto html = page(result);
        EXPECT_TRUE(html.ok()) << html.error().text();
        if (!html.ok()) return {};
        const auto seen = tests::visit(
            *html, {.width = width, .height = 2200, .dark = dark, .script = script, .name = "train"});
        if (!seen.ok() && seen.error().code == ErrorCode::no_device) {
            no_browser_ = seen.error().text();
            return {};
        }
        EXPECT_TRUE(seen.ok()) << seen.error().text();
        if (!seen.ok()) return {};
        EXPECT_THAT(seen->problems, IsEmpty());
        return seen->answer;
    }

    Json result_;
    std::string no_browser_;
};

TEST_F(TrainPage, FitsEveryScreenWithoutErrors) {
    for (const auto& [width, dark] : {std::pair{390, false}, std::pair{390, true}, std::pair{1280, false}}) {
        const Json seen = ask(result_, width, dark, tests::overflow_script);
        if (!no_browser_.empty()) GTEST_SKIP() << no_browser_;
        EXPECT_EQ(seen["overflow"], 0) << width << ": " << seen["by"].dump();
        EXPECT_THAT(seen["by"], IsEmpty());
    }
}

TEST_F(TrainPage, ShowsEveryCurveEpochAndLayer) {
    const Json seen = ask(result_, 1280, false, R"(
        for (const more of document.querySelectorAll('.more')) more.click();
        return { headline: document.querySelector('h1').textContent,
                 curves: [...document.querySelectorAll('#curves figcaption')].map((one) => one.textContent),
                 drawn: [...document.querySelectorAll('#curves svg')].map((svg) => svg.querySelectorAll('polyline, circle').length),
                 epochs: document.querySelectorAll('#epochs tbody tr').length,
                 layers: [...document.querySelectorAll('#layers tbody tr')].map((tr) => tr.cells[0].textContent),
                 head: [...document.querySelectorAll('#layers th')].map((th) => th.textContent),
                 bars: [...document.querySelectorAll('#bars .parts')].map((bar) => bar.children.length),
                 devices: document.querySelectorAll('#devices tbody tr').length,
                 text: document.body.innerText };)");
    if (!no_browser_.empty()) GTEST_SKIP() << no_browser_;
    EXPECT_THAT(seen["headline"].get<std::string>(), HasSubstr(": loss "));
    const std::size_t metrics = result_["epochs"][0]["metrics"].size();
    ASSERT_EQ(seen["curves"].size(), 5 + metrics);  // loss, rate, speed, power, joules per epoch
    for (const Json& marks : seen["drawn"]) EXPECT_GT(marks.get<int>(), 0);
    EXPECT_EQ(seen["epochs"], result_["epochs"].size());
    const Json& layers = result_["energy"]["layers"];
    ASSERT_EQ(seen["layers"].size(), layers.size());
    for (std::size_t i = 0; i < layers.size(); ++i) EXPECT_EQ(seen["layers"][i], layers[i]["name"]);
    for (const char* phase : {"forward", "backward", "update"})
        EXPECT_THAT(seen["head"], testing::Contains(Json(phase)));
    EXPECT_EQ(seen["bars"].size(), std::min<std::size_t>(layers.size(), 15));
    EXPECT_EQ(seen["devices"], result_["energy"]["devices"].size());
    const std::string text = seen["text"];
    EXPECT_THAT(text, HasSubstr("estimated"));
    for (const char* wrong : {"undefined", "NaN", "[object"}) EXPECT_EQ(text.find(wrong), std::string::npos);
}

TEST_F(TrainPage, SaysWhatIsNotKnown) {
    Json bare = result_;
    bare["epochs"] = Json::array();
    bare["curve"] = Json::array();
    bare["energy"] = {{"meter", "none"},          {"provenance", "measured:powercap"},
                      {"joules_a_step", nullptr}, {"layers", Json::array()},
                      {"devices", Json::array()}, {"warnings", Json::array()}};
    Json short_run = result_;
    short_run["epochs"].erase(short_run["epochs"].begin() + 1, short_run["epochs"].end());
    short_run["epochs"][0]["joules"] = nullptr;
    short_run["epochs"][0]["metrics"] = Json::object();
    short_run["curve"].erase(short_run["curve"].begin() + 1, short_run["curve"].end());
    short_run["curve"][0]["joules"] = nullptr;
    for (const Json& result : {bare, short_run}) {
        const Json text = ask(result, 390, false, "return document.body.innerText;");
        if (!no_browser_.empty()) GTEST_SKIP() << no_browser_;
        for (const char* wrong : {"undefined", "NaN", "[object"})
            EXPECT_EQ(text.get<std::string>().find(wrong), std::string::npos);
    }
}

}  // namespace
}  // namespace viridian::report
