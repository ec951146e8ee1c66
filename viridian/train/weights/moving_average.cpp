#include "viridian/train/weights/moving_average.hpp"

#include <algorithm>

namespace viridian::train {
namespace {

using graph::ElementType;
using graph::Tensor;

ElementType average_type(ElementType weight) {
    return graph::is_floating(weight) && weight != ElementType::f64 ? ElementType::f32 : weight;
}

// The caller may change the weight in place.
Tensor own_copy(Tensor weight) {
    static_cast<void>(weight.mutable_bytes());  // copies, because the bytes are shared or borrowed
    return weight;
}

Tensor first_average(const Tensor& weight) {
    const ElementType type = average_type(weight.type());
    if (type == weight.type()) return own_copy(weight);
    Tensor average(type, weight.dims());
    auto values = average.mutable_values<float>();
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(weight.number(static_cast<std::int64_t>(i)));
    return average;
}

template <class T, class Read>
void pull(std::span<T> average, T part, const Read& weight) {
    for (std::size_t i = 0; i < average.size(); ++i) average[i] += part * (weight(i) - average[i]);
}

void pull(Tensor& average, const Tensor& weight, double part) {
    switch (weight.type()) {
        case ElementType::f64:
            return pull(average.mutable_values<double>(), part,
                        [v = weight.values<double>()](std::size_t i) { return v[i]; });
        case ElementType::f32:
            return pull(average.mutable_values<float>(), static_cast<float>(part),
                        [v = weight.values<float>()](std::size_t i) { return v[i]; });
        case ElementType::f16:
            return pull(
                average.mutable_values<float>(), static_cast<float>(part),
                [v = weight.values<std::uint16_t>()](std::size_t i) { return graph::from_half(v[i]); });
        case ElementType::bf16:
            return pull(
                average.mutable_values<float>(), static_cast<float>(part),
                [v = weight.values<std::uint16_t>()](std::size_t i) { return graph::from_bfloat16(v[i]); });
        default:
            average = own_copy(weight);
    }
}

}  // namespace

Result<void> MovingAverage::update(std::span<const NamedTensor> weights) {
    if (averages_.empty()) {
        for (const NamedTensor& weight : weights)
            averages_.push_back({weight.name, first_average(weight.tensor)});
        ++updates_;
        return {};
    }
    const bool same =
        std::ranges::equal(weights, averages_, [](const NamedTensor& weight, const NamedTensor& average) {
            return weight.name == average.name && weight.tensor.dims() == average.tensor.dims() &&
                   average_type(weight.tensor.type()) == average.tensor.type();
        });
    if (!same)
        return fail(ErrorCode::mismatch, "start the average anew",
                    "the weights differ from those of the moving average in number, name, shape or type");
    const auto n = static_cast<double>(updates_ - 1);
    const double decay = warm_up_ ? std::min(decay_, (1 + n) / (10 + n)) : decay_;
    for (std::size_t i = 0; i < weights.size(); ++i) pull(averages_[i].tensor, weights[i].tensor, 1 - decay);
    ++updates_;
    return {};
}

}  // namespace viridian::train
