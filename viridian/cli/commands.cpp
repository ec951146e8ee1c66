#include "viridian/cli/command.hpp"

namespace viridian::cli {

// Each command is defined in the source of its name.
// clang-format off: one line each, so that changes do not meet.
Command doctor_command();
Command zoo_command();
Command run_command();
Command optimize_command();
Command check_command();
Command profile_command();
Command record_command();
Command account_command();
Command meter_command();
Command serve_command();
Command gradient_command();
Command train_command();
Command pipeline_command();
Command inspect_command();
Command trace_command();
Command report_command();
Command completion_command();
Command man_command();

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
        {"Train", {
            gradient_command(),
            train_command(),
            pipeline_command(),
        }},
        {"Look into files", {
            inspect_command(),
            trace_command(),
            report_command(),
        }},
        {"For your shell", {
            completion_command(),
            man_command(),
        }},
    };
}
// clang-format on

}  // namespace viridian::cli
