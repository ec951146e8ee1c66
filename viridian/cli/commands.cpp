#include "viridian/cli/commands.hpp"

namespace viridian::cli {

std::vector<Command> commands() {
    return {
        doctor_command(),   zoo_command(),    run_command(),
        optimize_command(), report_command(), pipeline_command(),
    };
}

}  // namespace viridian::cli
