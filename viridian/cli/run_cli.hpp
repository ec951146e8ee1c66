#pragma once
namespace viridian::cli {

// The whole program: parses, runs one command, prints. Returns 0, 1 (the user's input is wrong), 2 (this
// machine cannot) or 3 (our bug). With --json, stdout holds exactly one object, errors included.
int run_cli(int count, const char* const* arguments);

}  // namespace viridian::cli
