#include "viridian/cli/pipeline/pipeline.hpp"

#include "viridian/cli/command.hpp"

namespace viridian::cli {
namespace {

std::vector<Subcommand> subcommands() {
    return {
        pipeline_partition_subcommand(), pipeline_plan_subcommand(),  pipeline_simulate_subcommand(),
        pipeline_frontier_subcommand(),  pipeline_check_subcommand(), pipeline_convert_subcommand(),
    };
}

}  // namespace

Command pipeline_command() {
    return {"pipeline", "Plans pipeline-parallel training: schedules, clocks, the exact time-energy frontier",
            "viridian pipeline plan --profile stages.csv --micro-batches 16 --wait-power 50",
            [](App app) { return choose(app, subcommands()); }};
}

}  // namespace viridian::cli
