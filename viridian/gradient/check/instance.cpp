#include "viridian/gradient/check/instance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace viridian::gradient {
namespace {

std::int64_t count_of(const Dims& dims) {
    return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

}  // namespace

std::vector<double> Instance::draw(std::int64_t count, const Domain& domain) {
    std::vector<double> values(static_cast<std::size_t>(count));
    const auto bad = [&](double value) {
        return std::ranges::any_of(domain.kinks,
                                   [&](double kink) { return std::abs(value - kink) < domain.margin; });
    };
    for (std::size_t i = 0; i < values.size(); ++i) {
        double& value = values[i];
        if (domain.distinct)  // a grid whose points are a margin apart, shuffled below
            value = domain.low + domain.margin * 2 * (static_cast<double>(i) + 0.1 * random_.uniform());
        else
            do value = random_.uniform(domain.low, domain.high);
            while (bad(value));
    }
    if (domain.distinct)
        for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random_.below(i)]);
    return values;
}

Term Instance::input(const Dims& dims, Domain domain) {
    domains_.push_back(std::move(domain));
    return {&b, graph.add_input("x", {ElementType::f64, graph::shape_of(dims)})};
}

Term Instance::constant(const Dims& dims) {
    std::vector<double> values(static_cast<std::size_t>(count_of(dims)));
    for (double& value : values) {
        const auto magnitude = static_cast<double>(random_.between(1, 3));
        value = coin() ? magnitude : -magnitude;
    }
    return b.constant(Tensor::of<double>(ElementType::f64, dims, values));
}

Term Instance::constant(const Dims& dims, const Domain& domain) {
    return b.constant(Tensor::of<double>(ElementType::f64, dims, draw(count_of(dims), domain)));
}

Term Instance::indices(const Dims& dims, std::int64_t low, std::int64_t high) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(count_of(dims)));
    for (std::int64_t& value : values) value = random_.between(low, high);
    return b.constant(Tensor::i64(dims, values));
}

Term Instance::truths(const Dims& dims) {
    std::vector<std::uint8_t> values(static_cast<std::size_t>(count_of(dims)));
    for (std::uint8_t& value : values) value = coin() ? 1 : 0;
    return b.constant(Tensor::of<std::uint8_t>(ElementType::boolean, dims, values));
}

Term Instance::apply(graph::Operator op, std::vector<Term> inputs, Attributes attributes) {
    const Term made = b.add(std::move(op), std::move(inputs), std::move(attributes));
    output(made);
    return made;
}

Dims Instance::extents(std::int64_t rank, std::int64_t most) {
    Dims dims(static_cast<std::size_t>(rank));
    const bool equal = random_.chance(0.15);
    for (std::int64_t& extent : dims) extent = equal ? 3 : random_.between(1, most);
    return dims;
}

Dims Instance::broadcast_of(const Dims& dims) {
    Dims made = dims;
    for (std::int64_t& extent : made)
        if (random_.chance(0.3)) extent = 1;
    if (!made.empty() && random_.chance(0.3))
        made.erase(made.begin(), made.begin() + random_.between(1, static_cast<std::int64_t>(made.size())));
    return made;
}

Dims Instance::permutation(std::int64_t rank) {
    Dims order(static_cast<std::size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
    return order;
}

}  // namespace viridian::gradient
