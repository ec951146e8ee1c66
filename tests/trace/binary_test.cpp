#include "viridian/trace/binary.hpp"

#include <gtest/gtest.h>

#include "tests/support/paths.hpp"
#include "tests/trace/random_trace.hpp"

namespace viridian::trace {
namespace {

std::string packed(Source& source) {
    std::string bytes;
    const auto sink = binary_sink(out_to(bytes));
    EXPECT_TRUE(copy(source, *sink).ok());
    return bytes;
}

void expect_same(const Collected& a, const Collected& b) {
    EXPECT_EQ(a.events, b.events);
    EXPECT_EQ(a.about.devices, b.about.devices);
    EXPECT_EQ(a.about.edges, b.about.edges);
    ASSERT_EQ(a.about.names.size(), b.about.names.size());
    for (NameId i = 0; i < a.about.names.size(); ++i) ASSERT_EQ(a.about.names[i], b.about.names[i]);
    for (PathId i = 0; i < a.about.paths.size(); ++i) ASSERT_EQ(a.about.qualified(i), b.about.qualified(i));
    ASSERT_EQ(a.about.lanes.size(), b.about.lanes.size());
    for (std::size_t i = 0; i < a.about.lanes.size(); ++i) {
        EXPECT_EQ(a.about.lanes[i].name, b.about.lanes[i].name);
        EXPECT_EQ(a.about.lanes[i].thread, b.about.lanes[i].thread);
    }
    EXPECT_EQ(a.about.format, b.about.format);
    EXPECT_EQ(a.about.clock.zero, b.about.clock.zero);
    EXPECT_EQ(a.about.begin, b.about.begin);
    EXPECT_EQ(a.about.end, b.about.end);
    EXPECT_EQ(a.about.unowned, b.about.unowned);
    EXPECT_EQ(a.about.lost_events, b.about.lost_events);
    ASSERT_EQ(a.about.warnings.size(), b.about.warnings.size());
}

TEST(Binary, EveryRealTraceComesBackAsItWas) {
    for (const auto& file :
         std::filesystem::directory_iterator(tests::source_folder() / "tests/data/traces")) {
        if (file.path().extension() == ".md") continue;
        const Collected whole = collect(**open(file.path())).value();
        const std::string bytes = packed(**open(file.path()));
        ASSERT_TRUE(is_binary(bytes));
        const Collected again = collect(**open_text(bytes, "again")).value();
        SCOPED_TRACE(file.path().filename().string());
        expect_same(whole, again);
        EXPECT_LT(bytes.size(), 2'000 + whole.events.size() * 40);
    }
}

TEST(Binary, ACutFileGivesWhatIsBeforeTheCut) {
    Random random(2);
    const std::string text = tests::random_trace(random, 3000).text();
    auto source = open_text(text, "t");
    const std::string bytes = packed(**source);
    const Collected whole = collect(**open_text(bytes, "t")).value();
    for (int round = 0; round < 50; ++round) {
        const auto size = 8 + random.below(bytes.size() - 8);
        const Collected part = collect(**open_text(std::string_view(bytes).substr(0, size), "t")).value();
        ASSERT_LE(part.events.size(), whole.events.size());
        EXPECT_TRUE(std::equal(part.events.begin(), part.events.end(), whole.events.begin()));
        EXPECT_EQ(part.about.warnings.size(), 1U);
        EXPECT_GT(part.about.lost_events, 0U);
    }
}

TEST(Binary, EventsOutOfOrderAreRefused) {
    std::string bytes;
    const auto sink = binary_sink(out_to(bytes));
    Trace about;
    about.lane(about.device("cpu:0"), 0, 0);
    std::vector<Event> events(2);
    events[0].start = events[0].end = 10;
    EXPECT_EQ(sink->take(events, about).error().code, ErrorCode::mismatch);
}

TEST(Binary, FilesAppearOnlyWhenTheyAreWhole) {
    const auto folder = std::filesystem::temp_directory_path() / "viridian_binary_test";
    std::filesystem::create_directories(folder);
    Random random(4);
    for (const std::string name : {"t.vtrace", "t.vtrace.gz", "t.vtrace.zst"}) {
        const std::string text = tests::random_trace(random, 20).text();
        auto source = open_text(text, "t");
        const auto path = folder / name;
        ASSERT_TRUE(write_viridian(**source, path).ok());
        EXPECT_GT(collect(**open(path))->events.size(), 100U);
    }
    {
        auto abandoned = open_out(folder / "abandoned");
        EXPECT_TRUE((*abandoned)->put("x").ok());
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "abandoned"));
    EXPECT_EQ(open_out("/no/such/folder/x").error().code, ErrorCode::file_not_writable);
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace viridian::trace
