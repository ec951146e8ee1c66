#include "viridian/cli/train/task.hpp"

#include <algorithm>

#include "viridian/gradient/evaluation.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/prove/allowed_error.hpp"
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/session/session.hpp"

namespace viridian::cli {
namespace {

// Makes a graph ready on the processor: with the kernels that measure fastest if `listener` is given, else
// with the first ones that it offers.
Result<train::Ready> ready(graph::Graph graph, const ModelOptions& options, std::optional<double> max_error,
                           Listener* listener) {
    VIRIDIAN_TRY(rewrite::simplify(graph));
    session::LoadedModel model;
    model.request.max_error = max_error;
    model.graph = std::move(graph);
    VIRIDIAN_TRY(session::Session made, listener != nullptr
                                            ? session::retune(std::move(model), options, 1, *listener)
                                            : session::prepare(std::move(model), options));
    const auto owner = std::make_shared<session::Session>(std::move(made));
    return train::Ready{owner->planned.graph,
                        {owner, owner->planned.executable.get()},
                        prove::uses_winograd(owner->planned.plan),
                        owner->planned.plan.predicted_seconds};
}

// The first two extents of the model's first input. An extent that is free has no value.
struct FixedSizes {
    std::optional<std::int64_t> batch, length;
};
Result<FixedSizes> fixed_sizes(const TrainOptions& options) {
    VIRIDIAN_TRY(graph::Graph graph, onnx::load(options.model.model));
    VIRIDIAN_TRY(session::bind_sizes(graph, options.model.dimensions, 0));
    FixedSizes sizes;
    if (graph.inputs().empty()) return sizes;
    const auto& shape = graph.value(graph.inputs()[0]).type.shape;
    if (shape && !shape->empty() && (*shape)[0].known()) sizes.batch = (*shape)[0].value();
    if (shape && shape->size() == 2 && (*shape)[1].known()) sizes.length = (*shape)[1].value();
    return sizes;
}

// Windows of a text: their column of tokens knows how many there are.
bool is_text(const data::Dataset& samples) {
    return samples.columns() == 2 && samples.column(0).name == "tokens" &&
           samples.column(1).name == "targets" && samples.column(0).classes > 0;
}

// The last window of an evaluated text may be short if the loss ignores the places that it lacks.
bool ignores_missing_targets(const StepChoice& step) {
    return step.step.loss.ignored_label == data::ignored_label;
}

// Opens the evaluation's file, with the words of the training data.
Result<data::Dataset> open_evaluation(const TrainOptions& options, const data::Dataset& training,
                                      data::OpenOptions open) {
    for (std::size_t i = 0; i < training.columns(); ++i) {
        const data::Column& column = training.column(i);
        if (column.categories.empty()) continue;
        open.csv.categories[column.name] = column.categories;
        open.text.vocabulary = open.folder.categories = column.categories;
    }
    VIRIDIAN_TRY(data::Dataset samples, data::open(options.data.evaluation, open));
    for (std::size_t i = 0; i < training.columns(); ++i) {
        const data::Column& column = training.column(i);
        const auto found = samples.find(column.name);
        if (found.ok() && samples.column(*found).categories != column.categories)
            return fail(ErrorCode::mismatch, "write both files in the same way",
                        "the column `{}` holds {} in `{}` and {} in `{}`", column.name,
                        column.categories.empty() ? "numbers" : "words", training.name(),
                        column.categories.empty() ? "words" : "numbers", samples.name());
    }
    return samples;
}

}  // namespace

Result<train::NewHead> begun(const TrainOptions& options, graph::Graph model, const Start& start) {
    train::NewHead made{std::move(model), {}};
    if (options.head > 0) {
        VIRIDIAN_TRY(const graph::ValueId output,
                     gradient::loss_output_of(made.network, options.step.step.loss));
        VIRIDIAN_TRY(made, train::replace_head(made.network, output, options.head, options.seed));
    }
    VIRIDIAN_TRY(gradient::set_weights(made.network, start.drawn));
    return made;
}

Result<train::Task> task_of(TrainOptions& options, std::shared_ptr<const Start> start, Listener& listener) {
    VIRIDIAN_TRY(const FixedSizes sizes, fixed_sizes(options));
    const std::optional<std::int64_t> fixed = sizes.batch;
    if (!options.step.given("--context"))
        options.data.open.text.context = sizes.length.value_or(options.data.open.text.context);
    if (fixed && options.model.batch != 0 && options.model.batch != *fixed)
        return fail(ErrorCode::mismatch, "export the model with a free batch, or leave --batch out",
                    "the model takes batches of {}, and --batch asks for {}", *fixed, options.model.batch);
    if (options.model.batch == 0) options.model.batch = fixed.value_or(32);
    train::Task task;
    task.fixed_batch = fixed.has_value();
    data::OpenOptions open = options.data.open;
    open.text.bytes = options.data.text_bytes;
    const bool whole = ignores_missing_targets(options.step);
    open.text.keep_tail = whole && options.data.evaluation.empty() && options.data.evaluation_share > 0;
    VIRIDIAN_TRY(task.samples, data::open(options.data.path, open));
    if (!options.data.evaluation.empty()) {
        open.text.keep_tail = whole;
        VIRIDIAN_TRY(task.evaluation_samples, open_evaluation(options, task.samples, open));
        task.training = data::Subset(task.samples.samples());
        task.evaluation = data::Subset(task.evaluation_samples->samples());
    } else {
        VIRIDIAN_TRY(
            const data::Split split,
            data::split(task.samples.samples(), options.data.evaluation_share,
                        is_text(task.samples) ? data::SplitBy::tail : data::SplitBy::seed, options.seed));
        task.training = split.training;
        task.evaluation = split.evaluation;
    }
    task.network = [options, start = std::move(start)](std::int64_t batch) -> Result<graph::Graph> {
        ModelOptions sized = options.model;
        sized.batch = batch;
        sized.runs = false;
        VIRIDIAN_TRY(graph::Graph model, session::load_model(sized));
        VIRIDIAN_TRY(train::NewHead made, begun(options, std::move(model), *start));
        return std::move(made.network);
    };
    // Only training steps may round. Evaluations run in f32, because the written model is compared with them.
    task.prepare = [options, &listener](graph::Graph graph, train::Runs runs) {
        const bool tunes = options.tune && runs == train::Runs::often;
        const bool trains = std::ranges::any_of(
            graph.states(), [](const graph::State& state) { return state.after != state.before; });
        ModelOptions model = options.model;
        if (!tunes || !trains) model.allow.clear();
        return ready(std::move(graph), model, tunes && trains ? options.max_error : std::nullopt,
                     tunes ? &listener : nullptr);
    };
    return task;
}

}  // namespace viridian::cli
