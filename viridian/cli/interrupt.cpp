#include "viridian/cli/interrupt.hpp"

#include <csignal>
#include <initializer_list>

namespace viridian::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;  // a signal handler has no other way to speak

void handle(void (*handler)(int)) {
    for (const int number : {SIGINT, SIGTERM}) std::signal(number, handler);
}

extern "C" void on_interrupt(int) {
    interrupted = 1;
    handle(SIG_DFL);
}

}  // namespace

Interrupt::Interrupt() {
    interrupted = 0;
    handle(on_interrupt);
}
Interrupt::~Interrupt() { handle(SIG_DFL); }
bool Interrupt::asked() const { return interrupted != 0; }

}  // namespace viridian::cli
