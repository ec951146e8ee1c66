#include "viridian/cli/commands.hpp"

namespace viridian::cli {

// clang-format off: one line each, so that changes do not meet.
std::vector<CommandGroup> command_groups() {
    return {
        {"Try it", {
            doctor_command(),
            zoo_command(),
            run_command(),
        }},
        {"Make a model cheaper", {
            optimize_command(),
            check_command(),
            profile_command(),
        }},
        {"See the joules", {
            record_command(),
            account_command(),
            meter_command(),
            serve_command(),
        }},
        {"Plan training", {
            pipeline_command(),
        }},
        {"Look into files", {
            inspect_command(),
            trace_command(),
            report_command(),
        }},
    };
}
// clang-format on

}  // namespace viridian::cli
