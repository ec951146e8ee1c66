#include "viridian/gradient/loss.hpp"

#include <algorithm>
#include <numeric>

namespace viridian::gradient {
namespace {

constexpr std::pair<LossKind, std::string_view> loss_names[] = {
    {LossKind::cross_entropy, "cross-entropy"},
    {LossKind::negative_log_likelihood, "nll"},
    {LossKind::mean_squared_error, "mse"},
    {LossKind::mean_absolute_error, "l1"},
    {LossKind::huber, "huber"},
    {LossKind::binary_cross_entropy, "bce"},
    {LossKind::output, "output"},
    {LossKind::gradient, "gradient"},
};

// Returns the input of `op` if the value comes from it, along the class axis.
ValueId logits_of(const Graph& graph, ValueId value, graph::KnownOperator op, std::int64_t axis) {
    const Node* node = graph.producer(value);
    if (node == nullptr || node->op != op) return value;
    if (op == op::Sigmoid) return node->input(0);
    const auto rank = static_cast<std::int64_t>(graph.value(value).type.shape->size());
    const std::int64_t own = node->integer("axis", -1);
    return (own < 0 ? own + rank : own) == axis ? node->input(0) : value;
}

// Adds what the losses share: a label input, the reduction, and error messages.
class LossMaker {
  public:
    LossMaker(Graph& graph, const LossOptions& options, ValueId output)
        : b(graph), options_(options), output_(output) {}

    Loss classes() {
        const std::int64_t rank = b.rank(b.value(output_));
        const std::int64_t axis = class_axis(options_, rank);
        if (rank < 2 || axis < 1 || axis >= rank)
            refuse(
                "class indices need an output of at least two axes, [batch, class], and a class axis after "
                "the first");
        const bool logits = options_.kind == LossKind::cross_entropy;
        loss_.of = logits ? logits_of(b.graph(), output_, op::Softmax, axis) : output_;
        Term x = b.value(loss_.of);
        const Dims dims = b.dims(x);
        Dims label_dims = dims;
        label_dims.erase(label_dims.begin() + axis);
        const Term labels = label_input(ElementType::i64, label_dims);
        const std::int64_t classes = dims[static_cast<std::size_t>(axis)];
        Dims order(dims.size());  // the class axis goes last, everything else becomes rows
        std::iota(order.begin(), order.end(), 0);
        order.erase(order.begin() + axis);
        order.push_back(axis);
        const std::int64_t rows =
            std::accumulate(label_dims.begin(), label_dims.end(), std::int64_t{1}, std::multiplies<>());
        x = reshape(transpose(x, order), {rows, classes});
        entropy(x, reshape(labels, {rows}), classes, logits);
        return loss_;
    }

    Loss numbers() {
        const bool binary = options_.kind == LossKind::binary_cross_entropy;
        loss_.of = binary ? logits_of(b.graph(), output_, op::Sigmoid, 0) : output_;
        const Term x = b.value(loss_.of);
        const Term target = label_input(b.element(x), b.dims(x));
        const Term d = x - target;
        switch (options_.kind) {
            case LossKind::mean_squared_error:
                average(square(d));
                break;
            case LossKind::mean_absolute_error:
                average(gradient::apply(op::Abs, d));
                break;
            case LossKind::binary_cross_entropy:  // ln(1 + eˣ) - t·x
                average(gradient::apply(op::Softplus, x) - target * x);
                break;
            default: {
                const Term size = gradient::apply(op::Abs, d);
                const double delta = options_.delta;
                average(where(size <= delta, square(d) * 0.5, (size - 0.5 * delta) * delta));
            }
        }
        return loss_;
    }

    Loss given_output() {
        const Dims dims = b.dims(b.value(output_));
        if (std::ranges::any_of(dims, [](std::int64_t n) { return n != 1; }))
            refuse("a loss that the network computes is one number");
        loss_.of = output_;
        loss_.value = output_;
        return loss_;
    }

    Loss given_gradient() {
        loss_.of = output_;
        loss_.gradient = b.graph().add_input("gradient", b.graph().value(output_).type);
        return loss_;
    }

  private:
    [[noreturn]] void refuse(std::string_view reason) {
        const graph::Value& value = b.graph().value(output_);
        throw Refusal{fail(ErrorCode::mismatch, "choose another output with --output, or another --loss",
                           "output `{}` is {}: {}", value.name, text(value.type), reason)};
    }

    Term label_input(ElementType element, const Dims& dims) {
        loss_.labels = b.graph().add_input("labels", {element, graph::shape_of(dims)});
        return b.value(loss_.labels);
    }

    Term inverse_count(Term like) {
        const ValueId input =
            b.graph().add_input(std::string(inverse_count_input), {b.element(like), graph::Shape{}});
        return b.value(input);
    }

    // The mean of all elements, or their sum times the given 1/N.
    void average(Term each) {
        if (options_.terms) {
            loss_.value = each.id;
            return;
        }
        Dims axes(b.dims(each).size());
        std::iota(axes.begin(), axes.end(), 0);
        const Term total = sum(each, axes, false);
        std::int64_t count = 1;
        for (const std::int64_t extent : b.dims(each)) count *= extent;
        loss_.value =
            (options_.external_count ? total * inverse_count(total) : total / static_cast<double>(count)).id;
    }

