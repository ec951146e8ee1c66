#include "viridian/data/labels.hpp"

#include <algorithm>

namespace viridian::data {
namespace {

Result<void> check_integers(const Dataset& dataset, std::size_t column) {
    const Column& labels = dataset.column(column);
    if (!graph::is_floating(labels.type)) return {};
    return fail(ErrorCode::mismatch, "save class numbers as integers",
                "the labels `{}` of `{}` are {} numbers, not integers", labels.name, dataset.name(),
                graph::name_of(labels.type));
}

// Calls `visit` with (sample, label) for every label of the samples in the list.
template <class Visit>
Result<void> each_label(const Dataset& dataset, std::size_t column, SampleList samples, Visit visit) {
    VIRIDIAN_TRY(const graph::Tensor values, dataset.read(column, samples));
    VIRIDIAN_TRY(const std::vector<std::int64_t> lengths, dataset.lengths(column, samples));
    if (values.count() == 0) return {};
    const std::int64_t row = values.count() / static_cast<std::int64_t>(samples.size());
    const bool varies = dataset.column(column).varies;
    const std::int64_t inner = varies ? row / values.dims()[1] : 1;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const std::int64_t held = varies ? lengths[i] * inner : row;
        for (std::int64_t k = 0; k < held; ++k)
            VIRIDIAN_TRY(visit(samples[i], values.integer(static_cast<std::int64_t>(i) * row + k)));
    }
    return {};
}

}  // namespace

Result<void> check_label(const Dataset& dataset, std::size_t column, std::int64_t sample, std::int64_t label,
                         std::int64_t classes, std::optional<std::int64_t> ignored) {
    if ((label >= 0 && label < classes) || label == ignored) return {};
    std::string step = "number the classes from 0 on, or check that it is the right column";
    if (dataset.format() == Format::text) step = "train with --bytes, or give the model as many classes";
    if (classes == 1) step = "choose a loss for one output, such as --loss bce";
    return fail(ErrorCode::malformed, std::move(step),
                "sample {} of `{}` has the label {} in `{}`, and the labels of {} classes are 0 to {}",
                sample, dataset.name(), label, dataset.column(column).name, classes, classes - 1);
}

Result<std::vector<std::int64_t>> label_counts(const Dataset& dataset, std::size_t column,
                                               const Subset& subset, std::int64_t classes,
                                               std::optional<std::int64_t> ignored) {
    constexpr std::int64_t piece = 4096;
    VIRIDIAN_TRY(check_integers(dataset, column));
    std::vector<std::int64_t> counts(static_cast<std::size_t>(classes));
    const auto count_label = [&](std::int64_t sample, std::int64_t label) -> Result<void> {
        VIRIDIAN_TRY(check_label(dataset, column, sample, label, classes, ignored));
        if (label != ignored) ++counts[static_cast<std::size_t>(label)];
        return {};
    };
    std::vector<std::int64_t> samples;
    for (std::int64_t first = 0; first < subset.count(); first += piece) {
        samples.clear();
        for (std::int64_t i = first; i < std::min(first + piece, subset.count()); ++i)
            samples.push_back(subset.at(i));
        VIRIDIAN_TRY(each_label(dataset, column, samples, count_label));
    }
    return counts;
}

graph::Tensor class_weights(const std::vector<std::int64_t>& counts) {
    double total = 0, occurring = 0;
    for (const std::int64_t count : counts) {
        total += static_cast<double>(count);
        occurring += count > 0 ? 1 : 0;
    }
    std::vector<float> weights;
    for (const std::int64_t count : counts)
        weights.push_back(count > 0 ? static_cast<float>(total / (occurring * static_cast<double>(count)))
                                    : 0.0F);
    return graph::Tensor::f32({static_cast<std::int64_t>(weights.size())}, weights);
}

Result<std::int64_t> labels_that_count(const Dataset& dataset, std::size_t column, SampleList samples,
                                       std::int64_t ignored) {
    VIRIDIAN_TRY(check_integers(dataset, column));
    std::int64_t count = 0;
    const auto count_label = [&](std::int64_t, std::int64_t label) -> Result<void> {
        count += label != ignored ? 1 : 0;
        return {};
    };
    VIRIDIAN_TRY(each_label(dataset, column, samples, count_label));
    return count;
}

}  // namespace viridian::data
