#include "viridian/trace/join/label.hpp"

#include <gtest/gtest.h>

#include "viridian/base/random.hpp"

namespace viridian::trace {
namespace {

// `steps` steps of `names`, one kernel a microsecond; with operators where `full`.
Collected program(const std::vector<std::string>& names, int steps, bool full) {
    Collected made;
    made.about.format = "test";
    const LaneId gpu = made.about.lane(made.about.device("cuda:0"), 0, 7);
    Nanoseconds time = 1000;
    for (int step = 0; step < steps; ++step)
        for (std::size_t i = 0; i < names.size(); ++i) {
            Event event;
            event.start = time;
            event.end = time += 1000;
            event.kind = Kind::kernel;
            event.name = event.type = made.about.names.add(names[i]);
            event.lane = gpu;
            if (full) {
                event.owner = 1;
                event.scope = made.about.paths.add(0, made.about.names.add("layer_" + std::to_string(i)));
                event.path = made.about.paths.add(event.scope, event.name);
                event.pass = i % 2 == 0 ? Pass::forward : Pass::backward;
            }
            made.events.push_back(event);
        }
    return made;
}

Collected label(Collected plain, Collected full) {
    const auto source = from_memory(std::move(full.about), std::move(full.events));
    Pattern pattern = pattern_of(*source).value();
    const auto out =
        labelled(from_memory(std::move(plain.about), std::move(plain.events)), std::move(pattern));
    return collect(*out).value();
}

std::vector<std::string> random_names(Random& random, std::size_t count, std::uint64_t different) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i)
        names.push_back("kernel" + std::to_string(random.below(different)));
    return names;
}

TEST(Label, EveryKernelGetsTheModuleOfItsPlaceInTheStep) {
    Random random(1);
    for (const std::size_t length : {9U, 40U, 300U}) {
        const auto names = random_names(random, length, 12);
        const Collected out = label(program(names, 50, false), program(names, 3, true));
        ASSERT_EQ(out.events.size(), 50 * length);
        EXPECT_EQ(out.about.unowned, 0U);
        for (std::size_t i = 0; i < out.events.size(); ++i) {
            const std::size_t place = i % length;
            ASSERT_EQ(out.about.qualified(out.events[i].path),
                      "layer_" + std::to_string(place) + "/" + names[place]);
            ASSERT_EQ(out.events[i].pass, place % 2 == 0 ? Pass::forward : Pass::backward);
        }
    }
}

TEST(Label, ALostKernelCostsLittleAndAStrangerStaysAsItWas) {
    Random random(2);
    const auto names = random_names(random, 100, 60);
    Collected plain = program(names, 40, false);
    std::vector<Event> kept;
    std::vector<std::size_t> place;
    std::size_t strangers = 0;
    for (std::size_t i = 0; i < plain.events.size(); ++i) {
        if (random.below(200) == 0) continue;
        kept.push_back(plain.events[i]);
        place.push_back(i % 100);
        if (random.below(300) == 0) {
            Event other = kept.back();
            other.start = other.end - 10;
            other.name = other.type = plain.about.names.add("stranger");
            kept.push_back(other);
            place.push_back(1000);
            ++strangers;
        }
    }
    plain.events = kept;
    const Collected out = label(std::move(plain), program(names, 3, true));
    std::size_t right = 0, wrong = 0;
    for (std::size_t i = 0; i < out.events.size(); ++i) {
        if (out.events[i].scope == 0) continue;
        const bool same = out.about.qualified(out.events[i].scope) == "layer_" + std::to_string(place[i]);
        ++(same ? right : wrong);
    }
    EXPECT_GT(strangers, 3U);
    EXPECT_GE(out.about.unowned, strangers);
    EXPECT_LE(wrong, 3U);  // a kernel of the same name behind a lost one
    EXPECT_GT(right, out.events.size() * 8 / 10);
}

TEST(Label, TheKernelsOfALabelledTraceAreThoseThatWereLabelled) {
    Random random(3);
    const auto names = random_names(random, 50, 9);
    Collected full = program(names, 4, true), plain = program(names, 4, false);
    const auto source = kernels_of(from_memory(std::move(full.about), std::move(full.events)));
    const Collected out = collect(*source).value();
    ASSERT_EQ(out.events.size(), plain.events.size());
    for (std::size_t i = 0; i < out.events.size(); ++i) {
        ASSERT_EQ(out.events[i].start, plain.events[i].start);
        ASSERT_EQ(out.about.qualified(out.events[i].path), names[i % 50]);
        ASSERT_EQ(out.events[i].owner, 0U);
    }
}

TEST(Label, WithoutOperatorsThereIsNothingToLabelBy) {
    Collected plain = program({"a", "b"}, 2, false);
    const auto source = from_memory(std::move(plain.about), std::move(plain.events));
    EXPECT_EQ(pattern_of(*source).error().code, ErrorCode::mismatch);
}

}  // namespace
}  // namespace viridian::trace
