#include "viridian/trace/binary/binary.hpp"

#include <gtest/gtest.h>

#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/trace/random_trace.hpp"
#include "viridian/trace/binary/binary_columns.hpp"

namespace viridian::trace {
namespace {

std::string packed(Source& source, Packing packing = Packing::fast) {
    std::string bytes;
    const auto sink = binary_sink(out_to(bytes), packing);
    EXPECT_TRUE(copy(source, *sink).ok());
    return bytes;
}

void expect_identical(const Collected& a, const Collected& b) {
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
        expect_identical(whole, again);
        EXPECT_LT(bytes.size(), 2'000 + whole.events.size() * 40);
    }
}

TEST(Binary, ColumnsGiveBackTheSameAndAreSmaller) {
    for (const auto& file :
         std::filesystem::directory_iterator(tests::source_folder() / "tests/data/traces")) {
        if (file.path().extension() == ".md") continue;
        SCOPED_TRACE(file.path().filename().string());
        const Collected whole = collect(**open(file.path())).value();
        const std::string rows = packed(**open(file.path()));
        const std::string columns = packed(**open(file.path()), Packing::small);
        expect_identical(whole, collect(**open_text(columns, "again")).value());
        if (whole.events.size() > 1000) {
            EXPECT_LT(columns.size(), rows.size());
        }
    }
}

// Whatever an event may hold, and more events than one block has.
TEST(Binary, ColumnsKeepAnyEvent) {
    Random random(7);
    for (const std::size_t count : {0U, 1U, 500U, 70'000U}) {
        Collected trace;
        Trace& about = trace.about;
        for (int i = 0; i < 50; ++i) {
            const NameId name = about.names.add("name" + std::to_string(i));
            about.paths.add(static_cast<PathId>(random.below(about.paths.size())), name);
        }
        for (const char* device : {"cpu:0", "cuda:0", "cuda:1"})
            for (int i = 0; i < 3; ++i) about.lane(about.device(device), 1, i);
        const auto any = [&](std::uint64_t most) { return random.below(random.below(2) == 0 ? 2 : most); };
        Nanoseconds time = -1'000'000'000;
        for (std::size_t i = 0; i < count; ++i) {
            Event& event = trace.events.emplace_back();
            event.start = time += static_cast<Nanoseconds>(any(std::uint64_t{1} << 35));
            event.end = time + static_cast<Nanoseconds>(any(std::uint64_t{1} << 62));
            event.instance = i + 1;
            event.parent = any(i + 1);
            event.owner = any(i + 1);
            event.forward = any(i + 1);
            event.correlation = any(~std::uint64_t{0});
            event.sequence = static_cast<std::int64_t>(any(std::uint64_t{1} << 63)) - 1;
            if (event.sequence < -1) event.sequence = -1;
            event.kind = static_cast<Kind>(random.below(kind_count));
            event.pass = static_cast<Pass>(random.below(pass_count));
            if (event.kind == Kind::counter) event.value = static_cast<double>(any(1 << 30)) / 7.0;
            event.name = static_cast<NameId>(random.below(about.names.size()));
            event.type =
                random.below(2) == 0 ? event.name : static_cast<NameId>(random.below(about.names.size()));
            event.path = static_cast<PathId>(random.below(about.paths.size()));
            event.scope = static_cast<PathId>(any(about.paths.size()));
            event.lane = static_cast<LaneId>(random.below(about.lanes.size()));
            event.device = random.below(8) == 0 ? DeviceId{0} : about.lanes[event.lane].device;
            event.depth = static_cast<std::uint32_t>(any(100));
        }
        std::string bytes;
        const auto sink = binary_sink(out_to(bytes), Packing::small);
        const std::span<const Event> all(trace.events);
        for (std::size_t i = 0; i < count; i += 1000)
            ASSERT_TRUE(sink->take(all.subspan(i, std::min<std::size_t>(1000, count - i)), about).ok());
        ASSERT_TRUE(sink->finish(about).ok());
        EXPECT_EQ(collect(**open_text(bytes, "again"))->events, trace.events);
    }
}

TEST(Binary, DamagedColumnsNeverGiveAnImpossibleEvent) {
    Random random(8);
    const std::string text = tests::random_trace(random, 40).text();
    auto source = open_text(text, "t");
    const Collected whole = collect(**source).value();
    const std::string good = encode_columns(whole.events, whole.about);
    for (int round = 0; round < 3000; ++round) {
        std::string bad = good;
        for (std::uint64_t i = random.below(4); i < 4; ++i)
            bad[random.below(bad.size())] = static_cast<char>(random.below(256));
        if (random.below(4) == 0) bad.resize(random.below(bad.size()));
        Cursor in(bad);
        std::vector<Event> events;
        if (!decode_columns(in, whole.about, 0, events)) continue;
        for (const Event& event : events) {
            ASSERT_LE(event.start, event.end);
            ASSERT_LT(event.lane, whole.about.lanes.size());
            ASSERT_LT(event.path, whole.about.paths.size());
            ASSERT_LT(event.name, whole.about.names.size());
        }
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
    const viridian::tests::TemporaryFolder folder;
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
    std::filesystem::create_symlink("/dev/full", folder / "full");
    const std::string text = tests::random_trace(random, 20).text();
    auto source = open_text(text, "t");
    EXPECT_EQ(write_viridian(**source, folder / "full").error().code, ErrorCode::disk_full);
    EXPECT_TRUE(std::filesystem::is_character_file(folder / "full"));
}

}  // namespace
}  // namespace viridian::trace
