// SoftmaxCrossEntropyLoss of scores [N, C] or [N, C, d…], its gradient, and NegativeLogLikelihoodLoss, one
// example at a time.
#include <algorithm>
#include <cmath>

#include "viridian/execute/cpu/kernels/training/port.hpp"
#include "viridian/execute/cpu/simd/elementwise/loops.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::ElementType;
using graph::Node;
using graph::ValueId;

constexpr std::string_view cross_entropy_family_name = "simd:crossentropy";

enum class Averaging : std::uint8_t { none, sum, mean };

struct CrossEntropy {
    bool gradient = false;
    bool logarithms = false;  // the scores are log-probabilities
    Averaging averaging = Averaging::mean;
    std::int64_t images = 1, classes = 1, inner = 1;  // scores are [images, classes, inner]
    bool ignores = false;
    std::int64_t ignored = 0;
    bool wide = true;  // targets are i64, or else i32
    std::string node;

    [[nodiscard]] std::int64_t examples() const { return images * inner; }
    // Where the scores of an example begin; they are `inner` apart.
    [[nodiscard]] std::int64_t at(std::int64_t example) const {
        return example / inner * classes * inner + example % inner;
    }
};

bool is_entropy_body(const Node& node) {
    return body_consists_of(node, {{graph::op::OneHot, 1, 1},
                                   {graph::op::Softmax, 1, 1},
                                   {graph::op::Sub, 1, 1},
                                   {graph::op::Mul, 1, 2},
                                   {graph::op::Div, 0, 1},
                                   {graph::op::Gather, 0, 1},
                                   {graph::op::Where, 0, 2},
                                   {graph::op::Equal, 0, 1},
                                   {graph::op::Not, 0, 1},
                                   {graph::op::ReduceSum, 0, 1}});
}

std::optional<CrossEntropy> cross_entropy(const Task& task) {
    const Node& node = task.node();
    const bool gradient = node.op == graph::op::CrossEntropyGrad;
    const bool logarithms = node.op == graph::op::NegativeLogLikelihoodLoss;
    if (task.region.nodes.size() != 1 ||
        (!gradient && !logarithms && node.op != graph::op::SoftmaxCrossEntropyLoss))
        return std::nullopt;
    if (gradient && !is_entropy_body(node)) return std::nullopt;
    const std::size_t first = gradient ? 1 : 0;  // the gradient's first input is that of the loss
    const ValueId scores = node.input(first), targets = node.input(first + 1),
                  weights = node.input(first + 2);
    for (const ValueId id : {scores, targets})
        if (id == ValueId::none || !task.type(id).known() || !task.input_index(id)) return std::nullopt;
    const Dims dims = task.dims(scores);
    const ElementType element = task.type(targets).element;
    if (dims.size() < 2 || std::ranges::count(dims, 0) > 0 || !is_f32_of(task, scores, dims) ||
        (element != ElementType::i64 && element != ElementType::i32))
        return std::nullopt;
    CrossEntropy made{.gradient = gradient,
                      .logarithms = logarithms,
                      .images = dims[0],
                      .classes = dims[1],
                      .node = node.name};
    for (std::size_t axis = 2; axis < dims.size(); ++axis) made.inner *= dims[axis];
    made.wide = element == ElementType::i64;
    made.ignores = node.has("ignore_index");
    made.ignored = node.integer("ignore_index", 0);
    const std::string reduction = node.get("reduction", std::string("mean"));
    if (reduction == "none") made.averaging = Averaging::none;
    if (reduction == "sum") made.averaging = Averaging::sum;
    if (weights != ValueId::none && !is_f32_of(task, weights, {dims[1]})) return std::nullopt;
    Dims each = dims;
    each.erase(each.begin() + 1);
    if (task.dims(targets) != each) return std::nullopt;
    const Dims losses = made.averaging == Averaging::none ? each : Dims{};
    if (!gradient && node.output(0) != ValueId::none && !is_f32_of(task, node.output(0), losses))
        return std::nullopt;
    if (gradient && (!is_f32_of(task, node.input(0), losses) || !is_f32_of(task, node.output(0), dims)))
        return std::nullopt;
    return made;
}

// A weight and a loss for each example, and a row of scores for each thread.
Bytes workspace_of(const CrossEntropy& w, int threads) {
    constexpr auto width = static_cast<std::int64_t>(sizeof(float));
    return Bytes((2 * w.examples() + threads * w.classes) * width);
}

std::vector<plan::Choice> offers_cross_entropy(const Task& task) {
    const auto work = cross_entropy(task);
    if (!work) return {};
    plan::Choice choice = task.plain_choice(std::string(cross_entropy_family_name));
    choice.workspace = workspace_of(*work, task.context.threads);
    return {choice};
}

struct EntropyPorts {
    Port g, scores, weights;
    std::size_t targets = 0;
};

// Returns the class of an example, or nothing if it does not count. Throws KernelFailure.
std::optional<std::int64_t> class_of(const CrossEntropy& w, const std::byte* targets, std::int64_t example) {
    const std::int64_t target = w.wide ? reinterpret_cast<const std::int64_t*>(targets)[example]
                                       : reinterpret_cast<const std::int32_t*>(targets)[example];
    if (w.ignores && target == w.ignored) return std::nullopt;
    if (target < 0 || target >= w.classes)
        throw KernelFailure{fail(ErrorCode::mismatch, "check the labels",
                                 "a target of node `{}` is class {} of {}", w.node, target, w.classes)};
    return target;
}

