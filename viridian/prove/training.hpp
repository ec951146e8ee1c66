#pragma once
// Judges the results of a run, the new values of states among them. A new weight w' = w − rate · g agrees
// with another one to many digits whatever the gradient g is, because a step changes it little. So the error
// of a state is not measured against its new value but against what the gradients added to it
// (docs/method.md, 4). The error of a parameter's gradient that is an output is measured against at least a
// hundredth of what is typical for such gradients, because some are zero except for rounding.
#include <memory>
#include <optional>
#include <vector>

#include "viridian/base/result.hpp"
#include "viridian/graph/graph.hpp"

namespace viridian::prove {

// Returns whether `state` is a weight of `step` whose optimiser keeps moments and divides gradients by their
// size, as Adam, RMSprop and LAMB do.
[[nodiscard]] bool divides_gradients(const graph::Graph& step, const graph::State& state);

// Returns, in the order of the states, the value that each would have after the step if all gradients were
// zero: w' without its gradient is w with weight decay alone, and m' is β m. If an update is written without
// one of our optimisers' nodes, it is the value before the step. It is undefined for states that no gradient
// changes. `given` holds the inputs of `step` and then the values of its states. Errors: those of
// graph::evaluate.
[[nodiscard]] Result<std::vector<graph::Tensor>> without_gradients(const graph::Graph& step,
                                                                   const std::vector<graph::Tensor>& given);

// Returns whether gradients change states of this role: parameters, moments and accumulators.
[[nodiscard]] bool changed_by_gradients(graph::StateRole role);

// Returns the error of a state's new value `found`, of which `before` is the old one, relative to what the
// step should change: max(‖found − expected‖ − 2u ‖expected‖, 0) / ‖expected − before‖, where u is the unit
// roundoff of the type. It is infinite if types, shapes or NaN patterns differ, or if nothing should change
// and more than rounding differs.
[[nodiscard]] double update_error(const graph::Tensor& found, const graph::Tensor& expected,
                                  const graph::Tensor& before);

// A ResultError is how far one result is off.
struct ResultError {
    double error = 0;               // relative L2; infinite if types, shapes or NaN patterns differ
    bool of_the_gradients = false;  // of what the gradients added
    bool is_gradient = false;       // an output that is the gradient of a parameter
};

// A ResultJudge says how far results are from `expected`, which holds the outputs of `step` and then its new
// states, for `given`. The error of a state that gradients change is
//
//     max(‖found − expected‖ − 2u ‖expected‖, 0) / max(‖expected − base‖, ‖typical‖ / 100)
//
// where `base` is its value without gradients, u the unit roundoff of its type (both sides round w' as they
// store it), and `typical` has the mean square of expected − base over all states of its kind: a gradient
// that is zero but for rounding, as that of a bias before a normalisation, is noise on both sides. A weight
// whose optimiser keeps moments is compared in the elements whose moment is at least a hundredth of the
// typical one, because Adam and its like divide the gradient by its size; in the others it may differ by
// twice the largest addition to a weight, which is what a change of sign makes of it. If the error `allowed`
// to gradients exceeds 0.001, the moment must also be at least min(10 · `allowed`, 1/2) of the root mean
// square of what gradients add to this weight's moment.
//
// An output that the backward or update part of the step makes for a parameter is a gradient. Its error is
//
//     ‖found − expected‖ / max(‖expected‖, √(n · m) / 100)
//
// where n is the number of its elements and m the mean square over the elements of all such outputs.
class ResultJudge {
  public:
    // `step` must outlive the judge. Errors: those of without_gradients().
    [[nodiscard]] static Result<ResultJudge> make(const graph::Graph& step,
                                                  const std::vector<graph::Tensor>& given,
                                                  std::vector<graph::Tensor> expected, double allowed = 0);
    ResultJudge(ResultJudge&&) noexcept;
    ResultJudge& operator=(ResultJudge&&) noexcept;
    ~ResultJudge();

    // Judges `found`, which should equal the result at this place of `expected`.
    [[nodiscard]] ResultError error(std::size_t result, const graph::Tensor& found) const;

  private:
    class States;
    ResultJudge(std::vector<graph::Tensor> outputs, std::vector<std::optional<double>> least,
                std::unique_ptr<States> states);
    std::vector<graph::Tensor> outputs_;
    // The smallest norm against which the error of a gradient is measured.
    std::vector<std::optional<double>> least_;
    std::unique_ptr<States> states_;
};

// Returns the error of each result that `found` holds. Errors: those of ResultJudge::make().
[[nodiscard]] Result<std::vector<ResultError>> result_errors(const graph::Graph& original,
                                                             const std::vector<graph::Tensor>& given,
                                                             const std::vector<graph::Tensor>& expected,
                                                             const std::vector<graph::Tensor>& found,
                                                             double allowed = 0);

}  // namespace viridian::prove
