#include "viridian/train/metric/metric.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "viridian/train/metric/scores.hpp"

namespace viridian::train {
namespace {

using graph::Tensor;
using Scores = std::span<const double>;

// Returns whether class `a` ranks before class `b`.
bool before(Scores scores, std::size_t a, std::size_t b) {
    const double left = scores[a], right = scores[b];
    if (std::isnan(left) || std::isnan(right)) return std::isnan(left) && (!std::isnan(right) || a < b);
    return left > right || (left == right && a < b);
}

void count_place(TopK& tally, Scores scores, std::int64_t label) {
    const auto wanted = static_cast<std::size_t>(label);
    std::int64_t ahead = 0;
    for (std::size_t c = 0; c < scores.size(); ++c) ahead += c != wanted && before(scores, c, wanted) ? 1 : 0;
    tally.right += ahead < tally.k ? 1 : 0;
    ++tally.counted;
}

void count_classes(F1& tally, std::size_t predicted, std::size_t label) {
    const std::size_t classes = std::max(predicted, label) + 1;
    if (tally.classes.size() < classes) tally.classes.resize(classes);
    if (predicted == label) {
        ++tally.classes[label].true_positive;
    } else {
        ++tally.classes[predicted].false_positive;
        ++tally.classes[label].false_negative;
    }
    ++tally.counted;
}

void count_place(F1& tally, Scores scores, std::int64_t label) {
    std::size_t best = 0;
    for (std::size_t c = 1; c < scores.size(); ++c)
        if (before(scores, c, best)) best = c;
    count_classes(tally, best, static_cast<std::size_t>(label));
}

void count_place(Accuracy& tally, Scores scores, std::int64_t label) {
    TopK first{.k = 1};
    count_place(first, scores, label);
    tally.right += first.right;
    ++tally.counted;
}

// −ln softmax(scores)[label], with the largest score taken out so that nothing overflows.
void count_place(Likelihood& tally, Scores scores, std::int64_t label) {
    const double largest = *std::ranges::max_element(scores);
    double sum = 0;
    for (const double score : scores) sum += std::exp(score - largest);
    tally.nats += std::log(sum) + largest - scores[static_cast<std::size_t>(label)];
    ++tally.counted;
}

template <class Tally>
Result<void> add_batch(Tally& tally, const Tensor& outputs, const Tensor& labels, const Counted& counted) {
    return each_place(outputs, labels, counted,
                      [&](Scores scores, std::int64_t label) { count_place(tally, scores, label); });
}

// Two scores a place, or one with a threshold.
Result<void> add_batch(F1& tally, const Tensor& outputs, const Tensor& labels, const Counted& counted) {
    const bool binary = tally.mean == F1::Mean::binary;
    if (!binary || !same_places(outputs, labels)) {
        F1 more = tally;
        VIRIDIAN_TRY(each_place(outputs, labels, counted, [&](Scores scores, std::int64_t label) {
            count_place(more, scores, label);
        }));
        const auto axis = graph::normalize_axis(counted.class_axis, outputs.rank());
        if (binary && outputs.dims()[static_cast<std::size_t>(*axis)] != 2)
            return fail(ErrorCode::mismatch, "use f1:macro or f1:micro",
                        "f1:binary needs two classes, but the outputs are {}", text(outputs.tensor_type()));
        tally = std::move(more);
        return {};
    }
    F1 more = tally;
    bool other = false;
    VIRIDIAN_TRY(each_pair(outputs, labels, counted, [&](double score, double label) {
        if (counted.ignored_label && label == static_cast<double>(*counted.ignored_label)) return;
        other = other || (label != 0 && label != 1);
        count_classes(more, score > tally.threshold ? 1 : 0, label == 1 ? 1 : 0);
    }));
    if (other)
        return fail(ErrorCode::malformed, "label the places with 0 and 1",
                    "f1:binary needs labels that are 0 or 1, but the labels {} have others",
                    text(labels.tensor_type()));
    tally = std::move(more);
    return {};
}

Result<void> add_batch(Accuracy& tally, const Tensor& outputs, const Tensor& labels, const Counted& counted) {
    if (!same_places(outputs, labels))
        return each_place(outputs, labels, counted,
                          [&](Scores scores, std::int64_t label) { count_place(tally, scores, label); });
    return each_pair(outputs, labels, counted, [&](double score, double label) {
        if (counted.ignored_label && label == static_cast<double>(*counted.ignored_label)) return;
        tally.right += (score > tally.threshold) == (label > 0.5) ? 1 : 0;
        ++tally.counted;
    });
}

Result<void> add_batch(Difference& tally, const Tensor& outputs, const Tensor& labels,
                       const Counted& counted) {
    return each_pair(outputs, labels, counted, [&](double output, double label) {
        const double difference = output - label;
        tally.sum += tally.squared ? difference * difference : std::abs(difference);
        ++tally.counted;
    });
}

double f1_of(const F1::Counts& counts) {
    const double twice = 2.0 * static_cast<double>(counts.true_positive);
    const double rest =
        static_cast<double>(counts.false_positive) + static_cast<double>(counts.false_negative);
    return twice + rest == 0 ? 0 : twice / (twice + rest);
}

double value_of(const TopK& tally) {
    return static_cast<double>(tally.right) / static_cast<double>(tally.counted);
}
double value_of(const Accuracy& tally) {
    return static_cast<double>(tally.right) / static_cast<double>(tally.counted);
}
double value_of(const F1& tally) {
    if (tally.mean == F1::Mean::binary) return tally.classes.size() < 2 ? 0 : f1_of(tally.classes[1]);
    F1::Counts all;
    double sum = 0;
    int occurring = 0;
    for (const F1::Counts& one : tally.classes) {
        all.true_positive += one.true_positive;
        all.false_positive += one.false_positive;
        all.false_negative += one.false_negative;
        if (one.true_positive + one.false_positive + one.false_negative == 0) continue;
        sum += f1_of(one);
        ++occurring;
    }
    return tally.mean == F1::Mean::micro ? f1_of(all) : sum / occurring;
}
double value_of(const Likelihood& tally) {
    const double mean = tally.nats / static_cast<double>(tally.counted);
    switch (tally.unit) {
        case Likelihood::Unit::perplexity:
            return std::exp(mean);
        case Likelihood::Unit::bits:
            return mean / std::numbers::ln2;
        case Likelihood::Unit::nats:
            return mean;
    }
    return mean;
}
double value_of(const Difference& tally) { return tally.sum / static_cast<double>(tally.counted); }

}  // namespace

bool Metric::lower_is_better() const {
    return std::holds_alternative<Likelihood>(tally_) || std::holds_alternative<Difference>(tally_);
}

Result<void> Metric::add(const Tensor& outputs, const Tensor& labels, const Counted& counted) {
    return std::visit([&](auto& tally) { return add_batch(tally, outputs, labels, counted); }, tally_);
}

Result<double> Metric::value() const {
    return std::visit(
        [&](const auto& tally) -> Result<double> {
            if (tally.counted > 0) return value_of(tally);
            return fail(ErrorCode::missing_entry, "evaluate on data with labels",
                        "no label was counted for {}", name_);
        },
        tally_);
}

Result<Metric> parse_metric(std::string_view text) {
    const std::pair<std::string_view, Metric::Tally> named[] = {
        {"accuracy", Accuracy{}},
        {"f1:macro", F1{.mean = F1::Mean::macro, .classes = {}}},
        {"f1:micro", F1{.mean = F1::Mean::micro, .classes = {}}},
        {"f1:binary", F1{.mean = F1::Mean::binary, .classes = {}}},
        {"perplexity", Likelihood{Likelihood::Unit::perplexity}},
        {"bits-per-character", Likelihood{Likelihood::Unit::bits}},
        {"cross-entropy", Likelihood{Likelihood::Unit::nats}},
        {"mse", Difference{true}},
        {"mae", Difference{false}}};
    for (const auto& [name, tally] : named)
        if (text == name) return Metric(std::string(name), tally);
    TopK top;
    if (text.starts_with("top-")) {
        const auto [end, fault] = std::from_chars(text.data() + 4, text.data() + text.size(), top.k);
        if (fault == std::errc{} && end == text.data() + text.size() && top.k >= 1)
            return Metric(fmt::format("top-{}", top.k), top);
    }
    return fail(ErrorCode::invalid_argument,
                "choose one of top-1, top-5, accuracy, f1:macro, f1:micro, f1:binary, perplexity, "
                "bits-per-character, "
                "cross-entropy, mse, mae",
                "`{}` is not a metric", text);
}

}  // namespace viridian::train
