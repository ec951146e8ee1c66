#pragma once
// What `viridian inspect --measured` says: how well each operator uses this processor, and the share of flop
// and of time of each class of operators (SUBSTATION, Tables I and III).
#include "viridian/base/json.hpp"
#include "viridian/base/listener.hpp"
#include "viridian/session/open.hpp"

namespace viridian::cli {

struct MeasuredAnswer {
    Json json;
    std::string text;
};

// Runs the model with the first kernels that the device offers, each operator by itself, or, if the options
// name a plan, with its kernels. Probes the peaks of the processor, and relates the times of the operators or
// kernels to them. Errors: those of reading, preparing, running and probing.
[[nodiscard]] Result<MeasuredAnswer> describe_measured(const session::ModelOptions& options,
                                                       Listener& listener);

}  // namespace viridian::cli
