#include "viridian/execute/proof.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "viridian/graph/evaluate.hpp"

namespace viridian::execute {

using graph::Graph;
using graph::Tensor;

bool Proof::passed() const {
    return std::all_of(outputs.begin(), outputs.end(), [](const OutputAgreement& o) { return o.passed(); });
}

double relative_error(const Tensor& a, const Tensor& b) {
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
    const double error = std::sqrt(difference / size);
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

bool same_nan_pattern(const Tensor& a, const Tensor& b) {
    if (a.count() != b.count()) return false;
    for (std::int64_t i = 0; i < a.count(); ++i)
        if (std::isnan(a.number(i)) != std::isnan(b.number(i))) return false;
    return true;
}

double allowed_error(const plan::Plan& plan) {
    double allowed = 1e-4;
    for (const plan::AssignedRegion& assigned : plan.assignment.regions) {
        if (assigned.choice.kernel.find("winograd") != std::string::npos) allowed = std::max(allowed, 1e-3);
        for (const auto* formats : {&assigned.choice.inputs, &assigned.choice.outputs})
            for (const plan::Format& format : *formats)
                if (format.element == graph::ElementType::bf16 || format.element == graph::ElementType::f16)
                    allowed = std::max(allowed, 2e-2);
    }
    return allowed;
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
    std::vector<std::jthread> helpers;
    const auto wanted = std::min(inputs.size(), static_cast<std::size_t>(std::max(threads, 1)));
    for (std::size_t i = 1; i < wanted; ++i) helpers.emplace_back(work);
    work();
    helpers.clear();  // joins
    std::vector<std::vector<Tensor>> all;
    for (auto& result : results) {
        VIRIDIAN_TRY(std::vector<Tensor> outputs, std::move(result));
        all.push_back(std::move(outputs));
    }
    return all;
}

Result<Proof> prove(const Graph& original, const std::vector<std::vector<Tensor>>& inputs,
                    const std::vector<std::vector<Tensor>>& expected, Executable& executable,
                    double allowed) {
    Proof proof;
    for (const graph::ValueId output : original.outputs())
        proof.outputs.push_back({original.value(output).name, 0, allowed, true});
    for (std::size_t set = 0; set < inputs.size(); ++set) {
        std::vector<Tensor> outputs;
        for (const Tensor& like : expected[set]) outputs.emplace_back(like.type(), like.dims());
        VIRIDIAN_TRY(executable.run(inputs[set], outputs));
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            OutputAgreement& agreement = proof.outputs[i];
            agreement.error = std::max(agreement.error, relative_error(outputs[i], expected[set][i]));
            agreement.same_nan = agreement.same_nan && same_nan_pattern(outputs[i], expected[set][i]);
        }
        ++proof.inputs;
    }
    return proof;
}

Result<std::vector<Tensor>> output_tensors(const Graph& graph) {
    std::vector<Tensor> outputs;
    for (const graph::ValueId id : graph.outputs()) {
        const graph::Value& value = graph.value(id);
        if (!value.type.known())
            return fail(ErrorCode::unsupported, "bind its dimensions with --dim NAME=VALUE",
                        "the shape of the output `{}` is not known: {}", value.name, text(value.type));
        VIRIDIAN_TRY(graph::element_count(value.type.dims()));
        outputs.emplace_back(value.type.element, value.type.dims());
    }
    return outputs;
}

}  // namespace viridian::execute
