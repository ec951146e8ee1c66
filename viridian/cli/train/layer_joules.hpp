#pragma once
// Sums the accountings of recorded steps by layer: the joules that each layer takes in one step, in its
// forward pass, its backward pass and the update of its parameters.
#include "viridian/cli/train/recorded_steps.hpp"

namespace viridian::cli {

// PhaseJoules is the energy of one step. A phase without kernels has no energy. Gradients of activations and
// of parameters are both backward, as in `viridian account`.
struct PhaseJoules {
    std::optional<Energy> forward, backward, update;
    std::optional<Energy> other;  // kernels of no phase, such as conversions of layouts
    std::optional<Energy> all;
};

// A LayerJoules is a row of the table: a node of the model, with the kernels that belong to it.
struct LayerJoules {
    std::string name;
    PhaseJoules joules;
    Seconds seconds;  // in one step
};

// The books of a device over all recorded steps: what its meter counted, and the parts that no kernel
// received.
struct DeviceBooks {
    std::string device, method;
    Energy meter, idle, unattributed, residual;
    Joules others;  // of other processes, taken off before
};

// The same for one recorded step, over all devices: the energy of its kernels and these parts add up to
// `all`.
struct StepBooks {
    Energy all, idle, unattributed, residual;
    // What other processes used: the part of the energy that their busy time is of all busy time. How far
    // this is off is not known, so its interval reaches from 0 to the upper end of `all`.
    Energy others;
};

struct StepJoules {
    std::int64_t steps = 0;  // that were recorded
    Seconds seconds;         // that they took together
    Seconds accounting;      // that accounting them took
    PhaseJoules each;        // of one step
    std::optional<StepBooks> books_of_step;
    std::vector<LayerJoules> layers;  // largest first
    std::vector<DeviceBooks> books;
    std::vector<std::string> warnings;
};

// Returns the mean of all recorded steps.
[[nodiscard]] StepJoules step_joules(const std::vector<AccountedSteps>& accounted);

[[nodiscard]] Json to_json(const PhaseJoules& joules);
[[nodiscard]] Json to_json(const StepJoules& joules);

}  // namespace viridian::cli
