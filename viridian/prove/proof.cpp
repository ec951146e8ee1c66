#include "viridian/prove/proof.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <limits>

#include "viridian/graph/evaluate.hpp"
#include "viridian/prove/training.hpp"

namespace viridian::prove {

using graph::Graph;
using graph::Tensor;

bool Proof::passed() const {
    return std::all_of(outputs.begin(), outputs.end(), [](const OutputAgreement& o) { return o.passed(); });
}

double relative_error(const Tensor& a, const Tensor& b, double least) {
    if (a.dims() != b.dims() || a.type() != b.type()) return std::numeric_limits<double>::infinity();
    double difference = 0;
    double size = 0;
    for (std::int64_t i = 0; i < b.count(); ++i) {
        const double x = a.number(i);
        const double y = b.number(i);
        if (std::isnan(y) || x == y) {
            if (std::isfinite(y)) size += y * y;
            continue;
        }
        difference += (x - y) * (x - y);
        size += y * y;
    }
    if (difference == 0) return 0;
    const double error = std::sqrt(difference) / std::max(std::sqrt(size), least);
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

namespace {

// Rows of finite scores only: what is not finite must be so on both sides, and has no best class.
void compare_best(const Tensor& ours, const Tensor& expected, OutputAgreement& agreement) {
    if (!graph::is_floating(expected.type()) || expected.rank() != 2 || expected.dims()[1] < 2) return;
    const std::int64_t classes = expected.dims()[1];
    for (std::int64_t row = 0; row < expected.dims()[0]; ++row) {
        constexpr double lowest = -std::numeric_limits<double>::infinity();
        double best = lowest, largest = 0, highest = lowest, chosen = lowest;
        bool finite = true;
        for (std::int64_t c = 0; c < classes; ++c) {
            const double score = expected.number(row * classes + c);
            const double found = ours.number(row * classes + c);
            finite = finite && std::isfinite(score);
            best = std::max(best, score);
            largest = std::max(largest, std::abs(score));
            if (found > highest) highest = found, chosen = score;
        }
        if (!finite) continue;
        ++agreement.rows;
        agreement.agreeing += best - chosen <= agreement.allowed * largest ? 1 : 0;
    }
}

void compare_elements(const Tensor& ours, const Tensor& expected, OutputAgreement& agreement) {
    if (graph::is_floating(expected.type())) return;
    agreement.elements += expected.count();
    for (std::int64_t i = 0; i < expected.count(); ++i) {
        const bool same = expected.type() == graph::ElementType::boolean
                              ? (ours.integer(i) != 0) == (expected.integer(i) != 0)
                              : ours.integer(i) == expected.integer(i);
        agreement.differing += same ? 0 : 1;
    }
}

}  // namespace

bool same_nan_pattern(const Tensor& a, const Tensor& b) {
    if (a.count() != b.count()) return false;
    for (std::int64_t i = 0; i < a.count(); ++i)
        if (std::isnan(a.number(i)) != std::isnan(b.number(i))) return false;
    return true;
}

Result<std::vector<std::vector<Tensor>>> reference_outputs(const Graph& original,
                                                           const std::vector<std::vector<Tensor>>& inputs,
                                                           int threads) {
    std::vector<Result<std::vector<Tensor>>> results(inputs.size(), std::vector<Tensor>());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < inputs.size(); i = next++)
            results[i] = evaluate(original, inputs[i]);
    };
    std::vector<std::future<void>> helpers;
    const auto wanted = std::min(inputs.size(), static_cast<std::size_t>(std::max(threads, 1)));
    for (std::size_t i = 1; i < wanted; ++i) helpers.push_back(std::async(std::launch::async, work));
    work();
    for (std::future<void>& helper : helpers) helper.get();
    std::vector<std::vector<Tensor>> all;
    for (auto& result : results) {
        VIRIDIAN_TRY(std::vector<Tensor> outputs, std::move(result));
        all.push_back(std::move(outputs));
    }
    return all;
}

namespace {

constexpr std::string_view gradients_words = "; measured against what the gradients add";
constexpr std::string_view typical_words = "; measured against at least a hundredth of a typical gradient";

// Sets the states, runs once, and returns outputs and new states, which have the types of `like`.
Result<std::vector<Tensor>> run_like(execute::Executable& executable, const std::vector<Tensor>& given,
                                     const std::vector<Tensor>& like) {
    const std::size_t states = executable.state_count();
    std::vector<Tensor> outputs;
    for (std::size_t i = 0; i + states < like.size(); ++i)
        outputs.emplace_back(like[i].type(), like[i].dims());
    for (std::size_t i = 0; i < states; ++i)
        VIRIDIAN_TRY(executable.set_state(i, given[given.size() - states + i]));
    VIRIDIAN_TRY(execute::run_on(executable, given, outputs));
    for (std::size_t i = 0; i < states; ++i) {
        VIRIDIAN_TRY(outputs.emplace_back(), executable.state(i));
    }
    return outputs;
}

}  // namespace

Result<Proof> prove(const Graph& original, const std::vector<std::vector<Tensor>>& inputs,
                    const std::vector<std::vector<Tensor>>& expected, execute::Executable& executable,
                    const AllowedError& allowed, std::span<const AllowedError> more) {
    Proof proof;
    const std::vector<bool> exact = exact_outputs(original);
    const std::vector<graph::ValueId> results = run_outputs(original);
    std::vector<bool> raised;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        OutputAgreement agreement;
        agreement.name = original.value(results[i]).name;
        agreement.allowed = exact[i] ? 0 : allowed.error;
        agreement.because = exact[i] ? "integers that no rounding reaches" : allowed.because;
        agreement.exact = exact[i];
        const bool in_f32 = original.value(results[i]).type.element == graph::ElementType::f32;
        raised.push_back(in_f32 && i < more.size() && more[i].error > agreement.allowed);
        if (raised[i]) agreement.allowed = more[i].error, agreement.because = more[i].because;
        proof.outputs.push_back(std::move(agreement));
    }
    for (std::size_t set = 0; set < inputs.size(); ++set) {
        VIRIDIAN_TRY(const std::vector<Tensor> outputs, run_like(executable, inputs[set], expected[set]));
        VIRIDIAN_TRY(
            const std::vector<ResultError> errors,
            result_errors(original, inputs[set], expected[set], outputs, allowed.of_gradients.value_or(0)));
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            OutputAgreement& agreement = proof.outputs[i];
            agreement.error = std::max(agreement.error, errors[i].error);
            if (errors[i].of_the_gradients && !raised[i]) {
                agreement.allowed = allowed.gradients();
                agreement.because = allowed.because + std::string(gradients_words);
            }
            if (errors[i].is_gradient) agreement.because = allowed.because + std::string(typical_words);
            if (!same_nan_pattern(outputs[i], expected[set][i])) agreement.same_nan = false;
            if (i < original.outputs().size() && !errors[i].is_gradient)
                compare_best(outputs[i], expected[set][i], agreement);
            compare_elements(outputs[i], expected[set][i], agreement);
        }
        ++proof.inputs;
    }
    return proof;
}

}  // namespace viridian::prove
