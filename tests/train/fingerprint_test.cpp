#include "viridian/train/checkpoint/fingerprint.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace viridian::train {
namespace {

// A column `x` of f32[width] with `samples` samples; sample `other` differs from the rest by one bit.
data::Dataset columns(std::int64_t samples, std::int64_t width, std::int64_t other = -1,
                      std::set<std::int64_t>* seen = nullptr) {
    data::Field field;
    field.column = {.name = "x", .type = graph::ElementType::f32, .dims = {width}};
    field.read = [=](data::SampleList list, std::span<std::byte> out) -> Result<void> {
        auto* values = reinterpret_cast<float*>(out.data());
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (seen != nullptr) seen->insert(list[i]);
            values[i * static_cast<std::size_t>(width)] = static_cast<float>(list[i]);
            if (list[i] == other) values[(i + 1) * static_cast<std::size_t>(width) - 1] = -0.0F;
        }
        return {};
    };
    return {"samples.npz", samples, {field}};
}

std::string values_of(const data::Dataset& samples) {
    const auto prints = fingerprints(samples, {"x"}, "--data");
    return prints.ok() ? prints->at(0).values : prints.error().text();
}

TEST(Fingerprint, OfSmallSamplesNoticesEveryOne) {
    const std::string same = values_of(columns(300, 3));
    EXPECT_EQ(values_of(columns(300, 3)), same);
    for (std::int64_t other = 0; other < 300; ++other)
        EXPECT_NE(values_of(columns(300, 3, other)), same) << other;
}

TEST(Fingerprint, OfLargeSamplesReadsSpreadBlocks) {
    std::set<std::int64_t> seen;  // of 1,000,000 samples of 8 bytes: 64 blocks of 4,096
    const std::string same = values_of(columns(1'000'000, 2, -1, &seen));
    EXPECT_EQ(seen.size(), 63U * 4096 + 1'000'000 % 4096);
    EXPECT_EQ(*seen.begin(), 0);
    EXPECT_EQ(*seen.rbegin(), 999'999);
    EXPECT_NE(values_of(columns(1'000'000, 2, 0)), same);
    EXPECT_NE(values_of(columns(1'000'000, 2, 999'999)), same);
    seen.clear();  // a sample of 2 MiB is a block
    static_cast<void>(values_of(columns(3, 1 << 19, -1, &seen)));
    EXPECT_EQ(seen.size(), 3U);
}

TEST(Fingerprint, OfRowsSeesTheirLengths) {
    const auto rows = [](std::int64_t second) {
        data::Field field;
        field.column = {.name = "x", .type = graph::ElementType::f32, .dims = {4}, .varies = true};
        field.read = [](data::SampleList, std::span<std::byte>) -> Result<void> { return {}; };
        field.lengths = [=](data::SampleList list, std::span<std::int64_t> out) -> Result<void> {
            for (std::size_t i = 0; i < list.size(); ++i) out[i] = list[i] == 1 ? second : 4;
            return {};
        };
        return data::Dataset("rows", 3, {field});
    };
    EXPECT_EQ(fingerprints(rows(2), {"x"}, "--data")->at(0).form, "3 samples of f32[*]");
    EXPECT_NE(values_of(rows(2)), values_of(rows(3)));
}

TEST(Fingerprint, ADifferenceNamesTheColumn) {
    const auto before = fingerprints(columns(300, 3), {"x"}, "--data");
    ASSERT_TRUE(before.ok());
    EXPECT_EQ(before->at(0).form, "300 samples of f32[3]");
    const auto refusal = [&](const data::Dataset& samples, bool other_values) {
        const auto checked =
            check_same_samples(*before, *fingerprints(samples, {"x"}, "--data"), "c", other_values);
        return checked.ok() ? std::string("accepted") : checked.error().text();
    };
    EXPECT_EQ(refusal(columns(300, 3), false), "accepted");
    EXPECT_EQ(
        refusal(columns(300, 3, 7), false),
        "the run of `c` had other samples: the column `x` of --data holds other values. give the samples "
        "of the first run, or add --changed-data if they were repaired.");
    EXPECT_EQ(refusal(columns(300, 3, 7), true), "accepted");
    for (const bool other_values : {false, true})
        EXPECT_EQ(refusal(columns(299, 3), other_values),
                  "the run of `c` had other samples: the column `x` of --data had 300 samples of f32[3] and "
                  "has 299 samples of f32[3]. give the samples of the first run, or start a new run.");
    EXPECT_EQ(check_same_samples(*before, {}, "c", true).error().message,
              "the run of `c` had other samples: the column `x` of --data is not read any more");
    EXPECT_FALSE(fingerprints(columns(1, 1), {"y"}, "--data").ok());
}

}  // namespace
}  // namespace viridian::train
