#include "viridian/data/convert.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace viridian::data {
namespace {

using graph::ElementType;
using graph::Tensor;

// Calls `use` with the elements of a tensor in their C++ type; f16 and bf16 are converted to f32 before.
template <class Use>
void with_elements(const Tensor& tensor, Use use) {
    const auto widen = [&](float (*from)(std::uint16_t)) {
        std::vector<float> wide(static_cast<std::size_t>(tensor.count()));
        std::ranges::transform(tensor.values<std::uint16_t>(), wide.begin(), from);
        use(std::span<const float>(wide));
    };
    switch (tensor.type()) {
        case ElementType::f64:
            return use(tensor.values<double>());
        case ElementType::f32:
            return use(tensor.values<float>());
        case ElementType::f16:
            return widen(graph::from_half);
        case ElementType::bf16:
            return widen(graph::from_bfloat16);
        case ElementType::i64:
            return use(tensor.values<std::int64_t>());
        case ElementType::i32:
            return use(tensor.values<std::int32_t>());
        case ElementType::i16:
            return use(tensor.values<std::int16_t>());
        case ElementType::i8:
            return use(tensor.values<std::int8_t>());
        case ElementType::u64:
            return use(tensor.values<std::uint64_t>());
        case ElementType::u32:
            return use(tensor.values<std::uint32_t>());
        case ElementType::u16:
            return use(tensor.values<std::uint16_t>());
        case ElementType::u8:
        case ElementType::boolean:
            return use(tensor.values<std::uint8_t>());
        case ElementType::undefined:
            break;
    }
}

// The compiler turns the inner loop, whose length it knows, into vector code.
template <class From, class To>
void scale_run(const From* from, To* to, std::size_t count, To factor, To offset) {
    constexpr std::size_t block = 64;
    std::size_t i = 0;
    for (; i + block <= count; i += block)
        for (std::size_t k = 0; k < block; ++k) to[i + k] = static_cast<To>(from[i + k]) * factor + offset;
    for (; i < count; ++i) to[i] = static_cast<To>(from[i]) * factor + offset;
}

template <class To>
void to_floating(const Tensor& samples, std::span<To> out, const Normalise& normalise) {
    const std::size_t channels = normalise.factor.size();
    const auto rows = static_cast<std::size_t>(samples.dims().front()) * channels;
    const std::size_t run = rows == 0 ? 0 : out.size() / rows;
    with_elements(samples, [&](auto values) {
        for (std::size_t row = 0; row < rows; ++row)
            scale_run(values.data() + row * run, out.data() + row * run, run,
                      static_cast<To>(normalise.factor[row % channels]),
                      static_cast<To>(normalise.offset[row % channels]));
    });
}

template <class To>
Result<Tensor> to_integers(const Tensor& samples, ElementType to, std::string_view name) {
    Tensor result(to, samples.dims());
    const std::span<To> out = result.mutable_values<To>();
    std::optional<std::size_t> lost;
    with_elements(samples, [&](auto values) {
        using From = typename decltype(values)::value_type;
        if constexpr (std::is_integral_v<From>) {
            for (std::size_t i = 0; i < values.size(); ++i) {
                if (!std::in_range<To>(values[i]) && !lost) lost = i;
                out[i] = static_cast<To>(values[i]);
            }
        }
    });
    if (lost)
        return fail(ErrorCode::malformed, "correct the value, or declare the input as i64",
                    "the column `{}` holds the value {}, which the type {} cannot hold", name,
                    samples.integer(static_cast<std::int64_t>(*lost)), graph::name_of(to));
    return result;
}

Tensor to_narrow(const Tensor& samples, ElementType to, const Normalise& normalise) {
    Tensor wide(ElementType::f32, samples.dims());
    to_floating<float>(samples, wide.mutable_values<float>(), normalise);
    Tensor narrow(to, samples.dims());
    std::ranges::transform(wide.values<float>(), narrow.mutable_values<std::uint16_t>().begin(),
                           to == ElementType::f16 ? graph::to_half : graph::to_bfloat16);
    return narrow;
}

}  // namespace

bool Normalise::changes_nothing() const {
    return std::ranges::all_of(factor, [](double x) { return x == 1; }) &&
           std::ranges::all_of(offset, [](double x) { return x == 0; });
}

bool convertible(ElementType from, ElementType to) {
    if (from == to || graph::is_floating(to)) return from != ElementType::undefined;
    return !graph::is_floating(from) && to != ElementType::boolean;
}

Result<Tensor> convert(const Tensor& samples, ElementType to, const Normalise& normalise,
                       std::string_view name) {
    if (samples.type() == to && (!graph::is_floating(to) || normalise.changes_nothing())) return samples;
    switch (to) {
        case ElementType::f64:
        case ElementType::f32: {
            Tensor result(to, samples.dims());
            if (to == ElementType::f32)
                to_floating(samples, result.mutable_values<float>(), normalise);
            else
                to_floating(samples, result.mutable_values<double>(), normalise);
            return result;
        }
        case ElementType::f16:
        case ElementType::bf16:
            return to_narrow(samples, to, normalise);
        case ElementType::i64:
            return to_integers<std::int64_t>(samples, to, name);
        case ElementType::i32:
            return to_integers<std::int32_t>(samples, to, name);
        case ElementType::i16:
            return to_integers<std::int16_t>(samples, to, name);
        case ElementType::i8:
            return to_integers<std::int8_t>(samples, to, name);
        case ElementType::u64:
            return to_integers<std::uint64_t>(samples, to, name);
        case ElementType::u32:
            return to_integers<std::uint32_t>(samples, to, name);
        case ElementType::u16:
            return to_integers<std::uint16_t>(samples, to, name);
        case ElementType::u8:
            return to_integers<std::uint8_t>(samples, to, name);
        case ElementType::boolean:
        case ElementType::undefined:
            break;
    }
    invariant(false, "convertible types are converted");
    return samples;
}

}  // namespace viridian::data
