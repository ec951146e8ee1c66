#include "viridian/data/batches.hpp"

#include "files.hpp"
#include "viridian/data/open.hpp"

namespace viridian::data {
namespace {

using graph::Dimension;
using graph::ElementType;
using graph::Shape;
using graph::Tensor;
using tests::counting;
using tests::counting_labels;
using tests::error_of;
using tests::idx_bytes;
using tests::zip_archive;

ModelInput input(std::string name, ElementType type, Shape sample) {
    sample.insert(sample.begin(), Dimension(std::string("N")));
    return {std::move(name), {type, std::move(sample)}};
}

Dataset npz(const std::vector<std::pair<std::string, Tensor>>& arrays) {
    std::vector<tests::ZipEntry> entries;
    for (const auto& [name, tensor] : arrays) entries.push_back({name + ".npy", *npy_bytes(tensor)});
    const auto dataset = open_bytes(ByteSource::of(zip_archive(entries), "t.npz"));
    EXPECT_TRUE(dataset.ok()) << error_of(dataset);
    return *dataset;
}

Tensor pixels(graph::Dims dims) {
    Tensor tensor(ElementType::u8, std::move(dims));
    std::uint8_t next = 0;
    for (std::uint8_t& pixel : tensor.mutable_values<std::uint8_t>()) pixel = next++;
    return tensor;
}

Draw draw(std::vector<std::int64_t> samples, std::int64_t epoch = 0) {
    Draw result;
    result.epoch = epoch;
    result.samples = std::move(samples);
    return result;
}

std::vector<double> values(const Tensor& tensor) {
    std::vector<double> list;
    for (std::int64_t i = 0; i < tensor.count(); ++i) list.push_back(tensor.number(i));
    return list;
}

TEST(Batches, ColumnsBecomeInputsByName) {
    const Dataset dataset = npz({{"x", pixels({3, 2, 2})}, {"y", counting_labels(3, 2)}});
    BatchOptions options;
    options.inputs = {{.input = "images", .column = "x", .scale = 0.5, .mean = {1}, .deviation = {2}}};
    const auto batches = Batches::make(
        dataset, {input("y", ElementType::i32, {}), input("images", ElementType::f32, {1, 2, 2})}, options);
    ASSERT_TRUE(batches.ok()) << error_of(batches);
    const auto batch = batches->batch(draw({2, 0}));
    ASSERT_TRUE(batch.ok()) << error_of(batch);
    EXPECT_EQ(batch->inputs[0].type(), ElementType::i32);
    EXPECT_EQ(values(batch->inputs[0]), (std::vector<double>{0, 0}));
    EXPECT_EQ(batch->inputs[1].dims(), (graph::Dims{2, 1, 2, 2}));
    EXPECT_EQ(values(batch->inputs[1]), (std::vector<double>{1.5, 1.75, 2, 2.25, -0.5, -0.25, 0, 0.25}));
    const auto empty = batches->batch(draw({}));
    ASSERT_TRUE(empty.ok()) << error_of(empty);
    EXPECT_EQ(empty->inputs[1].dims(), (graph::Dims{0, 1, 2, 2}));
}

TEST(Batches, ChannelsAreNormalisedApart) {
    const Dataset dataset = npz({{"x", pixels({1, 1, 2, 3})}});
    BatchOptions options;
    options.inputs = {{.input = "x", .channels_last = true, .mean = {0, 1, 2}, .deviation = {1, 2, 4}}};
    const auto batches = Batches::make(dataset, {input("x", ElementType::f64, {3, 1, 2})}, options);
    ASSERT_TRUE(batches.ok()) << error_of(batches);
    EXPECT_EQ(values(batches->batch(draw({0}))->inputs[0]), (std::vector<double>{0, 3, 0, 1.5, 0, 0.75}));
}

TEST(Batches, AugmentationDependsOnSeedEpochAndSampleAlone) {
    const Dataset dataset = npz({{"x", pixels({20, 1, 5, 6})}});
    BatchOptions options;
    options.inputs = {{.input = "x", .flip = 0.5, .crop = 2}};
    const std::vector<ModelInput> inputs = {input("x", ElementType::f32, {1, 5, 6})};
    const auto batches = Batches::make(dataset, inputs, options);
    ASSERT_TRUE(batches.ok()) << error_of(batches);
    const auto changed = [&](std::int64_t sample, std::int64_t epoch) {
        return values(batches->batch(draw({sample}, epoch))->inputs[0]);
    };
    const std::vector<double> both = values(batches->batch(draw({3, 7}))->inputs[0]);
    EXPECT_EQ(std::vector<double>(both.begin(), both.begin() + 30), changed(3, 0));
    EXPECT_EQ(std::vector<double>(both.begin() + 30, both.end()), changed(7, 0));
    int others = 0;
    for (std::int64_t sample = 0; sample < 20; ++sample)
        others += changed(sample, 0) != changed(sample, 1) ? 1 : 0;
    EXPECT_GT(others, 15);
    options.augment = false;
    EXPECT_EQ(values(Batches::make(dataset, inputs, options)->batch(draw({0}))->inputs[0])[29], 29);
}

TEST(Batches, RowsArePaddedAndMasked) {
    const tests::Folder folder;
    for (const std::int64_t length : {2, 4, 3})
        folder.write(fmt::format("{}.npy", length), *npy_bytes(counting_labels(length, 100)));
    OpenOptions open_options;
    open_options.folder.samples = true;
    const Dataset dataset = *open(folder.path(), open_options);
    BatchOptions options;
    options.inputs = {{.input = "ids", .column = "data", .pad = 7},
                      {.input = "targets", .column = "data", .classes = 4, .ignored = -100}};
    options.masks = {{.input = "mask", .column = "data"}};
    const Dimension length(std::string("T"));
    const auto batches =
        Batches::make(dataset,
                      {input("ids", ElementType::i64, {length}), input("targets", ElementType::i64, {5}),
                       input("mask", ElementType::f32, {length})},
                      options);
    ASSERT_TRUE(batches.ok()) << error_of(batches);
    const auto batch = batches->batch(draw({1, 0}));
    ASSERT_TRUE(batch.ok()) << error_of(batch);
    EXPECT_EQ(values(batch->inputs[0]), (std::vector<double>{0, 1, 2, 0, 1, 7}));
    EXPECT_EQ(values(batch->inputs[1]), (std::vector<double>{0, 1, 2, -100, -100, 0, 1, -100, -100, -100}));
    EXPECT_EQ(values(batch->inputs[2]), (std::vector<double>{1, 1, 1, 1, 1, 0}));
    options = {};
    options.inputs = {{.input = "ids", .column = "data"}};
    const std::vector<ModelInput> short_input = {input("ids", ElementType::i64, {3})};
    EXPECT_EQ(error_of(Batches::make(dataset, short_input, options)->batch(draw({2}))),
              fmt::format("sample 2 of `{}` has 4 elements in `data`, and the input `ids` takes 3; cut the "
                          "rows with --truncate, or "
                          "export the model with a longer input",
                          folder.path().string()));
    options.inputs[0].truncate = true;
    EXPECT_EQ(values(Batches::make(dataset, short_input, options)->batch(draw({2}))->inputs[0]),
              (std::vector<double>{0, 1, 2}));
}

TEST(Batches, PaddingInTheDataBecomesAMask) {
    const Dataset dataset = npz({{"ids", Tensor::i64({2, 3}, std::vector<std::int64_t>{5, 0, 0, 4, 3, 0})}});
    BatchOptions options;
    options.masks = {{.input = "mask", .column = "ids", .padding = 0}};
    const auto batches = Batches::make(
        dataset, {input("ids", ElementType::i64, {3}), input("mask", ElementType::boolean, {3})}, options);
    ASSERT_TRUE(batches.ok()) << error_of(batches);
    EXPECT_EQ(values(batches->batch(draw({0, 1}))->inputs[1]), (std::vector<double>{1, 0, 0, 1, 1, 0}));
}

std::string refused(const Dataset& dataset, const ModelInput& model, InputOptions options = {}) {
    options.input = model.name;
    BatchOptions all;
    all.inputs = {options};
    return error_of(Batches::make(dataset, {model}, all));
}

TEST(Batches, WhatDoesNotFitIsRefusedBeforeTraining) {
    const Dataset dataset =
        npz({{"x", counting({3, 28, 28})}, {"rgb", pixels({3, 8, 9, 3})}, {"y", counting_labels(3, 2)}});
    EXPECT_EQ(refused(dataset, input("images", ElementType::f32, {784})),
              "`t.npz` has no column of the name of the model's input `images`; map one with --input "
              "images=COLUMN; the "
              "columns are `x`, `rgb`, `y`");
    EXPECT_EQ(refused(dataset, input("images", ElementType::f32, {784}), {.column = "z"}),
              "`t.npz` has no column `z`; name one of its columns: `x`, `rgb`, `y`");
    EXPECT_EQ(refused(dataset, input("x", ElementType::f32, {784})), "no error");
    EXPECT_EQ(refused(dataset, input("x", ElementType::f32, {1, 28, 28})), "no error");
    EXPECT_EQ(refused(dataset, input("x", ElementType::f32, {3, 224, 224})),
              "a sample of the column `x` of `t.npz` has the shape [28,28] and the model's input `x` takes "
              "[3,224,224]; "
              "save it in this shape, or map another column to it");
    EXPECT_EQ(refused(dataset, input("rgb", ElementType::f32, {3, 8, 9})),
              "a sample of the column `rgb` of `t.npz` has the shape [8,9,3] and the model's input `rgb` "
              "takes [3,8,9]; "
              "save its channels first");
    EXPECT_EQ(refused(dataset, input("x", ElementType::i64, {28, 28})),
              "the column `x` of `t.npz` holds f32 and the model's input `x` takes i64; save the column as "
              "integers");
    EXPECT_EQ(refused(dataset, input("y", ElementType::boolean, {})),
              "the column `y` of `t.npz` holds i64 and the model's input `y` takes bool; map another "
              "column to it");
    EXPECT_EQ(refused(dataset, input("x", ElementType::f32, {784}), {.mean = {1, 2, 3}}),
              "the normalisation of `x` has 3 values, and its samples have 28 channels; give one value, or "
              "one for each "
              "channel");
    EXPECT_EQ(refused(dataset, input("x", ElementType::f32, {784}), {.deviation = {0}}),
              "the input `x` cannot be normalised by these numbers; give finite numbers, and deviations "
              "other than 0");
    EXPECT_EQ(refused(dataset, input("y", ElementType::i64, {}), {.flip = 0.5}),
              "the column `y` has samples of shape [], which are not images; leave out flip and crop for "
              "this input");
    BatchOptions options;
    options.inputs = {{.input = "picture", .column = "x"}};
    EXPECT_EQ(error_of(Batches::make(dataset, {input("x", ElementType::f32, {784})}, options)),
              "the model has no input `picture`; name one of its inputs: `x`");
}

TEST(Batches, LabelsOutOfRangeAreRefused) {
    const Dataset dataset = npz({{"y", counting_labels(12, 11)}});
    BatchOptions options;
    options.inputs = {{.input = "y", .classes = 10}};
    const auto batches = Batches::make(dataset, {input("y", ElementType::i64, {})}, options);
    ASSERT_TRUE(batches.ok()) << error_of(batches);
    EXPECT_TRUE(batches->batch(draw({9})).ok());
    EXPECT_EQ(error_of(batches->batch(draw({9, 10}))),
              "sample 10 of `t.npz` has the label 10 in `y`, and the labels of 10 classes are 0 to 9; number "
              "the classes "
              "from 0 on, or check that it is the right column");
}

}  // namespace
}  // namespace viridian::data
