#pragma once
#include <csignal>

namespace viridian::execute::cpu {

// While a HeldSignals lives, signals to the calling thread wait. Exceptions: SIGSEGV, SIGBUS, SIGFPE, SIGILL,
// SIGTRAP, SIGSYS and SIGABRT, which report faults, and two signals that the C library reserves (for setuid()
// and pthread_cancel()). Threads that are started meanwhile inherit the mask.
//
// Some of oneDNN's matrix products point the stack pointer into a buffer on the heap. The system would write
// the frame of a handler below that address, over other data.
class HeldSignals {
  public:
    HeldSignals();
    ~HeldSignals();
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;

  private:
    sigset_t before_;
};

}  // namespace viridian::execute::cpu
