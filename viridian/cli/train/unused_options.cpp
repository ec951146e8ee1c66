#include "viridian/cli/train/unused_options.hpp"

#include <algorithm>
#include <array>

namespace viridian::cli {
namespace {

using gradient::LossKind;
using gradient::OptimizerKind;

// An option that acts with these losses or optimisers alone. The first is the one that an error suggests.
template <class Kind>
struct OfKind {
    const char* option;
    std::vector<Kind> kinds;
};

const std::vector<OfKind<LossKind>>& loss_rows() {
    static const std::vector<LossKind> classes = {LossKind::cross_entropy, LossKind::negative_log_likelihood};
    static const std::vector<OfKind<LossKind>> rows = {
        {"--label-smoothing", classes}, {"--ignore-label", classes},          {"--class-weights", classes},
        {"--class-axis", classes},      {"--huber-delta", {LossKind::huber}},
    };
    return rows;
}

const std::vector<OfKind<OptimizerKind>>& optimizer_rows() {
    using enum OptimizerKind;
    static const std::vector<OfKind<OptimizerKind>> rows = {
        {"--nesterov", {sgd}},
        {"--momentum", {sgd, rmsprop}},
        {"--beta1", {adam, adamw, lamb}},
        {"--beta2", {adam, adamw, lamb}},
        {"--alpha", {rmsprop}},
        {"--epsilon", {adam, adamw, lamb, rmsprop}},
        {"--weight-decay", {adamw, sgd, adam, lamb, rmsprop}},
        {"--decay-of", {adamw, sgd, adam, lamb, rmsprop}},
    };
    return rows;
}

// `chooser`: the option that chooses the kind.
template <class Kind>
Result<void> check_kinds(const StepChoice& choice, const std::vector<OfKind<Kind>>& rows, const char* chooser,
                         Kind chosen) {
    for (const OfKind<Kind>& row : rows) {
        if (!choice.given(row.option) || std::ranges::find(row.kinds, chosen) != row.kinds.end()) continue;
        std::vector<std::string_view> names;
        for (const Kind kind : row.kinds) names.push_back(name_of(kind));
        return fail(ErrorCode::invalid_argument,
                    fmt::format("leave it out, or choose {} {}", chooser, names[0]),
                    "{} does nothing with {} {}; it belongs to {}", row.option, chooser, name_of(chosen),
                    fmt::join(names, ", "));
    }
    return {};
}

// What `train --rate-finder` does not read: it keeps nothing, evaluates nothing, and tries rates of its own.
constexpr auto unused_by_rate_finder =
    std::to_array<const char*>({"-o", "--rate", "--schedule", "--epochs", "--eval", "--metric", "--ema",
                                "--patience", "--export", "--checkpoints", "--every", "--keep", "--resume",
                                "--changed-data", "--log", "--tensorboard", "--meter", "--record", "--html"});

Result<void> check_rate_finder(const TrainOptions& options) {
    if (!options.rate_finder) return {};
    std::vector<std::string_view> unused;
    for (const char* option : unused_by_rate_finder)
        if (options.step.given(option)) unused.emplace_back(option);
    if (unused.empty()) return {};
    return fail(ErrorCode::invalid_argument,
                fmt::format("leave {} out", unused.size() == 1 ? "it" : "these options"),
                "--rate-finder tries rates of its own and keeps nothing, so {} would do nothing",
                fmt::join(unused, ", "));
}

// An option that reads or follows one kind of data.
struct OfData {
    const char* option;
    data::Format format;
    const char* what;  // the kind, in words
};
constexpr auto data_rows = std::to_array<OfData>({
    {"--label-column", data::Format::csv, "a CSV file"},
    {"--context", data::Format::text, "a text"},
    {"--bytes", data::Format::text, "a text"},
});

}  // namespace

Result<void> check_step_options_used(const StepChoice& choice, const gradient::StepOptions& step) {
    VIRIDIAN_TRY(check_kinds(choice, loss_rows(), "--loss", step.loss.kind));
    return check_kinds(choice, optimizer_rows(), "--optimizer", step.optimizer.kind);
}

Result<void> check_train_options_used(const TrainOptions& options) {
    VIRIDIAN_TRY(check_rate_finder(options));
    const DataChoice& data = options.data;
    if (options.step.given("--metric") && data.evaluation.empty() && data.evaluation_share == 0)
        return fail(ErrorCode::invalid_argument, "give samples with --eval FILE or --eval-share 0.1",
                    "--metric is what evaluations print, and there are none");
    if (options.exported == "best" && data.evaluation.empty() && data.evaluation_share == 0)
        return fail(ErrorCode::invalid_argument,
                    "give samples with --eval FILE or --eval-share 0.1, or leave --export out",
                    "--export best takes the weights of the best evaluation, and there are none");
    if (!data.evaluation.empty() && data.evaluation_share > 0)
        return fail(ErrorCode::invalid_argument, "leave one of them out",
                    "--eval-share takes samples out of --data for evaluation, and --eval names others");
    return {};
}

Result<void> check_data_options_used(const TrainOptions& options, const train::Task& task) {
    for (const OfData& row : data_rows) {
        const bool used = task.samples.format() == row.format ||
                          (task.evaluation_samples && task.evaluation_samples->format() == row.format);
        if (options.step.given(row.option) && !used)
            return fail(ErrorCode::invalid_argument, "leave it out", "{} is for {}, and `{}` is none",
                        row.option, row.what, task.samples.name());
    }
    return {};
}

}  // namespace viridian::cli
