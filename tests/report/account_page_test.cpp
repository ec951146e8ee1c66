// The pages of `account` and its studies in a browser: results that the commands wrote, on a phone and on a
// desk, in both colours.
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

struct Page {
    Json result;
    std::string html, name, reason;  // reason: why there is no browser

    explicit Page(const std::string& which) : name("account-" + which) {
        const std::string file = fmt::format("tests/data/report/account_{}.json", which);
        const auto text = read_file(tests::source_folder() / file);
        EXPECT_TRUE(text.ok()) << file;
        if (!text.ok()) return;
        result = *parse_json(*text, file);
        const auto made = page(result);
        EXPECT_TRUE(made.ok());
        if (made.ok()) html = *made;
    }
    Json ask(int width, bool dark, const std::string& script) {
        const auto seen = tests::visit(
            html, {.width = width, .height = 1600, .dark = dark, .script = script, .name = name});
        if (!seen.ok() && seen.error().code == ErrorCode::no_device) {
            reason = seen.error().text();
            return {};
        }
        EXPECT_TRUE(seen.ok()) << seen.error().text();
        if (!seen.ok()) return {};
        EXPECT_THAT(seen->problems, IsEmpty());
        return seen->answer;
    }
};

class AccountPages : public testing::TestWithParam<const char*> {};

TEST_P(AccountPages, FitEveryScreenWithoutErrors) {
    Page page(GetParam());
    for (const auto& [width, dark] : {std::pair{390, false}, std::pair{390, true}, std::pair{1280, false}}) {
        const Json seen = page.ask(width, dark, tests::overflow_script);
        if (!page.reason.empty()) GTEST_SKIP() << page.reason;
        EXPECT_EQ(seen["overflow"], 0) << width << ": " << seen["by"].dump();
        EXPECT_THAT(seen["by"], IsEmpty());
    }
}

INSTANTIATE_TEST_SUITE_P(All, AccountPages,
                         testing::Values("flow", "modules", "top", "epochs", "diff", "overhead"));

TEST(AccountPage, ModulesComeFirstWithTheirPasses) {
    Page page("modules");
    const Json seen = page.ask(1280, false, R"(
        return { title: document.querySelector('main h2').textContent,
                 head: [...document.querySelectorAll('#footprint th')].map((th) => th.textContent),
                 rows: [...document.querySelectorAll('#footprint tbody tr')].map((tr) => [...tr.cells].map((td) => td.textContent)) };)");
    if (!page.reason.empty()) GTEST_SKIP() << page.reason;
    EXPECT_EQ(seen["title"], "Energy by module");
    EXPECT_EQ(seen["head"], Json::array({"module", "class", "joules", "interval", "share", "forward",
                                         "backward", "recompute", "optimizer", "time", "calls"}));
    const Json& rows = page.result["footprint"]["rows"];
    ASSERT_EQ(seen["rows"].size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::string name = rows[i]["name"];
        EXPECT_EQ(seen["rows"][i][0], rows[i]["itself"] == true ? name + ", itself" : name);
        EXPECT_EQ(seen["rows"][i][1], rows[i]["type"]);
    }
}

