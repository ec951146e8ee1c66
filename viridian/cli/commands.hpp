#pragma once
// The definitions of all commands. `commands.cpp` puts them into groups; each is defined in the file of its
// name.
#include "viridian/cli/command.hpp"

namespace viridian::cli {

Command doctor_command();
Command zoo_command();
Command inspect_command();
Command run_command();
Command profile_command();
Command optimize_command();
Command check_command();
Command report_command();
Command pipeline_command();
Command account_command();
Command record_command();
Command serve_command();
Command meter_command();
Command trace_command();

}  // namespace viridian::cli
