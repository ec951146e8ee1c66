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

// PipelineOptions holds the options that define a pipeline: its profile or device model, its schedule, and
// values that replace or complete those of the profile. An optional value that the user did not give is
// negative or 0. Times are in seconds, powers in watts, energies in joules, sizes in bytes;
// `pipeline_options.cpp` describes each option.
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

    // Add the options to a command; this object must outlive parsing.
    void add_profile_options(App app);
    void add_schedule_options(App app);
};

struct LoadedPipeline {
    pipeline::Profile profile;
    pipeline::Schedule schedule;
    pipeline::Network network;
    std::vector<std::string> notes;  // sentences about what was assumed
};
// Reads the profile `file`, or makes one of the device model if `file` is empty, and applies the options to
// it. Errors: those of reading; invalid_argument (neither is given, or a value is not usable).
[[nodiscard]] Result<pipeline::Profile> load_profile(const PipelineOptions& options, const std::string& file);
// Returns the pipeline of the options. Its dependencies, order and memory are checked. Errors: those of
// load_profile, make_schedule, make_network and check_memory.
[[nodiscard]] Result<LoadedPipeline> load_pipeline(const PipelineOptions& options);
// Returns the pipeline of the options with a given schedule.
[[nodiscard]] Result<LoadedPipeline> load_pipeline(const PipelineOptions& options,
                                                   pipeline::Schedule schedule);

// DeadlineOptions holds the options that bound the time of an iteration. They are --deadline SECONDS,
// --slowdown PERCENT, and --straggler SECONDS, the time at which another pipeline ends, for which this one
// waits.
struct DeadlineOptions {
    double deadline = 0, slowdown = 0, straggler = 0;
    void add(App app);
    // Returns the deadline for `network`. Without any of the options it is the shortest possible time.
    [[nodiscard]] pipeline::Nanoseconds resolve(const pipeline::Network& network) const;
};

Subcommand pipeline_plan_subcommand();
Subcommand pipeline_simulate_subcommand();
Subcommand pipeline_frontier_subcommand();
Subcommand pipeline_check_subcommand();
Subcommand pipeline_convert_subcommand();
Subcommand pipeline_partition_subcommand();

}  // namespace viridian::cli