TEST(AccountPage, BoxesShareTheLevelArrowsFollowTheDataAndLayersOpen) {
    Page page("flow");
    const Json seen = page.ask(1280, false, R"(
        const look = () => ({
          names: [...document.querySelectorAll('#diagram g')].map((g) => g.querySelector('text').textContent),
          shares: [...document.querySelectorAll('#diagram g')].map((g) => parseFloat(g.querySelectorAll('text')[1].textContent)),
          arrows: document.querySelectorAll('#diagram .arrow').length,
          where: document.getElementById('where').textContent,
          note: document.getElementById('diagram-note').textContent,
        });
        const open = (name) => [...document.querySelectorAll('#diagram g[role=button]')]
          .find((g) => g.querySelector('text').textContent === name).dispatchEvent(new MouseEvent('click'));
        const levels = [look()];
        for (const name of ['encoder', 'layer_1', 'attention']) { open(name); levels.push(look()); }
        document.querySelector('#where a').click();
        return { levels, whole: look(), rows: document.querySelectorAll('#operations tbody tr').length,
                 headline: document.querySelector('h1').textContent };)");
    if (!page.reason.empty()) GTEST_SKIP() << page.reason;
    const auto sum = [](const Json& shares) {
        double total = 0.0;
        for (const Json& share : shares) total += share.get<double>();
        return total;
    };
    // The first level with something to compare, then three levels down: data flows from box to box.
    const std::vector<std::string> where = {"program / bert", "program / bert / encoder",
                                            "program / bert / encoder / layer_1",
                                            "program / bert / encoder / layer_1 / attention"};
    const std::vector<std::size_t> boxes = {3, 3, 3, 2};
    const std::vector<int> arrows = {2, 2, 3, 1};  // the residual goes past `intermediate`
    ASSERT_EQ(seen["levels"].size(), where.size());
    for (std::size_t i = 0; i < where.size(); ++i) {
        const Json& level = seen["levels"][i];
        EXPECT_EQ(level["where"], where[i]);
        EXPECT_EQ(level["names"].size(), boxes[i]) << where[i];
        EXPECT_NEAR(sum(level["shares"]), 100.0, 0.5) << where[i];
        EXPECT_EQ(level["arrows"], arrows[i]) << where[i];
        EXPECT_THAT(level["note"].get<std::string>(), HasSubstr("Arrows: data flow."));
    }
    EXPECT_EQ(seen["whole"]["names"].dump(), R"(["bert"])");
    EXPECT_GE(seen["rows"], 20);
    EXPECT_THAT(seen["headline"].get<std::string>(),
                HasSubstr(fmt::format("{} operations", page.result["operations"].size())));
}

TEST(AccountPage, WithoutDataFlowItSaysSo) {
    Page page("flow");
    page.result.erase("edges");
    page.html = *report::page(page.result);
    const Json seen = page.ask(390, false, R"(
        return { arrows: document.querySelectorAll('#diagram .arrow').length,
                 note: document.getElementById('diagram-note').textContent };)");
    if (!page.reason.empty()) GTEST_SKIP() << page.reason;
    EXPECT_EQ(seen["arrows"], 0);
    EXPECT_THAT(seen["note"].get<std::string>(), HasSubstr("boxes only"));
}

TEST(AccountPage, StudiesShowEveryFigureOfTheirResult) {
    const std::string count = R"(return {
        whiskers: document.querySelectorAll('.whiskers svg').length,
        points: document.querySelectorAll('.point').length,
        cells: document.querySelectorAll('.matrix td').length,
        rows: document.querySelectorAll('tbody tr').length,
        headline: document.querySelector('h1').textContent, text: document.body.textContent };)";
    Page top("top"), epochs("epochs"), diff("diff"), overhead("overhead");
    const Json seen_top = top.ask(1280, false, count);
    if (!top.reason.empty()) GTEST_SKIP() << top.reason;
    std::size_t passes = 0;
    for (const char* part : {"forward", "backward", "neither"})
        passes += top.result[part]["value"].get<double>() > 0 ? 1 : 0;
    EXPECT_EQ(seen_top["whiskers"], passes + 2 * top.result["entries"].size());
    std::size_t points = 0;
    for (const Json& device : epochs.result["devices"])
        for (const Json& point : device["points"]) points += point["watts"].is_null() ? 0 : 1;
    EXPECT_GT(points, 10U);
    EXPECT_EQ(epochs.ask(1280, false, count)["points"], points);
    const std::size_t names = diff.result["matrix"]["names"].size();
    EXPECT_EQ(names, 3U);
    const Json seen_diff = diff.ask(1280, false, count);
    EXPECT_EQ(seen_diff["cells"], 4 * names * names);
    EXPECT_THAT(seen_diff["headline"].get<std::string>(), HasSubstr("→"));
    const Json seen_overhead = overhead.ask(1280, false, count);
    EXPECT_EQ(seen_overhead["rows"], 2);
    EXPECT_THAT(seen_overhead["headline"].get<std::string>(), HasSubstr("Recording costs"));
}

}  // namespace
}  // namespace viridian::report
