#pragma once
// A Stepper runs training steps: the step's one graph, or, if gradients are accumulated, the graph of a
// micro-batch several times and then the graph that applies what was accumulated.
#include <set>

#include "viridian/train/loop/feed.hpp"
#include "viridian/train/loop/sizes.hpp"
#include "viridian/train/loop/stacked_states.hpp"

namespace viridian::train {

// A StepResult is what a step tells besides the states that it leaves.
struct StepResult {
    double loss = 0;
    std::optional<double> gradient_norm = {};
};

// A StateAbout describes a state of the step.
struct StateAbout {
    std::string name;
    graph::StateRole role = graph::StateRole::parameter;
    std::string of;  // the parameter that it belongs to; may be empty
};

class Stepper {
  public:
    // The task and the options must outlive this object.
    Stepper(const Task& task, const RunOptions& options);

    // Makes the graphs for (micro-)batches of this size ready. Errors: those of training_step() or
    // accumulated_step(), and of preparing.
    Result<void> make_ready(std::int64_t batch);

    // Runs one step on the batches, which are one, or the micro-batches of the step in order. Errors: those
    // of running.
    Result<StepResult> run(std::vector<data::Batch> parts, double rate);

    // The kernels of steps are recorded from now on; null ends it.
    void record(trace::Recorder* recorder);

    // The inputs that the data gives, in the order of Batch::inputs.
    [[nodiscard]] const std::vector<data::ModelInput>& inputs() const { return inputs_; }
    // Names of the step that was made last; its graph is empty.
    [[nodiscard]] const gradient::Step& step() const { return step_; }
    [[nodiscard]] const std::string& model_hash() const { return hash_; }

    // Returns how many elements are trained. Errors: those of element_count().
    [[nodiscard]] Result<std::int64_t> parameters();
    // The states that last from step to step, in the order of the step's graphs. Accumulators, which are zero
    // between steps, are none of them. A stacked state is listed as its parts.
    [[nodiscard]] std::vector<StateAbout> states_about();
    // Sets states by the model's names. Errors: mismatch (parts of a stacked state that do not fit).
    Result<void> set_states(const Tensors& states);
    // Frees memory; the states are lost.
    void rest() { sizes_.rest(); }
    // Returns these states: all that last, or parameters and statistics by name, in that order. They are
    // valid until the next step, because they lie where the step has them; parts of stacked states are
    // copies. Errors: missing_entry.
    [[nodiscard]] Result<std::vector<NamedTensor>> views();
    [[nodiscard]] Result<std::vector<NamedTensor>> views(std::span<const std::string> names);

  private:
    [[nodiscard]] bool accumulates() const { return options_.accumulate > 1; }
    [[nodiscard]] std::vector<Runner*> runners();
    Result<graph::Graph> make(std::int64_t batch);
    // Returns how products of one input are stacked in the step that takes least time by the prices of
    // kernels.
    Result<gradient::Stacking> cheapest_stacking(const graph::Graph& forward);
    Result<void> run_part(data::Batch part, StepNumbers numbers, StepResult& result);
    Result<void> apply(const StepNumbers& numbers, StepResult& result);
    // Runs one graph on the inputs that the data gives and those that the step adds.
    Result<void> run_one(Runner& runner, Tensors inputs, const StepNumbers& numbers, StepResult& result);

    const Task& task_;
    const RunOptions& options_;
    std::optional<gradient::StepOptions> wanted_;  // with the stacking that was chosen
    Sizes sizes_;
    std::optional<Runner> apply_;  // has its states in common with the sizes
    bool shares_ = false;          // that is done
    gradient::Step step_;
    StackedStates stacked_;
    std::string hash_;
    std::vector<data::ModelInput> inputs_;
    trace::Recorder* recorder_ = nullptr;
    std::set<Runner*> recording_;  // those that know the recorder
};

}  // namespace viridian::train
