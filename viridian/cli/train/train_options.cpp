#include "viridian/cli/train/train_options.hpp"

#include <limits>

namespace viridian::cli {
namespace {

void add_first_weights(App app, TrainOptions& options) {
    app.add_option("--initialise", options.initialise,
                   "Draw the trained weights anew from this seed, instead of going on from the model's")
        .check(in_range<std::int64_t>(0, std::numeric_limits<std::int64_t>::max()));
    app.add_option("--initialise-as", options.initialise_as,
                   "How: pytorch, kaiming-uniform, kaiming-normal, xavier-uniform, xavier-normal, "
                   "normal:std=0.02")
        .needs("--initialise")
        .capture_default_str();
    app.add_option("--replace-head", options.head,
                   "Give the model a new last layer for this many classes (fine-tuning)")
        .check(positive_number());
}

void add_ends(App app, TrainOptions& options) {
    app.add_option(
           "--ema", options.average,
           "Keep a moving average of the weights with this decay, as in 0.999, and write it; in the first "
           "steps the decay is smaller (docs/train.md)")
        .check(in_range(0.0, 0.999999999));
    app.add_option("--patience", options.patience,
                   "Stop after this many evaluations without a better first metric")
        .check(positive_number());
    app.add_option("--export", options.exported,
                   "Whose weights the written model has: best, those of the best evaluation by the first "
                   "metric, or last (default: best with --patience, otherwise last)")
        .check(one_of({"best", "last"}));
    app.add_option("--min-delta", options.least_gain, "What counts as better: more than this")
        .check(in_range(0.0, 1e9))
        .needs("--patience");
}

void add_energy(App app, TrainOptions& options) {
    app.add_option("--meter", options.model.meter,
                   "Energy meter (default: the best that works here; `model` estimates)");
    app.add_option(
        "--record", options.record,
        "Folder for the kernels and the power of some steps of each epoch, for `viridian account`");
    app.add_option("--html", options.html, "Write a page: curves, joules of epochs and layers");
}

void add_rate_finder(App app, TrainOptions& options) {
    app.add_flag("--rate-finder", options.rate_finder,
                 "Train on growing rates, print the rate at which the loss falls fastest, write no model");
    app.add_option("--rate-range", options.rate_range, "LOWEST,HIGHEST rate of the finder (1e-7,10)")
        .delimiter(',')
        .needs("--rate-finder");
    app.add_option("--rate-steps", options.rate_steps, "Steps of the finder")
        .check(in_range<std::int64_t>(10, 1'000'000))
        .needs("--rate-finder")
        .capture_default_str();
}

}  // namespace

std::map<std::string, std::string> written(const TrainOptions& o, bool follows_length) {
    const gradient::LossOptions& loss = o.step.step.loss;
    const gradient::OptimizerOptions& optimizer = o.step.step.optimizer;
    const auto list = [](const auto& values) { return fmt::format("{}", fmt::join(values, " ")); };
    const auto number = [](auto value) { return fmt::format("{}", value); };
    return {{"--eval", o.data.evaluation.empty() ? "" : "a file"},
            {"--eval-share", number(o.data.evaluation_share)},
            {"--input", list(o.data.inputs)},
            {"--label-column", o.data.open.csv.label},
            {"--context", number(o.data.open.text.context)},
            {"--bytes", number(o.data.text_bytes)},
            {"--scale", number(o.data.scale)},
            {"--mean", list(o.data.mean)},
            {"--std", list(o.data.deviation)},
            {"--flip", number(o.data.flip)},
            {"--crop", number(o.data.crop)},
            {"--dim", list(o.model.dimensions)},
            {"--batch", number(o.model.batch)},
            {"--loss", o.step.loss},
            {"--output", loss.output},
            {"--label-smoothing", number(loss.label_smoothing)},
            {"--ignore-label", number(loss.ignored_label)},
            {"--class-weights", list(o.step.class_weights)},
            {"--class-axis", number(o.step.class_axis)},
            {"--huber-delta", number(loss.delta)},
            {"--optimizer", o.step.optimizer},
            {"--momentum", number(optimizer.momentum)},
            {"--nesterov", number(optimizer.nesterov)},
            {"--beta1", number(optimizer.beta1)},
            {"--beta2", number(optimizer.beta2)},
            {"--alpha", number(optimizer.alpha)},
            {"--epsilon", number(o.step.epsilon)},
            {"--weight-decay", number(o.step.decay)},
            {"--decay-of", list(o.step.decays)},
            {"--clip", number(o.step.step.clip_norm)},
            {"--freeze", list(o.step.freeze)},
            {"--train", list(o.step.train)},
            {"--rate", number(o.rate)},
            {"--schedule", o.schedule},
            {"--epochs, which the rates of --schedule follow,", follows_length ? number(o.epochs) : ""},
            {"--seed", number(o.seed)},
            {"--tune", number(o.tune)},
            {"--allow", list(o.model.allow)},
            {"--exact-arithmetic", o.model.exact_arithmetic ? "true" : ""},
            {"--stack", o.step.stack == "separate" ? "" : o.step.stack},
            {"--max-error", o.max_error ? number(*o.max_error) : ""},
            {"--in-order", number(o.in_order)},
            {"--accumulate", number(o.accumulate)},
            {"--initialise", o.initialise ? number(*o.initialise) : ""},
            {"--initialise-as", o.initialise_as},
            {"--replace-head", number(o.head)},
            {"--patience", number(o.patience)},
            {"--min-delta", number(o.least_gain)},
            {"--metric", list(o.metrics)},
            {"--ema", o.average ? number(*o.average) : ""},
            {"--mask", list(o.data.masks)},
            {"--pad", list(o.data.pads)},
            {"--truncate", number(o.data.truncate)}};
}

void add_train_options(App app, TrainOptions& options) {
    add_model_options(app, options.model, true);
    app.add_option("-o,--trained", options.output, "The trained .onnx to write");
    add_data_options(app, options.data);
    add_step_options(app, options.step);
    app.add_option("--rate", options.rate, "The learning rate")
        .check(positive_number())
        .capture_default_str();
    app.add_option("--schedule", options.schedule,
                   "How the rate changes: constant, cosine:final=0.01,warmup=100, … (docs/train.md)")
        .capture_default_str();
    app.add_option("--epochs", options.epochs, "How often every sample is used")
        .check(positive_number())
        .capture_default_str();
    app.add_option("--seed", options.seed, "Of the order of samples, the split, augmentation and dropout")
        .capture_default_str();
    app.add_flag("--in-order", options.in_order, "Do not shuffle the samples");
    app.add_option("--accumulate", options.accumulate,
                   "Batches whose gradients one step adds up: a larger batch in the memory of this one")
        .check(in_range<std::int64_t>(1, 1'000'000))
        .capture_default_str();
    app.add_option("--metric", options.metrics,
                   "What evaluations print: top-1, top-5, accuracy, f1:macro, perplexity, mse, …");
    app.add_flag("--tune", options.tune,
                 "Measure the step's kernels first and run those that together take least time; without it, "
                 "estimated prices choose them");
    app.add_option("--db", options.model.database,
                   "Cost database that keeps what --tune measures (default: ~/.cache/viridian/cost.db)")
        .needs("--tune");
    app.add_option("--allow", options.model.allow,
                   "Lower precisions that the kernels of --tune may use: bf16; states stay in f32")
        .check(one_of({"bf16"}))
        .needs("--tune");
    app.add_flag("--exact-arithmetic", options.model.exact_arithmetic,
                 "Use no kernels that multiply less and round otherwise (Winograd, Strassen)");
    app.add_option("--max-error", options.max_error,
                   "Relative L2 error that --allow bf16 may cause (default: 0.02 in outputs, 0.0447 in "
                   "gradients; a given value is the limit of both)")
        .check(in_range(1e-9, 1.0))
        .needs("--allow");
    add_first_weights(app, options);
    add_ends(app, options);
    app.add_option("--checkpoints", options.checkpoints, "Folder for checkpoints");
    app.add_option("--every", options.every, "Steps between checkpoints (default: an epoch)")
        .check(positive_number())
        .needs("--checkpoints");
    app.add_option("--keep", options.keep, "How many checkpoints stay, beside the best")
        .check(positive_number())
        .needs("--checkpoints")
        .capture_default_str();
    app.add_flag("--resume", options.resume, "Go on from the newest checkpoint");
    app.add_flag("--changed-data", options.changed_data,
                 "Go on although the samples have other values than those of the first run, because they "
                 "were repaired")
        .needs("--resume");
    app.add_option("--log", options.log, "File for one JSON object a step");
    app.add_option("--tensorboard", options.tensorboard, "Folder for TensorBoard's scalars");
    add_energy(app, options);
    add_rate_finder(app, options);
}

}  // namespace viridian::cli