// The weight of every example and their sum. All targets are checked here, before threads share the work.
double weigh(const CrossEntropy& w, const EntropyPorts& ports, const Pointers& pointers, float* each) {
    const float* const weights = ports.weights.at(pointers);
    double sum = 0;
    for (std::int64_t i = 0; i < w.examples(); ++i) {
        const auto target = class_of(w, pointers.inputs[ports.targets], i);
        each[i] = !target ? 0.0F : weights == nullptr ? 1.0F : weights[*target];
        sum += static_cast<double>(each[i]);
    }
    return sum;
}

void copy_scores(const CrossEntropy& w, const float* scores, std::int64_t example, float* row) {
    const float* const from = scores + w.at(example);
    for (std::int64_t c = 0; c < w.classes; ++c) row[c] = from[c * w.inner];
}

template <class F>
void over_examples(const CrossEntropy& w, int threads, float* rows, const F& f) {
    const auto work_on = [&](int part, std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) f(i, rows + part * w.classes);
    };
    if (w.examples() * w.classes < 8192) return work_on(0, 0, w.examples());
    parallel(threads, [&](int part) {
        const auto [first, last] = share(w.examples(), part, threads);
        work_on(part, first, last);
    });
}

void run_loss(const CrossEntropy& w, const EntropyPorts& ports, int threads,
              const std::optional<std::size_t>& loss, const std::optional<std::size_t>& logarithms,
              const Pointers& pointers) {
    auto* const weights = reinterpret_cast<float*>(pointers.workspace);
    float* const losses = weights + w.examples();
    const double sum = weigh(w, ports, pointers, weights);
    const std::byte* const targets = pointers.inputs[ports.targets];
    over_examples(w, threads, losses + w.examples(), [&](std::int64_t i, float* row) {
        if (w.logarithms) {
            const auto target = class_of(w, targets, i);
            const float* const scores = ports.scores.at(pointers) + w.at(i);
            losses[i] = target ? -weights[i] * scores[*target * w.inner] : 0.0F;
            return;
        }
        copy_scores(w, ports.scores.at(pointers), i, row);
        simd::log_softmax_row(row, row, w.classes);
        const auto target = class_of(w, targets, i);
        losses[i] = target ? -weights[i] * row[*target] : 0.0F;
        if (!logarithms) return;
        float* const to = reinterpret_cast<float*>(pointers.outputs[*logarithms]) + w.at(i);
        for (std::int64_t c = 0; c < w.classes; ++c) to[c * w.inner] = row[c];
    });
    if (!loss) return;
    auto* const to = reinterpret_cast<float*>(pointers.outputs[*loss]);
    if (w.averaging == Averaging::none) {
        std::copy_n(losses, w.examples(), to);
        return;
    }
    double total = 0;
    for (std::int64_t i = 0; i < w.examples(); ++i) total += static_cast<double>(losses[i]);
    *to = static_cast<float>(w.averaging == Averaging::mean ? total / sum : total);
}

void run_gradient(const CrossEntropy& w, const EntropyPorts& ports, int threads, const Pointers& pointers) {
    auto* const weights = reinterpret_cast<float*>(pointers.workspace);
    const double sum = weigh(w, ports, pointers, weights);
    const float* const g = ports.g.at(pointers);
    if (g == nullptr) return;  // never, because cross_entropy() refuses such a node
    const std::byte* const targets = pointers.inputs[ports.targets];
    over_examples(w, threads, weights + 2 * w.examples(), [&](std::int64_t i, float* row) {
        copy_scores(w, ports.scores.at(pointers), i, row);
        simd::softmax_row(row, row, w.classes);
        if (const auto target = class_of(w, targets, i)) row[*target] -= 1.0F;
        double scale = static_cast<double>(w.averaging == Averaging::none ? g[i] : g[0]);
        if (w.averaging == Averaging::mean) scale /= sum;
        const auto factor = static_cast<float>(scale * static_cast<double>(weights[i]));
        float* const to = reinterpret_cast<float*>(pointers.outputs[0]) + w.at(i);
        for (std::int64_t c = 0; c < w.classes; ++c) to[c * w.inner] = row[c] * factor;
    });
}

Result<Kernel> prepare_cross_entropy(const Task& task, const plan::Choice& choice) {
    const auto work = cross_entropy(task);
    if (!work) return unknown_kernel(choice);
    const Node& node = task.node();
    const std::size_t first = work->gradient ? 1 : 0;
    Kernel kernel;
    EntropyPorts ports;
    if (work->gradient) ports.g = port_of(task, node.inputs[0], kernel);
    ports.scores = port_of(task, node.inputs[first], kernel);
    ports.weights = port_of(task, node.input(first + 2), kernel);
    ports.targets = *task.input_index(node.inputs[first + 1]);
    const auto loss = output_index(task, 0), logarithms = output_index(task, 1);
    kernel.workspace = workspace_of(*work, task.context.threads);
    kernel.run = [=, w = *work, threads = task.context.threads](const Pointers& pointers) {
        if (w.gradient)
            run_gradient(w, ports, threads, pointers);
        else
            run_loss(w, ports, threads, loss, logarithms, pointers);
    };
    return kernel;
}

}  // namespace

Family cross_entropy_family() {
    return {cross_entropy_family_name, offers_cross_entropy, prepare_cross_entropy, true};
}

}  // namespace viridian::execute::cpu
