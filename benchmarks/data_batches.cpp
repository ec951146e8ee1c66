// rooms: data graph
// How fast samples become batches: makes a .npy file of MNIST's size (60,000 images of 28 x 28 bytes) and a
// CSV file of a tenth of it, reads shuffled epochs in batches of 32 with normalisation, with and without
// augmentation, and prints microseconds per batch. The first epoch warms the cache and is not counted.
//
// data_batches [FOLDER]: the files are written to FOLDER (default: the current one) and removed again.
#include <chrono>
#include <cstdio>

#include "viridian/base/random.hpp"
#include "viridian/data/batches.hpp"
#include "viridian/data/npy.hpp"
#include "viridian/data/open.hpp"

namespace {

using namespace viridian;

constexpr std::int64_t images = 60000;

std::string csv_file() {
    Random random(1);
    std::string text = "label";
    for (int i = 0; i < 784; ++i) text += fmt::format(",p{}", i);
    for (std::int64_t sample = 0; sample < images / 10; ++sample) {
        text += fmt::format("\n{}", sample % 10);
        for (int i = 0; i < 784; ++i) text += fmt::format(",{}", random.chance(0.2) ? random.below(256) : 0);
    }
    return text;
}

graph::Tensor pixels() {
    Random random(1);
    graph::Tensor tensor(graph::ElementType::u8, {images, 28, 28});
    for (auto& pixel : tensor.mutable_values<std::uint8_t>())
        pixel = random.chance(0.2) ? static_cast<std::uint8_t>(random.below(256)) : 0;
    return tensor;
}

double microseconds_per_batch(const data::Dataset& dataset, const std::string& column, double flip,
                              std::int64_t crop) {
    const data::Column& of = dataset.column(*dataset.find(column));
    graph::Shape shape = graph::shape_of(of.dims);
    shape.insert(shape.begin(), graph::Dimension(std::string("N")));
    data::BatchOptions options;
    options.inputs = {{.input = column, .scale = 1.0 / 255, .mean = {0.13}, .deviation = {0.31}}};
    options.inputs[0].flip = flip;
    options.inputs[0].crop = crop;
    const auto batches = data::Batches::make(dataset, {{column, {graph::ElementType::f32, shape}}}, options);
    const auto sampler = data::Sampler::make({.from = data::Subset(dataset.samples()), .batch = 32});
    double seconds = 0;
    const std::int64_t steps = sampler->steps_per_epoch();
    for (std::int64_t step = 0; step < 2 * steps; ++step) {
        const auto begin = std::chrono::steady_clock::now();
        if (!batches->batch(sampler->draw(step)).ok()) return -1;
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        if (step >= steps) seconds += took.count();
    }
    return seconds * 1e6 / static_cast<double>(steps);
}

void report(const char* what, const Path& file, const std::string& column, double flip, std::int64_t crop) {
    data::OpenOptions options;
    options.csv.label = "label";
    const auto begin = std::chrono::steady_clock::now();
    const auto dataset = data::open(file, options);
    const std::chrono::duration<double, std::milli> opening = std::chrono::steady_clock::now() - begin;
    if (!dataset.ok()) return static_cast<void>(fmt::print("{}\n", dataset.error().text()));
    fmt::print("{:28} opened in {:8.2f} ms, {:7.1f} us a batch of 32\n", what, opening.count(),
               microseconds_per_batch(*dataset, column, flip, crop));
}

}  // namespace

int main(int count, char** arguments) {
    const Path folder = count > 1 ? arguments[1] : ".";
    const Path npy = folder / "data_batches.npy", csv = folder / "data_batches.csv";
    const auto bytes = data::npy_bytes(pixels());
    if (!write_file(npy, *bytes).ok() || !write_file(csv, csv_file()).ok()) return 1;
    report(".npy, normalised", npy, "data_batches", 0, 0);
    report(".npy, flip and crop", npy, "data_batches", 0.5, 2);
    report(".csv of 6,000 lines", csv, "features", 0, 0);
    std::filesystem::remove(npy);
    std::filesystem::remove(csv);
    return 0;
}
