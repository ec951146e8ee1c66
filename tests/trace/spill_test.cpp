// A trace that does not fit gives the same events as one that does; order in the file does not matter.
#include "viridian/trace/join/spill.hpp"

#include <gtest/gtest.h>

#include "tests/support/paths.hpp"
#include "tests/trace/random_trace.hpp"
#include "viridian/trace/read.hpp"

namespace viridian::trace {
namespace {

Collected read_with_budget(std::string_view text, std::size_t budget) {
    auto source = open_text(text, "random", {.spill = {budget, "/var/tmp"}});
    EXPECT_TRUE(source.ok());
    auto all = collect(**source);
    EXPECT_TRUE(all.ok());
    return std::move(all).value();
}

// What an event says, without the numbers of tables that depend on the order of reading.
std::string say(const Collected& trace, const Event& event) {
    const Trace& about = trace.about;
    return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}", event.start, event.end, event.instance,
                       event.parent, event.owner, event.forward, event.depth, about.names[event.name],
                       about.qualified(event.path), name_of(event.kind), name_of(event.pass),
                       about.devices[event.device]);
}

void expect_same(const Collected& a, const Collected& b) {
    ASSERT_EQ(a.events.size(), b.events.size());
    for (std::size_t i = 0; i < a.events.size(); ++i) ASSERT_EQ(say(a, a.events[i]), say(b, b.events[i]));
    EXPECT_EQ(a.about.unowned, b.about.unowned);
}

TEST(Spill, SpillingEqualsSortingInMemoryAndOrderDoesNotMatter) {
    Random random(11);
    for (int round = 0; round < 8; ++round) {
        auto made = tests::random_trace(random, 40);
        const Collected straight = read_with_budget(made.text(), std::size_t{64} << 20U);
        std::size_t kernels = 0, backward = 0;
        for (const Event& event : straight.events) {
            if (event.kind == Kind::kernel) {
                ++kernels;
                ASSERT_NE(event.owner, 0U);
                const Event& owner = straight.events[event.owner - 1];
                EXPECT_EQ(owner.correlation, 0U);
                EXPECT_EQ(owner.kind, Kind::operation);
                EXPECT_TRUE(straight.about.qualified(event.path).starts_with("Block_"))
                    << straight.about.qualified(event.path);
            }
            if (event.kind == Kind::operation && event.forward != 0) {
                ++backward;
                EXPECT_EQ(straight.events[event.forward - 1].sequence, event.sequence);
                EXPECT_EQ(event.scope, straight.events[event.forward - 1].scope);
            }
        }
        EXPECT_EQ(kernels, made.kernels);
        EXPECT_EQ(backward, made.backward);
        expect_same(straight, read_with_budget(made.text(), 4096));
        made.shuffle(random);
        expect_same(straight, read_with_budget(made.text(), std::size_t{64} << 20U));
        expect_same(straight, read_with_budget(made.text(), 20'000));
    }
}

TEST(Spill, ARealTraceSpillsToTheSameEvents) {
    const auto path = tests::source_folder() / "tests/data/traces/timeline_analysis.json.gz";
    const auto whole = collect(**open(path)),
               spilled = collect(**open(path, {.spill = {50'000, "/var/tmp"}}));
    expect_same(*whole, *spilled);
}

TEST(Spill, AMissingFolderIsAnErrorNotACrash) {
    Random random(1);
    auto source =
        open_text(tests::random_trace(random, 40).text(), "random", {.spill = {4096, "/no/such/folder"}});
    EXPECT_EQ((*source)->next().error().code, ErrorCode::file_not_writable);
}

}  // namespace
}  // namespace viridian::trace
