#include "viridian/execute/cpu/pool/pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "viridian/base/system/machine.hpp"

namespace viridian::execute::cpu {
namespace {

// Bridges the time between two kernels, which is below a microsecond, and most kernels that run on one
// thread, and is a small part of a time slice.
constexpr std::chrono::microseconds spin_time{50};

std::atomic<int> processors_in_use = 0;
// The calls of other threads stayed in the parent.
[[maybe_unused]] const int frees_processors =
    pthread_atfork(nullptr, nullptr, [] { processors_in_use.store(0, std::memory_order_relaxed); });

}  // namespace

Pool::Pool(int threads, std::vector<int> cpus)
    : threads_(threads), cpus_(std::move(cpus)), processors_(static_cast<int>(physical_cpus().size())) {}

Result<void> Pool::Call::enter() {
    const Seat& now = seat();
    if (now.crew != nullptr && now.parts == 1 && now.crew->threads() == pool_.threads_) return {};
    lease_.emplace(pool_.stations_, [] { return std::make_unique<Station>(); });
    std::unique_ptr<Crew>& crew = (*lease_)->crew;
    if (!crew || crew->stayed_behind()) {
        const bool keeps_place = lease_->position() == 0;
        // Threads that share a processor would spin while another one has work.
        const auto spin = pool_.threads_ <= pool_.processors_ ? spin_time : spin_time.zero();
        auto started = Crew::start(pool_.threads_, keeps_place ? pool_.cpus_ : std::vector<int>(), spin);
        if (!started.ok()) return std::move(started).error();
        crew = *std::move(started);
    }
    taken_ = pool_.threads_;
    const int others = processors_in_use.fetch_add(taken_, std::memory_order_relaxed);
    const bool alone = others > 0 && others + taken_ > pool_.processors_;
    if (alone) processors_in_use.fetch_sub(std::exchange(taken_, 1) - 1, std::memory_order_relaxed);
    crew->keep_alone(alone);
    one_.emplace();
    before_ = std::exchange(seat(), {crew.get(), 0, 1});
    return {};
}

Pool::Call::~Call() {
    if (taken_ == 0) return;
    seat() = before_;
    one_.reset();
    processors_in_use.fetch_sub(taken_, std::memory_order_relaxed);
}

}  // namespace viridian::execute::cpu
