#pragma once
// Declares the entry point of the command line, apart from `main`, so that tests can call it.

namespace viridian::cli {

// Runs the program: parses `arguments`, of which there are `count` and the first is the program's name, runs
// one command and prints its answer. Returns the exit code: 0, 1 (the user's input is wrong), 2 (this machine
// cannot), 3 (our bug) or what the command returns. With --json, stdout holds exactly one object, errors
// included.
int run_cli(int count, const char* const* arguments);

}  // namespace viridian::cli
