#pragma once
// Defines the private members of the public classes Model and Optimized (viridian/viridian.hpp), which show
// their users only a pointer to an incomplete `State`.
#include "viridian/api/convert.hpp"
#include "viridian/optimize/optimize.hpp"
#include "viridian/session/session.hpp"

namespace viridian::api {

// Returns the options of a session that opens `file` with the public `options`.
[[nodiscard]] session::ModelOptions model_options(const std::string& file, const v1::OpenOptions& options);

}  // namespace viridian::api

namespace viridian::v1 {

struct Model::State {
    std::shared_ptr<const void> owner;  // of the device and of the plan
    int threads = 0;
    execute::Executable* executable = nullptr;
    std::vector<Port> inputs, outputs;
    static std::shared_ptr<State> of(std::shared_ptr<const void> owner, const execute::Device& device,
                                     const optimize::PlannedModel& planned);
};

struct Optimized::State {
    std::unique_ptr<execute::Device> device;
    cost::Database database;
    std::unique_ptr<optimize::MeasuredCosts> costs;
    optimize::Optimized result;
};

}  // namespace viridian::v1
