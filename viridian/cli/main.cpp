#include <malloc.h>

#include <csignal>

#include "viridian/cli/run_cli.hpp"

int main(int count, char** arguments) {
    std::signal(SIGXFSZ, SIG_IGN);         // a file that may not grow is an error of writing it (EFBIG)
    ::mallopt(M_MMAP_THRESHOLD, 1 << 20);  // weights that are freed go back to the system at once
    return viridian::cli::run_cli(count, arguments);
}
