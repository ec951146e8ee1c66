#include "viridian/zoo/weights.hpp"

#include <cmath>

#include "viridian/base/hash.hpp"
#include "viridian/base/random.hpp"

namespace viridian::zoo {

graph::Tensor Weights::uniform(std::string_view name, graph::Dims dims, double mean, double deviation) const {
    Random random(Hash().add(seed_).add(name).value());
    graph::Tensor tensor(graph::ElementType::f32, std::move(dims));
    const double reach = std::sqrt(3.0) * deviation;
    for (float& value : tensor.mutable_values<float>())
        value = static_cast<float>(random.uniform(mean - reach, mean + reach));
    return tensor;
}

graph::Tensor Weights::scaled(std::string_view name, graph::Dims dims, std::int64_t fan_in,
                              double gain) const {
    return uniform(name, std::move(dims), 0, gain / std::sqrt(static_cast<double>(fan_in)));
}

graph::Tensor Weights::balanced(std::string_view name, graph::Dims dims, double gain) const {
    const auto rows = static_cast<std::size_t>(dims[0]);
    graph::Tensor tensor = uniform(name, std::move(dims), 0, 1);
    const std::size_t length = static_cast<std::size_t>(tensor.count()) / rows;
    for (std::size_t row = 0; row < rows; ++row) {
        const auto entries = tensor.mutable_values<float>().subspan(row * length, length);
        double mean = 0;
        for (const float entry : entries) mean += entry / static_cast<double>(length);
        for (float& entry : entries)
            entry = static_cast<float>((entry - mean) * gain / std::sqrt(static_cast<double>(length)));
    }
    return tensor;
}

}  // namespace viridian::zoo
