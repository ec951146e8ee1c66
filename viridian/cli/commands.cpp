#include "viridian/cli/commands.hpp"

namespace viridian::cli {

// clang-format off: one line each, so that changes do not meet.
std::vector<Command> commands() {
    return {
        doctor_command(),
        zoo_command(),
        inspect_command(),
        run_command(),
        profile_command(),
        optimize_command(),
        check_command(),
        report_command(),
        pipeline_command(),
        account_command(),
        record_command(), serve_command(), meter_command(), trace_command(),
    };
}
// clang-format on

}  // namespace viridian::cli
