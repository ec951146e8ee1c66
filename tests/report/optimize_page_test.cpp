// The page of `optimize` in a browser: results that the command wrote, on a phone and on a desk, in both
// colours.
#include <gmock/gmock.h>

#include "tests/support/browser/visit.hpp"
#include "tests/support/paths.hpp"
#include "viridian/base/file.hpp"
#include "viridian/base/json.hpp"
#include "viridian/report/page.hpp"

namespace viridian::report {
namespace {

using testing::IsEmpty;

class OptimizePage : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        const std::string name = fmt::format("tests/data/report/optimize_{}.json", GetParam());
        const auto text = read_file(tests::source_folder() / name);
        ASSERT_TRUE(text.ok()) << name;
        result_ = *parse_json(*text, name);
        const auto html = page(result_);
        ASSERT_TRUE(html.ok());
        html_ = *html;
    }
    // What the script answers; nothing where there is no browser (the test is skipped then).
    Json ask(int width, bool dark, const std::string& script) {
        const auto seen = tests::visit(html_, {.width = width,
                                               .height = 2400,
                                               .dark = dark,
                                               .script = script,
                                               .name = fmt::format("optimize-{}", GetParam())});
        if (!seen.ok() && seen.error().code == ErrorCode::no_device) {
            reason_ = seen.error().text();
            return {};
        }
        EXPECT_TRUE(seen.ok()) << seen.error().text();
        if (!seen.ok()) return {};
        EXPECT_THAT(seen->problems, IsEmpty());
        return seen->answer;
    }
    Json result_;
    std::string html_, reason_;
};

TEST_P(OptimizePage, FitsEveryScreenWithoutErrors) {
    for (const auto& [width, dark] : {std::pair{390, false}, std::pair{390, true}, std::pair{1280, false}}) {
        const Json seen = ask(width, dark, tests::overflow_script);
        if (!reason_.empty()) GTEST_SKIP() << reason_;
        EXPECT_EQ(seen["width"], width);
        EXPECT_EQ(seen["overflow"], 0) << width << ": " << seen["by"].dump();
        EXPECT_THAT(seen["by"], IsEmpty());
    }
}

TEST_P(OptimizePage, ShowsEveryLayerAndSortsThem) {
    const Json seen = ask(390, false, R"(
        const rows = () => [...document.querySelectorAll('#layers tbody tr')];
        const short = rows().length;
        document.querySelector('#layers .more').click();
        const names = rows().map((r) => r.firstChild.textContent);
        const titles = [...document.querySelectorAll('#layers th button')];
        titles.find((t) => t.textContent === 'predicted').click();
        const column = titles.findIndex((t) => t.textContent === 'predicted');
        const dearest = rows()[0].children[column].textContent;
        const search = document.querySelector('#layers input[type=search]');
        search.value = 'maxpool';
        search.dispatchEvent(new Event('input'));
        return { short, names, dearest, pools: rows().length, titles: titles.map((t) => t.textContent),
                 meanings: [...document.querySelectorAll('#bars .interval')].map((i) => i.title.split(':')[0]),
                 note: document.getElementById('bars-note').textContent,
                 boxes: document.querySelectorAll('#proof input').length, headline: document.querySelector('h1').textContent,
                 sources: document.querySelectorAll('#sources dd').length };)");
    if (!reason_.empty()) GTEST_SKIP() << reason_;
    const Json& layers = result_["layers"];
    EXPECT_EQ(seen["short"], 20);
    ASSERT_EQ(seen["names"].size(), layers.size());
    double dearest = 0;
    std::size_t pools = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        EXPECT_EQ(seen["names"][i], layers[i]["name"]);
        dearest = std::max(dearest, layers[i]["predicted"]["seconds"].get<double>());
        pools += layers[i]["operators"].dump().find("MaxPool") != std::string::npos ? 1 : 0;
    }
    EXPECT_EQ(std::stod(seen["dearest"].get<std::string>()), std::stod(fmt::format("{:.3g}", 1e6 * dearest)));
    EXPECT_EQ(seen["pools"], pools);
    EXPECT_EQ(seen["boxes"], 0);  // a short table needs no search
    EXPECT_GE(seen["sources"], 3);
    const bool recorded = result_.contains("recorded");
    EXPECT_EQ(seen["titles"].dump().find("predicted / ran") == std::string::npos, recorded);
    EXPECT_EQ(seen["headline"].get<std::string>().find("predicted") != std::string::npos, recorded);
    EXPECT_NE(seen["headline"].get<std::string>().find("estimated"), std::string::npos);
    EXPECT_EQ(seen["note"].get<std::string>().find("a factor of two by convention") == std::string::npos,
              recorded);
    const Json meanings = {"95 %", "95 %", "a factor of two by convention", "a factor of two by convention"};
    EXPECT_EQ(seen["meanings"], recorded ? Json::array() : meanings);
}

