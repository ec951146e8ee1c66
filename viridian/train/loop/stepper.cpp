#include "viridian/train/loop/stepper.hpp"

#include <algorithm>

namespace viridian::train {
namespace {

std::string value_name(const graph::Graph& graph, graph::ValueId id) {
    return id == graph::ValueId::none ? "" : graph.value(id).name;
}

}  // namespace

Stepper::Stepper(const Task& task, const RunOptions& options)
    : task_(task),
      options_(options),
      sizes_([this](std::int64_t batch) { return make(batch); }, task.prepare) {}

Result<void> Stepper::make_ready(std::int64_t batch) {
    VIRIDIAN_TRY(Runner* const runner, sizes_.at(batch));
    if (inputs_.empty()) inputs_ = data_inputs(runner->graph());
    if (!apply_ || shares_) return {};
    VIRIDIAN_TRY(runner->share_states(*apply_));
    shares_ = true;  // the runner of the next size shares those of this one
    return {};
}

Result<graph::Graph> Stepper::make(std::int64_t batch) {
    VIRIDIAN_TRY(const graph::Graph forward, task_.network(batch));
    if (hash_.empty()) hash_ = fmt::format("{:016x}", structural_hash(forward));
    if (!wanted_) {
        gradient::StepOptions wanted = options_.step;
        if (options_.choose_stacking) {
            VIRIDIAN_TRY(wanted.stacking, cheapest_stacking(forward));
        }
        wanted_ = std::move(wanted);
    }
    if (!accumulates()) {
        VIRIDIAN_TRY(step_, gradient::training_step(forward, *wanted_));
        stacked_ = StackedStates(step_.stacked);
        return std::move(step_.graph);
    }
    VIRIDIAN_TRY(gradient::AccumulatedStep made, gradient::accumulated_step(forward, *wanted_));
    if (!apply_) {  // it is the same for every size of batch
        VIRIDIAN_TRY(Ready ready, task_.prepare(std::move(made.apply), Runs::often));
        VIRIDIAN_TRY(apply_, Runner::make(std::move(ready)));
    }
    step_ = std::move(made.accumulate);
    stacked_ = StackedStates(step_.stacked);
    return std::move(step_.graph);
}

Result<gradient::Stacking> Stepper::cheapest_stacking(const graph::Graph& forward) {
    using gradient::Stacking;
    Stacking best = Stacking::separate;
    std::optional<Seconds> least;
    for (const Stacking stacking : {Stacking::separate, Stacking::pairs, Stacking::all}) {
        gradient::StepOptions tried = options_.step;
        tried.stacking = stacking;
        gradient::Step step;
        if (accumulates()) {
            VIRIDIAN_TRY(gradient::AccumulatedStep made, gradient::accumulated_step(forward, tried));
            step = std::move(made.accumulate);
        } else {
            VIRIDIAN_TRY(step, gradient::training_step(forward, tried));
        }
        if (stacking != Stacking::separate && step.stacked.empty()) break;  // nothing can be stacked
        VIRIDIAN_TRY(const Ready ready, task_.prepare(std::move(step.graph), Runs::often));
        if (!least || ready.predicted < *least) {
            least = ready.predicted;
            best = stacking;
        }
    }
    return best;
}

Result<StepResult> Stepper::run(std::vector<data::Batch> parts, double rate) {
    StepResult result;
    StepNumbers numbers{.rate = rate, .seed = options_.seed};
    if (accumulates()) {
        double count = 0;
        for (const data::Batch& part : parts)
            for (std::size_t i = 0; i < inputs_.size(); ++i)
                if (inputs_[i].name == step_.labels)
                    count += gradient::loss_count(options_.step.loss, part.inputs[i]);
        numbers.inverse_count = 1 / count;
    }
    for (data::Batch& part : parts) VIRIDIAN_TRY(run_part(std::move(part), numbers, result));
    if (accumulates()) VIRIDIAN_TRY(apply(numbers, result));
    return result;
}

Result<void> Stepper::run_part(data::Batch part, StepNumbers numbers, StepResult& result) {
    VIRIDIAN_TRY(Runner* const runner, sizes_.at(static_cast<std::int64_t>(part.draw.samples.size())));
    numbers.first_sample = part.draw.first;
    const double before = result.loss;
    VIRIDIAN_TRY(run_one(*runner, named(inputs_, std::move(part.inputs)), numbers, result));
    result.loss += before;  // the losses of micro-batches are parts of the batch's mean
    return {};
}

Result<void> Stepper::apply(const StepNumbers& numbers, StepResult& result) {
    const double loss = result.loss;
    VIRIDIAN_TRY(run_one(*apply_, {}, numbers, result));
    result.loss = loss;
    return {};
}

Result<void> Stepper::run_one(Runner& runner, Tensors inputs, const StepNumbers& numbers,
                              StepResult& result) {
    add_step_inputs(runner.graph(), numbers, inputs);
    if (recorder_ != nullptr && recording_.insert(&runner).second) runner.record(recorder_);
    VIRIDIAN_TRY(const std::vector<graph::Tensor>* const outputs, runner.run(inputs));
    result.loss = outputs->empty() ? 0 : (*outputs)[0].number(0);
    if (const graph::Tensor* norm = runner.output(gradient::norm_output))
        result.gradient_norm = norm->number(0);
    return {};
}

void Stepper::record(trace::Recorder* recorder) {
    if (recorder == recorder_) return;
    for (Runner* runner : recording_) runner->record(nullptr);
    recording_.clear();
    recorder_ = recorder;
}

std::vector<Runner*> Stepper::runners() {
    std::vector<Runner*> all = {&sizes_.latest()};
    if (apply_) all.push_back(&*apply_);
    return all;
}

Result<std::int64_t> Stepper::parameters() {
    const graph::Graph& graph = sizes_.latest().graph();
    std::int64_t count = 0;
    for (const graph::State& state : graph.states()) {
        if (state.role != graph::StateRole::parameter) continue;
        VIRIDIAN_TRY(const std::int64_t elements,
                     graph::element_count(graph.value(state.before).type.dims()));
        count += elements;
    }
    return count;
}

std::vector<StateAbout> Stepper::states_about() {
    std::vector<StateAbout> all;
    std::set<std::string> seen;
    for (Runner* runner : runners()) {
        const graph::Graph& graph = runner->graph();
        for (const graph::State& state : graph.states()) {
            const std::string name = value_name(graph, state.before);
            if (state.role == graph::StateRole::accumulator || !seen.insert(name).second) continue;
            const std::string of = value_name(graph, state.of);
            const gradient::StackedState* stacked = stacked_.find(name);
            if (stacked == nullptr) {
                all.push_back({name, state.role, of});
                continue;
            }
            const gradient::StackedState* owners = stacked_.find(of);
            for (std::size_t i = 0; i < stacked->parts.size(); ++i)
                all.push_back(
                    {stacked->parts[i].name, state.role, owners == nullptr ? of : owners->parts[i].name});
        }
    }
    return all;
}

Result<std::vector<NamedTensor>> Stepper::views() {
    std::vector<NamedTensor> all;
    std::set<std::string> seen;
    for (Runner* runner : runners()) {
        std::vector<std::string> names;
        for (const graph::State& state : runner->graph().states()) {
            const std::string& name = runner->graph().value(state.before).name;
            if (state.role != graph::StateRole::accumulator && seen.insert(name).second)
                names.push_back(name);
        }
        VIRIDIAN_TRY(std::vector<NamedTensor> some, runner->views(names));
        std::ranges::move(some, std::back_inserter(all));
    }
    return stacked_.parted(std::move(all));
}

Result<std::vector<NamedTensor>> Stepper::views(std::span<const std::string> names) {
    VIRIDIAN_TRY(std::vector<NamedTensor> states, sizes_.latest().views(stacked_.holders(names)));
    return stacked_.parts(std::move(states), names);
}

Result<void> Stepper::set_states(const Tensors& states) {
    VIRIDIAN_TRY(const Tensors all, stacked_.joined(states));
    VIRIDIAN_TRY(sizes_.latest().set_states(all));
    if (apply_) VIRIDIAN_TRY(apply_->set_states(all));
    return {};
}

}  // namespace viridian::train
