#include "viridian/execute/cpu/pool/held_signals.hpp"

#include <pthread.h>

#include <initializer_list>

namespace viridian::execute::cpu {

HeldSignals::HeldSignals() {
    sigset_t held;
    sigfillset(&held);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&held, own);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
}

HeldSignals::~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace viridian::execute::cpu
