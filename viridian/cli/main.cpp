#include <malloc.h>

#include "viridian/cli/run_cli.hpp"

int main(int count, char** arguments) {
    ::mallopt(M_MMAP_THRESHOLD, 1 << 20);  // weights that are freed go back to the system at once
    return viridian::cli::run_cli(count, arguments);
}
