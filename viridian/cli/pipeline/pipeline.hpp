#pragma once
// Declares the subcommands of `viridian pipeline`, one source file each, with the options that they share
// and the pipeline that they load.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "viridian/cli/subcommands.hpp"
#include "viridian/pipeline/network.hpp"
#include "viridian/pipeline/planners/planners.hpp"

namespace viridian::cli {

// The options that define a pipeline: profile or device model, schedule, and what a profile cannot say.
// Values that the user did not give are negative or 0.
struct PipelineOptions {
    std::string profile, device, schedule = "1f1b";
    int stages = 4;
    double forward = 0.030, backward = 0.060;
    int micro_batches = 0, chunks = 0;
    double wait_power = -1, latency = 0, bandwidth = 0, bytes = 0, all_reduce = -1;
    int data_parallel = 1, tensor_parallel = 1;
    double weight_share = 0;
    double activation = -1, weights = -1, memory = -1;
    double switch_latency = -1, switch_energy = -1, dwell = -1;

    void add_profile_options(App app);
    void add_schedule_options(App app);
};

struct LoadedPipeline {
    pipeline::Profile profile;
    pipeline::Schedule schedule;
    pipeline::Network network;
    std::vector<std::string> notes;  // sentences about what was assumed
};
[[nodiscard]] Result<pipeline::Profile> load_profile(const PipelineOptions& options, const std::string& file);
// The pipeline of the options. Its dependencies, order and memory are checked, and that it cannot deadlock.
[[nodiscard]] Result<LoadedPipeline> load_pipeline(const PipelineOptions& options);
// The pipeline of the options with a given schedule.
[[nodiscard]] Result<LoadedPipeline> load_pipeline(const PipelineOptions& options,
                                                   pipeline::Schedule schedule);

// The options that bound the time of an iteration: --deadline SECONDS, --slowdown PERCENT, or --straggler
// SECONDS, the time at which another pipeline ends, for which this one waits.
struct DeadlineOptions {
    double deadline = 0, slowdown = 0, straggler = 0;
    void add(App app);
    [[nodiscard]] pipeline::Nanoseconds resolve(const pipeline::Network& network) const;
};

Subcommand pipeline_plan_subcommand();
Subcommand pipeline_simulate_subcommand();
Subcommand pipeline_frontier_subcommand();
Subcommand pipeline_check_subcommand();
Subcommand pipeline_convert_subcommand();
Subcommand pipeline_partition_subcommand();

}  // namespace viridian::cli
