#pragma once
// A Metric is a number by which an evaluation judges a model: how many labels it predicts, how far its values
// are off. It adds up one batch after another; the batches may have any sizes, and the result is the same for
// every division into batches: counts are integers, and sums are in double and in the order of the samples.
//
//     VIRIDIAN_TRY(Metric metric, parse_metric("top-5"));
//     while (next(batch)) VIRIDIAN_TRY(metric.add(batch.outputs, batch.labels, {.samples = batch.filled}));
//     VIRIDIAN_TRY(const double accuracy, metric.value());
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "viridian/graph/tensor.hpp"

namespace viridian::train {

// A Counted says which places of a batch count, and which dimension runs over the classes.
struct Counted {
    // The first dimension's entries that count; the rest only fills the batch. All of them by default.
    std::int64_t samples = std::numeric_limits<std::int64_t>::max();
    // The dimension of the outputs that runs over the classes; -1 is the last one. It is never the first.
    std::int64_t class_axis = 1;
    // Places with this label do not count, as in ONNX's SoftmaxCrossEntropyLoss.
    std::optional<std::int64_t> ignored_label{};
};

// A TopK tallies the share of labels that are among the k classes with the highest scores. Of equal scores
// that of the lower class is the higher one; NaN is higher than every number.
struct TopK {
    std::int64_t k = 1;
    std::int64_t right = 0;
    std::int64_t counted = 0;
};

// An F1 tallies the harmonic mean of precision and recall, 2·TP / (2·TP + FP + FN), and 0 if there is no
// positive. macro is the mean over the classes that occur as label or prediction; micro adds up the counts of
// all classes, which for one label per place is the accuracy; binary is that of class 1, from two scores or
// from one score, which is positive above `threshold`. These are the definitions of scikit-learn's f1_score.
struct F1 {
    enum class Mean { macro, micro, binary };
    struct Counts {
        std::int64_t true_positive = 0;
        std::int64_t false_positive = 0;
        std::int64_t false_negative = 0;
    };
    Mean mean = Mean::macro;
    double threshold = 0;
    std::vector<Counts> classes;
    std::int64_t counted = 0;
};

// An Accuracy tallies the share of places that are right. If outputs and labels have one shape, a place is a
// score, which is positive above `threshold` (a logit of 0 is a probability of 0.5), and a label, which is
// positive above 0.5. Otherwise it is top-1.
struct Accuracy {
    double threshold = 0;
    std::int64_t right = 0;
    std::int64_t counted = 0;
};

// A Likelihood tallies the mean of −ln p(label), where p is the softmax of the scores: as perplexity, e to
// that mean; as bits per character, that mean divided by ln 2; or as it is.
struct Likelihood {
    enum class Unit { perplexity, bits, nats };
    Unit unit = Unit::perplexity;
    double nats = 0;
    std::int64_t counted = 0;
};

// A Difference tallies the mean of the squared or of the absolute differences of outputs and labels.
struct Difference {
    bool squared = true;
    double sum = 0;
    std::int64_t counted = 0;
};

class Metric {
  public:
    using Tally = std::variant<TopK, F1, Accuracy, Likelihood, Difference>;
    Metric(std::string name, Tally tally) : name_(std::move(name)), empty_(tally), tally_(std::move(tally)) {}

    [[nodiscard]] const std::string& name() const { return name_; }  // "top-5"
    [[nodiscard]] bool lower_is_better() const;

    // Adds a batch. Metrics of classes need integer labels with the shape of the outputs without the class
    // axis; the others need two tensors of one shape. Dimensions of 1 at the end may be missing. Errors:
    // mismatch (shapes, types), malformed (a label that is no class); nothing of the batch is then counted.
    [[nodiscard]] Result<void> add(const graph::Tensor& outputs, const graph::Tensor& labels,
                                   const Counted& counted = {});
    // Returns the value for all batches that were added. Errors: missing_entry (nothing was counted).
    [[nodiscard]] Result<double> value() const;
    void reset() { tally_ = empty_; }

  private:
    std::string name_;
    Tally empty_;
    Tally tally_;
};

// Reads a metric: top-1 (any number), accuracy, f1:macro, f1:micro, f1:binary, perplexity,
// bits-per-character, cross-entropy, mse, mae. Errors: invalid_argument.
[[nodiscard]] Result<Metric> parse_metric(std::string_view text);

}  // namespace viridian::train
