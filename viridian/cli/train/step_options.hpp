#pragma once
// Declares the options that say what a training step computes: the loss, the optimiser, and which parameters
// are trained.
#include "viridian/cli/command.hpp"
#include "viridian/gradient/step.hpp"

namespace viridian::cli {

// StepChoice holds the options as they are typed.
struct StepChoice {
    // Returns whether an option of the command was typed: "--loss".
    std::function<bool(const char* option)> given = [](const char*) { return false; };
    std::string loss = "cross-entropy";
    std::string optimizer = "adamw";
    gradient::StepOptions step;
    std::vector<std::string> class_weights;  // numbers, or "balanced"
    std::int64_t class_axis = 0;             // 0: the loss chooses
    double epsilon = 0;                      // 0: the optimiser's default
    double decay = -1;                       // weight decay; negative: the optimiser's default
    std::vector<std::string> freeze;
    std::vector<std::string> train;
    std::vector<std::string> decays;  // PATTERN=DECAY
    std::string stack = "separate";   // or pairs, all, cheapest
};

// Adds the options to a command; their values are stored in `choice`, which must outlive parsing.
void add_step_options(App app, StepChoice& choice);

// Returns the options of the step that the words ask for, without the weights of balanced classes, because
// only the samples tell them. Errors: invalid_argument (an unknown loss or optimiser, class weights that are
// no numbers, an option that does nothing with this loss or optimiser).
[[nodiscard]] Result<gradient::StepOptions> step_options(const StepChoice& choice);

// Returns whether products of one input are to be stacked as their prices say.
[[nodiscard]] bool wants_cheapest_stacking(const StepChoice& choice);

// Returns whether the weights of classes are to follow from how often they occur.
[[nodiscard]] bool wants_balance(const StepChoice& choice);

}  // namespace viridian::cli
