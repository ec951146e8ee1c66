#pragma once
// Adds a loss to a network.
#include <optional>
#include <string>
#include <vector>

#include "viridian/gradient/term.hpp"

namespace viridian::gradient {

// A LossKind says how the loss is computed from an output, and what else it reads.
enum class LossKind : std::uint8_t {
    cross_entropy,            // logits against class indices (softmax inside)
    negative_log_likelihood,  // log-probabilities against class indices
    mean_squared_error,       // numbers against numbers
    mean_absolute_error,
    huber,                 // squared below `delta`, linear above
    binary_cross_entropy,  // logits against numbers from 0 to 1 (sigmoid inside)
    output,                // the network computes its loss: a scalar output
    gradient,              // the caller gives the gradient of the output
};
[[nodiscard]] std::string_view name_of(
    LossKind kind);  // "cross-entropy", "nll", "mse", "l1", "huber", "bce", …
// Errors: invalid_argument, with the names that there are.
[[nodiscard]] Result<LossKind> parse_loss(std::string_view name);

struct LossOptions {
    LossKind kind = LossKind::cross_entropy;
    std::string output = {};                 // which output of the network; empty: the first
    double label_smoothing = 0;              // cross-entropy: share of the target that all classes get
    std::int64_t ignored_label = -100;       // a sample with this class index does not count
    std::vector<double> class_weights = {};  // one for each class; empty: all 1
    double delta = 1;                        // huber
    // Class indices are along this axis of the output. The default is 1, or the last axis of an output of
    // three axes, [batch, position, class].
    std::optional<std::int64_t> class_axis = {};
    // The loss is a sum times the scalar input `viridian.inverse_count`, instead of a mean, so that the parts
    // of a batch can be added up.
    bool external_count = false;
    // The loss is not one number but its terms: one for each place with a class index, zero if it is ignored,
    // or one for each element. Their sum over loss_count() is the loss. The first axis is the batch, or the
    // batch times the places of a sample.
    bool terms = false;
};

// Returns the class axis of an output of `rank` axes, counted from the front.
[[nodiscard]] std::int64_t class_axis(const LossOptions& options, std::int64_t rank);

// A Loss holds the values that were added. For LossKind::gradient there is no loss, and for LossKind::output
// no labels.
struct Loss {
    graph::ValueId value = graph::ValueId::none;     // a scalar, or the terms
    graph::ValueId labels = graph::ValueId::none;    // the new input
    graph::ValueId of = graph::ValueId::none;        // the value that gradients start from: a logit tensor
    graph::ValueId gradient = graph::ValueId::none;  // the new input, for LossKind::gradient
};

// Returns the output that the loss reads. Errors: mismatch (the network has none), missing_entry (no such
// output).
[[nodiscard]] Result<graph::ValueId> loss_output_of(const Graph& graph, const LossOptions& options);

// Adds the loss of `options` to `graph`, with the input `labels`. If the output comes from a Softmax or
// Sigmoid that the loss contains, its logits are compared, which is the same function with smaller errors.
// Errors: missing_entry (no such output), mismatch (an output of another form), unsupported (its extents are
// not numbers), invalid_argument (class weights that do not fit).
[[nodiscard]] Result<Loss> add_loss(Graph& graph, const LossOptions& options);

// The input of LossOptions::external_count: 1 over the loss_count() of all labels that one step reads.
inline constexpr std::string_view inverse_count_input = "viridian.inverse_count";
// Returns by what a mean over the first `elements` of these labels divides: the weights of those that count,
// or the number of elements.
[[nodiscard]] double loss_count(const LossOptions& options, const graph::Tensor& labels,
                                std::int64_t elements);
[[nodiscard]] inline double loss_count(const LossOptions& options, const graph::Tensor& labels) {
    return loss_count(options, labels, labels.count());
}

}  // namespace viridian::gradient
