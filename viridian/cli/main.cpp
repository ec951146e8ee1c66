#include "viridian/cli/run_cli.hpp"

int main(int count, char** arguments) { return viridian::cli::run_cli(count, arguments); }
