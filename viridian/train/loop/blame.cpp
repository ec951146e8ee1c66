#include "viridian/train/loop/blame.hpp"

#include <chrono>
#include <cmath>

#include "viridian/train/loop/stepper.hpp"
#include "viridian/train/not_finite.hpp"

namespace viridian::train {
namespace {

// The forward part and the loss, with every floating-point value as an output, producers first.
Result<graph::Graph> watched_forward(const graph::Graph& forward, const RunOptions& options) {
    gradient::StepOptions plain;
    plain.loss = options.step.loss;
    plain.optimizer.kind = gradient::OptimizerKind::none;
    plain.parameters = options.step.parameters;
    VIRIDIAN_TRY(gradient::Step step, gradient::training_step(forward, plain));
    VIRIDIAN_TRY(const std::vector<graph::NodeId> order, topological_order(step.graph));
    std::vector<graph::ValueId> watched;
    for (const graph::NodeId id : order)
        for (const graph::ValueId value : step.graph.node(id).outputs)
            if (value != graph::ValueId::none && is_floating(step.graph.value(value).type.element))
                watched.push_back(value);
    step.graph.set_outputs(std::move(watched));
    return std::move(step.graph);
}

Result<std::optional<Blame>> first_in_forward(const Task& task, const RunOptions& options,
                                              const std::vector<data::ModelInput>& inputs,
                                              std::vector<data::Batch> parts, const Tensors& states) {
    for (data::Batch& part : parts) {
        VIRIDIAN_TRY(const graph::Graph forward,
                     task.network(static_cast<std::int64_t>(part.draw.samples.size())));
        VIRIDIAN_TRY(graph::Graph watched, watched_forward(forward, options));
        VIRIDIAN_TRY(Ready ready, task.prepare(std::move(watched), Runs::seldom));
        VIRIDIAN_TRY(Runner runner, Runner::make(std::move(ready)));
        VIRIDIAN_TRY(runner.set_states(states));
        const StepNumbers numbers{.seed = options.seed, .first_sample = part.draw.first};
        Tensors named_inputs = named(inputs, std::move(part.inputs));
        add_step_inputs(runner.graph(), numbers, named_inputs);
        VIRIDIAN_TRY(const std::vector<graph::Tensor>* const outputs, runner.run(named_inputs));
        for (std::size_t i = 0; i < outputs->size(); ++i) {
            const graph::ValueId id = runner.graph().outputs()[i];
            const NamedTensor one{runner.graph().value(id).name, (*outputs)[i]};
            const std::optional<NotFinite> found = first_not_finite({&one, 1});
            if (!found) continue;
            const graph::Node* node = runner.graph().producer(id);
            const std::string by = node == nullptr ? ""
                                                   : fmt::format(", the output of {} `{}`,",
                                                                 node->op.qualified_name(), node->name);
            return std::optional(Blame{fmt::format("`{}`{} is the first tensor that holds {}, at element {}",
                                                   found->name, by, found->value, found->index),
                                       ""});
        }
    }
    return std::optional<Blame>();
}

// Says what helps a run that diverged: settings, and the newest checkpoint.
std::string advice_for(const RunOptions& options) {
    const std::vector<Path> kept =
        options.checkpoints ? checkpoints_in(options.checkpoints->folder) : std::vector<Path>();
    return kept.empty() ? std::string("choose a smaller --rate, or --clip 1")
                        : fmt::format("choose a smaller --rate or --clip 1; the last good checkpoint is {}",
                                      kept[0].string());
}

}  // namespace

std::optional<Blame> blame_data(const std::vector<data::ModelInput>& inputs,
                                const std::vector<data::Batch>& parts, const gradient::LossOptions& loss,
                                const std::string& labels) {
    double count = 0;
    bool counted = false;
    for (const data::Batch& part : parts)
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const NamedTensor one{inputs[i].name, part.inputs[i]};
            if (const std::optional<NotFinite> found = first_not_finite({&one, 1})) {
                const auto samples = static_cast<std::int64_t>(part.draw.samples.size());
                const std::int64_t each = one.tensor.count() / samples;
                const std::int64_t sample = part.draw.samples[static_cast<std::size_t>(found->index / each)];
                return Blame{fmt::format("the data gives {} to the input `{}`, at element {} of sample {}",
                                         found->value, found->name, found->index % each, sample),
                             "repair or leave out this sample"};
            }
            if (inputs[i].name != labels) continue;
            counted = true;
            count += gradient::loss_count(loss, part.inputs[i]);
        }
    if (counted && count == 0)
        return Blame{
            "no label of its batch counts, because each is the ignored one or has a class of weight 0",
            "leave out samples without labels, or choose a larger --batch"};
    return std::nullopt;
}

Result<std::optional<Blame>> blame_tensor(const Task& task, const RunOptions& options,
                                          const data::Sampler& sampler, const data::Batches& batches,
                                          std::int64_t bad, Listener& listener) {
    constexpr std::chrono::seconds longest{60};
    const auto end = std::chrono::steady_clock::now() + longest;
    Stepper stepper(task, options);
    VIRIDIAN_TRY(stepper.make_ready(task.batch(options.batch)));
    std::int64_t step = 0;
    if (options.checkpoints && !checkpoints_in(options.checkpoints->folder).empty()) {
        VIRIDIAN_TRY(FoundCheckpoint found, newest_checkpoint(options.checkpoints->folder));
        Tensors saved;
        for (SavedState& state : found.checkpoint.states) saved[state.name] = std::move(state.tensor);
        VIRIDIAN_TRY(stepper.set_states(saved));
        step = found.checkpoint.position.step;
    }
    for (; step < bad; ++step) {
        if (listener.cancelled() || std::chrono::steady_clock::now() > end) return std::optional<Blame>();
        listener.progress(
            fmt::format("looking for the first tensor that is not finite, step {}/{}", step + 1, bad));
        VIRIDIAN_TRY(std::vector<data::Batch> parts, parts_of(sampler, batches, step, options.accumulate));
        VIRIDIAN_TRY(stepper.run(std::move(parts), rate_at(options, sampler, step)));
    }
    VIRIDIAN_TRY(std::vector<data::Batch> parts, parts_of(sampler, batches, bad, options.accumulate));
    VIRIDIAN_TRY(const std::vector<NamedTensor> views, stepper.views());
    if (const std::optional<NotFinite> found = first_not_finite(views))
        return std::optional(Blame{fmt::format("before it the state {}", found->text()), ""});
    Tensors states;
    for (const NamedTensor& view : views) states[view.name] = view.tensor;
    return first_in_forward(task, options, stepper.inputs(), std::move(parts), states);
}

Error not_finite_error(double loss, std::int64_t step, const Blame& blame, const RunOptions& options) {
    return fail(ErrorCode::malformed, blame.next_step.empty() ? advice_for(options) : blame.next_step,
                "the loss is {} in step {}: {}",
                std::isnan(loss) ? "nan"
                : loss > 0       ? "inf"
                                 : "-inf",
                step, blame.what);
}

Result<void> check_finite(std::span<const NamedTensor> states, std::int64_t step, const RunOptions& options) {
    const std::optional<NotFinite> found = first_not_finite(states);
    if (!found) return {};
    return fail(ErrorCode::malformed, advice_for(options), "after step {} {}", step, found->text());
}

}  // namespace viridian::train
