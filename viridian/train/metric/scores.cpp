#include "viridian/train/metric/scores.hpp"

#include <algorithm>
#include <numeric>

namespace viridian::train {
namespace {

using graph::Dims;
using graph::Tensor;

std::int64_t product(std::span<const std::int64_t> dims) {
    return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

Dims without_ones(Dims dims) {
    while (!dims.empty() && dims.back() == 1) dims.pop_back();
    return dims;
}

// Calls `use` with a function that reads one element as a double.
template <class Use>
void with_numbers(const Tensor& tensor, const Use& use) {
    switch (tensor.type()) {
        case graph::ElementType::f32:
            return use(
                [v = tensor.values<float>().data()](std::int64_t i) { return static_cast<double>(v[i]); });
        case graph::ElementType::f64:
            return use([v = tensor.values<double>().data()](std::int64_t i) { return v[i]; });
        default:
            return use([&](std::int64_t i) { return tensor.number(i); });
    }
}

// How many of `places` belong to the first `samples` entries of the first dimension.
std::int64_t places_of(const Dims& dims, std::int64_t places, const Counted& counted) {
    if (dims.empty()) return counted.samples > 0 ? places : 0;
    const std::int64_t entries = dims.front();
    return entries == 0 ? 0 : places / entries * std::clamp(counted.samples, std::int64_t{0}, entries);
}

Error mismatch(const Tensor& outputs, const Tensor& labels, std::string_view wanted) {
    return fail(ErrorCode::mismatch, "check the labels and the output that is judged",
                "outputs {} and labels {} do not fit: {}", text(outputs.tensor_type()),
                text(labels.tensor_type()), wanted);
}

Result<void> check_labels(const Tensor& labels, std::int64_t places, std::int64_t classes,
                          const Counted& counted) {
    for (std::int64_t i = 0; i < places; ++i) {
        const std::int64_t label = labels.integer(i);
        if (counted.ignored_label == label || (label >= 0 && label < classes)) continue;
        return fail(ErrorCode::malformed, "number the classes from 0, or name the label to ignore",
                    "label {} at place {} is none of the {} classes", label, i, classes);
    }
    return {};
}

}  // namespace

bool same_places(const Tensor& outputs, const Tensor& labels) {
    return without_ones(outputs.dims()) == without_ones(labels.dims());
}

Result<void> each_place(const Tensor& outputs, const Tensor& labels, const Counted& counted,
                        const std::function<void(std::span<const double>, std::int64_t)>& use) {
    const auto axis = graph::normalize_axis(counted.class_axis, outputs.rank());
    if (!axis.ok() || *axis == 0) return mismatch(outputs, labels, "the outputs need a dimension of classes");
    if (graph::is_floating(labels.type()) || !graph::is_floating(outputs.type()))
        return mismatch(outputs, labels, "classes are judged by floating-point scores and integer labels");
    Dims places_dims = outputs.dims();
    places_dims.erase(places_dims.begin() + *axis);
    if (without_ones(places_dims) != without_ones(labels.dims()))
        return mismatch(outputs, labels,
                        "the labels need the shape of the outputs without the dimension of classes");
    const std::int64_t classes = outputs.dims()[static_cast<std::size_t>(*axis)];
    const std::int64_t inner =
        product(std::span(outputs.dims()).subspan(static_cast<std::size_t>(*axis) + 1));
    const std::int64_t places = places_of(places_dims, labels.count(), counted);
    VIRIDIAN_TRY(check_labels(labels, places, classes, counted));
    std::vector<double> scores(static_cast<std::size_t>(classes));
    with_numbers(outputs, [&](const auto& number) {
        for (std::int64_t place = 0; place < places; ++place) {
            const std::int64_t label = labels.integer(place);
            if (counted.ignored_label == label) continue;
            const std::int64_t first = place / inner * classes * inner + place % inner;
            for (std::int64_t c = 0; c < classes; ++c)
                scores[static_cast<std::size_t>(c)] = number(first + c * inner);
            use(scores, label);
        }
    });
    return {};
}

Result<void> each_pair(const Tensor& outputs, const Tensor& labels, const Counted& counted,
                       const std::function<void(double, double)>& use) {
    if (!same_places(outputs, labels)) return mismatch(outputs, labels, "they need the same shape");
    const std::int64_t places = places_of(outputs.dims(), outputs.count(), counted);
    with_numbers(outputs, [&](const auto& output) {
        with_numbers(labels, [&](const auto& label) {
            for (std::int64_t i = 0; i < places; ++i) use(output(i), label(i));
        });
    });
    return {};
}

}  // namespace viridian::train