TEST_P(OptimizePage, BlocksOpenAndCloseAndTheFrontierHasItsPoints) {
    const Json seen = ask(1280, false, R"(
        const all = [...document.querySelectorAll('#graph details')], drawn = () => document.querySelectorAll('#graph svg').length;
        const open = all.filter((d) => d.open).length, before = drawn();
        const closed = all.find((d) => !d.open), first = all.find((d) => d.open);
        const tall = first.getBoundingClientRect().height;
        first.open = false;
        const hidden = tall - first.getBoundingClientRect().height;
        closed.open = true;
        closed.dispatchEvent(new Event('toggle'));
        const boxes = all.flatMap((d) => { d.open = true; d.dispatchEvent(new Event('toggle'));
          return [...d.querySelectorAll('g')]; }).length;
        return { blocks: all.length, open, before, hidden, opened: closed.querySelectorAll('svg').length, boxes,
                 circles: document.querySelectorAll('#frontier circle').length,
                 formats: document.querySelectorAll('#key span').length };)");
    if (!reason_.empty()) GTEST_SKIP() << reason_;
    EXPECT_GT(seen["blocks"], seen["open"]);  // blocks alike are drawn once
    EXPECT_EQ(seen["before"], seen["open"]);
    EXPECT_GT(seen["hidden"], 30);  // px
    EXPECT_EQ(seen["opened"], 1);
    EXPECT_EQ(seen["boxes"], result_["layers"].size());
    EXPECT_GE(seen["formats"], 2);
    const std::size_t vertices = result_["frontier"]["vertices"].size();
    EXPECT_EQ(seen["circles"], vertices > 1 ? vertices + 1 : 0);
}

// Only `exact` proves a bound; infinite ones are null in JSON.
TEST_P(OptimizePage, IsWholeForEverySolverAndSaysHowNearTheBoundIs) {
    const std::tuple<const char*, Json, Json, std::string> cases[] = {
        {"greedy", nullptr, nullptr, "chosen by greedy, 2.00\u00a0m%; no bound known"},
        {"exact", 0.0019, 1e-4,
         "chosen by exact, gap 100\u00a0µ%: 2.00\u00a0m%, and no plan of this graph is below 1.90\u00a0m%"},
        {"exact", 0.002, 0.0, "chosen by exact, the cheapest of this graph's plans at these prices (gap 0)"}};
    for (const auto& [solver, bound, gap, expected] : cases) {
        result_["assignment"] = {{"solver", solver}, {"value", 0.002}, {"bound", bound}, {"gap", gap}};
        html_ = *page(result_);
        const Json seen = ask(1280, false, R"(
            return { changes: document.getElementById('changes').innerText,
                     layers: document.querySelectorAll('#layers tbody tr').length,
                     blocks: document.querySelectorAll('#graph details').length,
                     sources: document.querySelectorAll('#sources dd').length };)");
        if (!reason_.empty()) GTEST_SKIP() << reason_;
        std::string wanted = expected;
        const std::string unit = result_["objective"] == "energy" ? "J" : "s";
        for (std::size_t at; (at = wanted.find('%')) != std::string::npos;) wanted.replace(at, 1, unit);
        EXPECT_NE(seen["changes"].get<std::string>().find(wanted), std::string::npos)
            << wanted << " in\n"
            << seen["changes"].get<std::string>();
        EXPECT_GT(seen["layers"], 0);
        EXPECT_GT(seen["blocks"], 0);
        EXPECT_GE(seen["sources"], 3);
    }
}

INSTANTIATE_TEST_SUITE_P(Results, OptimizePage, testing::Values("recorded", "measured"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace viridian::report