    // Cross-entropy of rows of logits or log-probabilities. The target is 1 - ε for the label's class, plus ε
    // in equal parts for all classes (Szegedy et al. 2016, section 7); weights scale each class's term.
    void entropy(Term x, Term labels, std::int64_t classes, bool logits) {
        std::vector<Term> inputs = {x, labels};
        Term weights;
        if (!options_.class_weights.empty()) {
            if (static_cast<std::int64_t>(options_.class_weights.size()) != classes)
                throw Refusal{fail(ErrorCode::invalid_argument, "give one weight for each class",
                                   "there are {} class weights and {} classes", options_.class_weights.size(),
                                   classes)};
            weights =
                cast(b.constant(Tensor::of<double>(ElementType::f64, {classes}, options_.class_weights)),
                     b.element(x));
            inputs.push_back(weights);
        }
        const graph::Attributes each = {{"reduction", std::string("none")},
                                        {"ignore_index", options_.ignored_label}};
        const double smoothing = options_.label_smoothing;
        Term sample, log_probability = x;
        if (logits) {  // one operator from logits to losses, whose gradient needs no probabilities kept
            const std::vector<Term> outputs =
                b.add(op::SoftmaxCrossEntropyLoss, inputs, each, smoothing > 0 ? 2U : 1U);
            sample = outputs[0];
            log_probability = outputs.back();
        } else {
            sample = b.add(op::NegativeLogLikelihoodLoss, inputs, each);
        }
        const Term counts =
            cast(gradient::apply(op::Not, equal(labels, b.number(double(options_.ignored_label), labels))),
                 b.element(x));
        if (smoothing > 0) {
            const Term spread = weights ? log_probability * weights : log_probability;
            const Term uniform = -(sum(spread, {1}, false) * counts) / static_cast<double>(classes);
            sample = sample * (1 - smoothing) + uniform * smoothing;
        }
        if (options_.terms) {
            loss_.value = sample.id;
            return;
        }
        const Term total = sum(sample, {0}, false);
        if (options_.external_count) {
            loss_.value = (total * inverse_count(total)).id;
            return;
        }
        Term weight = counts;  // PyTorch's mean divides by the weights of the labels that count
        if (weights) {
            const Term safe = where(cast(counts, ElementType::boolean), labels, 0);
            weight = b.add(op::Gather, {weights, safe}) * counts;
        }
        loss_.value = (total / sum(weight, {0}, false)).id;
    }

    Builder b;
    const LossOptions& options_;
    ValueId output_;
    Loss loss_;
};

}  // namespace

std::int64_t class_axis(const LossOptions& options, std::int64_t rank) {
    if (options.class_axis) return *options.class_axis < 0 ? *options.class_axis + rank : *options.class_axis;
    return rank == 3 ? 2 : 1;
}

Result<ValueId> loss_output_of(const Graph& graph, const LossOptions& options) {
    const std::string& name = options.output;
    if (graph.outputs().empty())
        return fail(ErrorCode::mismatch, "give a network with an output", "the network has no output");
    std::vector<std::string> all;
    for (const ValueId id : graph.outputs()) all.push_back(graph.value(id).name);
    const auto found = name.empty() ? all.begin() : std::ranges::find(all, name);
    if (found == all.end())
        return fail(ErrorCode::missing_entry, fmt::format("its outputs are {}", fmt::join(all, ", ")),
                    "the network has no output `{}`", name);
    const ValueId output = graph.outputs()[static_cast<std::size_t>(found - all.begin())];
    const graph::ElementType element = graph.value(output).type.element;
    if (element != graph::ElementType::undefined && !is_floating(element))
        return fail(
            ErrorCode::mismatch, fmt::format("choose another of its outputs: {}", fmt::join(all, ", ")),
            "the output `{}` is {}, and a loss needs numbers that change smoothly", *found, name_of(element));
    return output;
}

std::string_view name_of(LossKind kind) {
    return std::ranges::find(loss_names, kind, &std::pair<LossKind, std::string_view>::first)->second;
}

Result<LossKind> parse_loss(std::string_view name) {
    std::vector<std::string_view> all;
    for (const auto& [kind, text] : loss_names) {
        if (text == name) return kind;
        all.push_back(text);
    }
    return fail(ErrorCode::invalid_argument, fmt::format("choose one of {}", fmt::join(all, ", ")),
                "there is no loss `{}`", name);
}

Result<Loss> add_loss(Graph& graph, const LossOptions& options) {
    VIRIDIAN_TRY(const ValueId output, loss_output_of(graph, options));
    try {
        LossMaker maker(graph, options, output);
        switch (options.kind) {
            case LossKind::cross_entropy:
            case LossKind::negative_log_likelihood:
                return maker.classes();
            case LossKind::output:
                return maker.given_output();
            case LossKind::gradient:
                return maker.given_gradient();
            default:
                return maker.numbers();
        }
    } catch (const Refusal& refusal) {
        return refusal.error;
    }
}

double loss_count(const LossOptions& options, const graph::Tensor& labels, std::int64_t elements) {
    if (options.kind != LossKind::cross_entropy && options.kind != LossKind::negative_log_likelihood)
        return static_cast<double>(elements);
    double count = 0;
    for (std::int64_t i = 0; i < elements; ++i) {
        const std::int64_t label = labels.integer(i);
        if (label == options.ignored_label) continue;
        const auto weight = static_cast<std::size_t>(label);
        count += weight < options.class_weights.size() ? options.class_weights[weight] : 1;
    }
    return count;
}

}  // namespace viridian::gradient
