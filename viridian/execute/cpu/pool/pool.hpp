#pragma once
// A Pool has the threads of one device. Each call into the library takes a crew of the pool, and every kernel
// of the call runs on it, whoever wrote the kernel.
//
// Calls that overlap have a crew each. A call that begins while others use all processors runs by itself,
// because its workers would only take turns with those of the others. A process may have several pools; they
// count the processors in use together. After fork() the child starts workers of its own.
#include <optional>
#include <type_traits>
#include <vector>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/lease_list.hpp"
#include "viridian/execute/cpu/pool/crew.hpp"
#include "viridian/execute/cpu/pool/openmp.hpp"

namespace viridian::execute::cpu {

class Pool {
    struct Station {
        std::unique_ptr<Crew> crew;
    };

  public:
    // `cpus`: the processors on which the threads of the first crew stay, by thread; empty if they float.
    // Thread 0 is the caller, which stays where it is.
    Pool(int threads, std::vector<int> cpus);

    [[nodiscard]] int threads() const { return threads_; }

    // A Call seats the calling thread in a crew while the object lives.
    class Call {
      public:
        explicit Call(Pool& pool) : pool_(pool) {}
        ~Call();
        Call(const Call&) = delete;
        Call& operator=(const Call&) = delete;
        // A call within a call of as many threads uses its crew. Errors: device_failed.
        [[nodiscard]] Result<void> enter();

      private:
        Pool& pool_;
        std::optional<LeaseList<Station>::Lease> lease_;
        std::optional<OneThreadOfOpenMp> one_;
        Seat before_;
        int taken_ = 0;  // processors
    };

  private:
    const int threads_;
    const std::vector<int> cpus_;
    const int processors_;  // that the process may use
    LeaseList<Station> stations_;
};

// Returns what `f` returns, a Result, with the calling thread in a crew of `pool` meanwhile. A KernelFailure
// that `f` throws becomes the result's error.
template <class Function>
std::invoke_result_t<const Function&> with_crew(Pool& pool, const Function& f) {
    Pool::Call call(pool);
    VIRIDIAN_TRY(call.enter());
    try {
        return f();
    } catch (const KernelFailure& failure) {
        return failure.error;
    }
}

}  // namespace viridian::execute::cpu
