#pragma once
// A Runner runs a graph with states again and again, on inputs that are given by name.
#include <map>
#include <span>
#include <string>
#include <vector>

#include "viridian/execute/resting.hpp"
#include "viridian/train/loop/train.hpp"
#include "viridian/train/named_tensor.hpp"

namespace viridian::train {

class Runner {
  public:
    // Errors: those of output_tensors().
    [[nodiscard]] static Result<Runner> make(Ready ready);

    // Runs once. Inputs of the graph that `inputs` does not name are an error, others are ignored. The result
    // is valid until the next run.
    Result<const std::vector<graph::Tensor>*> run(const std::map<std::string, graph::Tensor>& inputs);

    [[nodiscard]] const graph::Graph& graph() const { return ready_.graph; }
    [[nodiscard]] bool winograd() const { return ready_.winograd; }
    [[nodiscard]] bool takes(std::string_view input) const;
    // Returns the output of this name; null if there is none.
    [[nodiscard]] const graph::Tensor* output(std::string_view name) const;

    // These read and write all states, by name. Names that the graph lacks are ignored.
    [[nodiscard]] Result<std::map<std::string, graph::Tensor>> states() const;
    Result<void> set_states(const std::map<std::string, graph::Tensor>& states);
    // Returns the states of these names where they lie: valid until the next run, change or rest. Errors:
    // missing_entry.
    [[nodiscard]] Result<std::vector<NamedTensor>> views(std::span<const std::string> names);
    // Lets the states that both have, by name, lie in the memory of `owner`. Errors: those of
    // execute::share_states.
    Result<void> share_states(Runner& owner) {
        return execute::share_states(*ready_.executable, *owner.ready_.executable);
    }
    // The kernels of all runs are recorded from now on; null ends it.
    void record(trace::Recorder* recorder) { ready_.executable->record(recorder); }
    // Frees the memory of states and activations. The states have to be set or shared before the next run.
    void rest() { execute::rest(*ready_.executable); }

  private:
    explicit Runner(Ready ready) : ready_(std::move(ready)) {}

    Ready ready_;
    std::vector<graph::Tensor> inputs_, outputs_;
};

}  // namespace viridian::train
