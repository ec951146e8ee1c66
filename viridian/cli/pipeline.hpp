#pragma once
// `viridian pipeline <subcommand>`: one file per subcommand, the options they share, and what they load.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "viridian/cli/subcommands.hpp"
#include "viridian/pipeline/network.hpp"
#include "viridian/pipeline/planners/planners.hpp"

namespace viridian::cli {

// What a pipeline is: profile or device model, schedule, and what the profile's format cannot say.
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

    void add_profile_options(CLI::App& app);
    void add_schedule_options(CLI::App& app);
};

struct LoadedPipeline {
    pipeline::Profile profile;
    pipeline::Schedule schedule;
    pipeline::Network network;
    std::vector<std::string> notes;  // what was assumed
};
[[nodiscard]] Result<pipeline::Profile> load_profile(const PipelineOptions& options, const std::string& file);
// Verified: dependencies, order, deadlock, memory.
[[nodiscard]] Result<LoadedPipeline> load_pipeline(const PipelineOptions& options);
// The same for a schedule that is already there (`check`, `convert`).
[[nodiscard]] Result<LoadedPipeline> load_pipeline(const PipelineOptions& options,
                                                   pipeline::Schedule schedule);

// --deadline SECONDS or --slowdown PERCENT: at most; --straggler SECONDS: the others end then, so all wait
// until then.
struct DeadlineOptions {
    double deadline = 0, slowdown = 0, straggler = 0;
    void add(CLI::App& app);
    [[nodiscard]] pipeline::Nanoseconds resolve(const pipeline::Network& network) const;
};

Subcommand pipeline_plan_subcommand();
Subcommand pipeline_simulate_subcommand();
Subcommand pipeline_frontier_subcommand();
Subcommand pipeline_check_subcommand();
Subcommand pipeline_convert_subcommand();
Subcommand pipeline_partition_subcommand();

}  // namespace viridian::cli
