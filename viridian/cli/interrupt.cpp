#include "viridian/cli/interrupt.hpp"

#include <csignal>

namespace viridian::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;  // a signal handler has no other way to speak

extern "C" void on_interrupt(int) {
    interrupted = 1;
    std::signal(SIGINT, SIG_DFL);
}

}  // namespace

Interrupt::Interrupt() {
    interrupted = 0;
    std::signal(SIGINT, on_interrupt);
}
Interrupt::~Interrupt() { std::signal(SIGINT, SIG_DFL); }
bool Interrupt::asked() const { return interrupted != 0; }

}  // namespace viridian::cli
