// Reduce*: over the axes of input 1 (all where it is left out or empty, none with noop_with_empty_axes).
// Sums of float are taken in double. An empty set reduces to the operation's neutral element.
#include "viridian/graph/operators/reduction/reduction.hpp"

#include <cmath>
#include <limits>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/reference/wrapping.hpp"

namespace viridian::graph {
namespace {

struct Sum {
    static auto start(auto zero, ElementType) { return zero; }
    static auto step(auto sum, auto x, ElementType) { return plus(sum, x); }
    static auto finish(auto sum, std::int64_t) { return sum; }
};
struct SumSquare : Sum {
    static auto step(auto sum, auto x, ElementType) { return plus(sum, times(x, x)); }
};
struct Mean : Sum {
    template <class T>
    static T finish(T sum, std::int64_t count) {
        if constexpr (integral<T>)
            return count == 0 ? 0 : sum / count;
        else
            return sum / T(count);
    }
};
struct Product : Sum {
    template <class T>
    static T start(T, ElementType) {
        return T(1);
    }
    static auto step(auto sum, auto x, ElementType) { return times(sum, x); }
};
struct L1 : Sum {
    template <class T>
    static T step(T sum, T x, ElementType) {
        return plus(sum, x < 0 ? minus(T(0), x) : x);
    }
};
template <class T>
T number_as(double value) {
    if constexpr (integral<T>)
        return static_cast<T>(to_integer(value));
    else
        return static_cast<T>(value);
}
struct L2 : SumSquare {
    template <class T>
    static T finish(T sum, std::int64_t) {
        return number_as<T>(std::sqrt(static_cast<double>(sum)));
    }
};
struct LogSum : Sum {
    template <class T>
    static T finish(T sum, std::int64_t) {
        return number_as<T>(std::log(static_cast<double>(sum)));
    }
};
struct Max : Sum {
    template <class T>
    static T start(T, ElementType type) {
        return integral<T> ? static_cast<T>(least_of(type)) : -std::numeric_limits<T>::infinity();
    }
    template <class T>
    static T step(T best, T x, ElementType type) {
        if constexpr (integral<T>)
            if (type == ElementType::u64)
                return static_cast<std::uint64_t>(best) < static_cast<std::uint64_t>(x) ? x : best;
        return x != x || best < x ? x : best;
    }
};
struct Min : Sum {
    template <class T>
    static T start(T, ElementType type) {
        return integral<T> ? static_cast<T>(greatest_of(type)) : std::numeric_limits<T>::infinity();
    }
    template <class T>
    static T step(T best, T x, ElementType type) {
        if constexpr (integral<T>)
            if (type == ElementType::u64)
                return static_cast<std::uint64_t>(x) < static_cast<std::uint64_t>(best) ? x : best;
        return x != x || x < best ? x : best;
    }
};

template <class Rule, class T, class From>
std::vector<T> reduced(const std::vector<From>& x, const ReducedAxes& axes, ElementType type) {
    std::vector<T> y(static_cast<std::size_t>(axes.count), Rule::start(T(0), type));
    for (std::size_t i = 0; i < x.size(); ++i) {
        T& entry = y[static_cast<std::size_t>(axes.to[i])];
        entry = Rule::step(entry, static_cast<T>(x[i]), type);
    }
    for (T& entry : y) entry = Rule::finish(entry, axes.each);
    return y;
}

template <class Rule>
struct Reduce {
    template <class Scalar>
    Result<void> operator()(Call<Scalar>& call) const {
        const Array<Scalar>& x = *call.input(0);
        VIRIDIAN_TRY(const ReducedAxes axes, ReducedAxes::of(call));
        VIRIDIAN_TRY(Array<Scalar> y, call.make(x.type, axes.out));
        if (x.floating()) {
            const auto sums = reduced<Rule, Accumulator<Scalar>>(x.real, axes, x.type);
            for (std::size_t i = 0; i < sums.size(); ++i) y.real[i] = static_cast<Scalar>(sums[i]);
        } else {
            y.integer = reduced<Rule, std::int64_t>(x.integer, axes, x.type);
        }
        call.outputs[0] = std::move(y);
        return {};
    }
};

// log(sum(exp(x))), the largest x taken out first so that nothing overflows.
constexpr auto log_sum_exp = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const Array<Scalar>& x = *call.input(0);
    VIRIDIAN_TRY(const ReducedAxes axes, ReducedAxes::of(call));
    const std::vector<double> elements = x.floating()
                                             ? std::vector<double>(x.real.begin(), x.real.end())
                                             : std::vector<double>(x.integer.begin(), x.integer.end());
    std::vector<double> top = reduced<Max, double>(elements, axes, ElementType::f64);
    for (double& value : top)
        if (std::isinf(value)) value = 0;
    std::vector<double> sum(top.size(), 0);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        const auto to = static_cast<std::size_t>(axes.to[i]);
        sum[to] += std::exp(elements[i] - top[to]);
    }
    VIRIDIAN_TRY(Array<Scalar> y, call.make(x.type, axes.out));
    for (std::size_t i = 0; i < sum.size(); ++i)
        if (y.floating())
            y.real[i] = static_cast<Scalar>(top[i] + std::log(sum[i]));
        else
            y.integer[i] = to_integer(top[i] + std::log(sum[i]));
    call.outputs[0] = std::move(y);
    return {};
};

constexpr OperatorRow row_reduction(std::string_view name, const Precision& precision, Reference reference) {
    return normalization_row(name, {1, 2}, infer_reduction, reference,
                             {.precision = precision,
                              .samples = Samples::behind_axes,
                              .flop = reduction_flop,
                              .iteration_space = reduction_space});
}
template <class Rule>
constexpr Reference real() {
    return real_kernel([](auto& call) -> Result<void> { return Reduce<Rule>{}(call); });
}
template <class Rule>
constexpr Reference polynomial() {
    return polynomial_kernel([](auto& call) -> Result<void> { return Reduce<Rule>{}(call); });
}

}  // namespace

std::span<const OperatorRow> reduction_operators() {
    static constexpr OperatorRow rows[] = {
        row_reduction("ReduceSum", precision::f32_statistics, polynomial<Sum>()),
        row_reduction("ReduceMean", precision::f32_statistics, polynomial<Mean>()),
        row_reduction("ReduceMax", precision::only_moves, real<Max>()),
        row_reduction("ReduceMin", precision::only_moves, real<Min>()),
        row_reduction("ReduceProd", precision::amplifies, polynomial<Product>()),
        row_reduction("ReduceSumSquare", precision::amplifies, polynomial<SumSquare>()),
        row_reduction("ReduceL1", precision::unlisted, real<L1>()),
        row_reduction("ReduceL2", precision::amplifies, real<L2>()),
        row_reduction("ReduceLogSum", precision::unlisted, real<LogSum>()),
        row_reduction("ReduceLogSumExp", precision::amplifies, real_kernel(log_sum_exp)),
    };
    return rows;
}

}  // namespace viridian::graph
