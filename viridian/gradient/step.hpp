#pragma once
// Makes a training step of a network: one graph with its forward part, the loss, the gradients and the
// updates. Parameters, moments, running statistics and the count of steps are states of it.
#include <optional>

#include "viridian/base/units.hpp"
#include "viridian/gradient/loss.hpp"
#include "viridian/gradient/memory/fit.hpp"
#include "viridian/gradient/optimizer.hpp"
#include "viridian/gradient/parameters/decay.hpp"
#include "viridian/gradient/parameters/find.hpp"
#include "viridian/gradient/parameters/stack.hpp"

namespace viridian::gradient {

struct StepOptions {
    LossOptions loss;
    OptimizerOptions optimizer;
    std::vector<TrainRule> parameters;  // which parameters are trained
    std::vector<DecayRule> decays;      // weight decay by name, instead of the optimiser's
    Stacking stacking = Stacking::separate;
    double clip_norm = 0;           // largest L2 norm of all gradients together; 0: not clipped
    bool gradient_outputs = false;  // each gradient is an output `NAME.gradient`
    bool input_gradients = false;   // so is the gradient of each floating input of the network
    std::optional<Bytes> memory;    // that a run may need; none: no limit
    RunNeed need = {};              // says what it needs (memory/fit.hpp); null: a twentieth more than values
};

// A Trained parameter, with the names under which the step knows what belongs to it.
struct Trained {
    std::string name;
    double decay = 0;
    std::string decay_reason = {};     // why, if it is not the optimiser's
    std::vector<std::string> moments;  // names of states, or of parts of stacked ones
};

struct Step {
    graph::Graph graph;
    std::vector<Trained> parameters;
    std::vector<std::string> frozen;
    std::vector<std::string> statistics;
    // The stacked parameters and moments; empty without StepOptions::stacking. `parameters` names their
    // parts.
    std::vector<StackedState> stacked;
    std::string labels = {};  // the input with the labels; empty if the loss has none
};

// Names of what a step adds. The learning rate is an input, a scalar of type f32 (f64 in a network of f64).
inline constexpr std::string_view rate_input = "viridian.rate";
inline constexpr std::string_view count_state = "viridian.step";
// A network with Dropout in training mode has two more inputs, i64 scalars: the seed of the run, and the
// number of the batch's first sample.
inline constexpr std::string_view seed_input = "viridian.seed";
inline constexpr std::string_view first_sample_input = "viridian.first_sample";
inline constexpr std::string_view accumulator_suffix = ".accumulated";  // of the states that sum gradients
inline constexpr std::string_view norm_output = "gradient_norm";
inline constexpr std::string_view loss_output = "loss";

// Returns the training step of `forward`, whose extents are all known numbers. The network is simplified
// first by the rewrite rules that always pay; they change no parameter, because a parameter is a state by
// then; but weights are stacked as the options say. The inputs of the step are those of the network, `labels`
// and the learning rate; its outputs are the loss, those of the network, and what the options ask for. With
// OptimizerKind::none parameters are states that stay as they are. Errors: those of find_parameters(),
// add_loss() and differentiate(); mismatch if the loss depends on no parameter; invalid_argument (stacking
// with OptimizerKind::lamb, which scales the update of each parameter by norms); limit_exceeded if the step
// needs more memory than the options allow, although it computes activations again.
[[nodiscard]] Result<Step> training_step(const graph::Graph& forward, const StepOptions& options);

// An AccumulatedStep is a training step in two graphs over the same states. `accumulate` runs once for each
// micro-batch, in order: it computes the loss and the gradients, and adds each gradient to the state
// `NAME.accumulated`. `apply` runs once for the step: it clips what was accumulated, updates the parameters,
// and leaves zeros. States that both have carry the same names, and the caller hands them over. The step is
// that of the whole batch, except that a normalisation in training mode sees one micro-batch.
struct AccumulatedStep {
    Step accumulate;  // its `parameters` name the moments, which are states of `apply`
    graph::Graph apply;
};

// Returns the training step of `forward`, a network for one micro-batch, in two graphs. The loss of a
// micro-batch is a sum times the input `viridian.inverse_count`, so that micro-batches of unequal size or
// with ignored labels add up to the batch's mean. Dropout masks belong to samples: `viridian.first_sample` is
// the number of the micro-batch's first one. Errors: those of training_step(); unsupported
// (LossKind::output).
[[nodiscard]] Result<AccumulatedStep> accumulated_step(const graph::Graph& forward,
                                                       const StepOptions& options);

}  // namespace viridian::gradient
