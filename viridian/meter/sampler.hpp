#pragma once
// A thread that reads meters at a steady pace and hands every sample on. Nothing is dropped in silence:
// readings that came late, failed or were skipped are counted. A meter whose reads are dear is read less
// often, so that the thread stays below `max_share` of one core.
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>

#include "viridian/meter/meter.hpp"

namespace viridian::meter {

struct SamplerOptions {
    Seconds period{0.004};
    double max_share = 0.004;  // of one core, all meters together
};

struct SamplerStats {
    struct OfMeter {
        std::string name;
        std::uint64_t reads = 0;
        std::uint64_t failures = 0;
        std::uint64_t missed = 0;  // periods that passed without a read: the machine was too busy
        Seconds period;            // as it is now
        std::string last_failure;
    };
    std::vector<OfMeter> meters;
    std::uint64_t clock_steps = 0;
    Seconds cpu;  // CPU time of the thread
};

class Sampler {
  public:
    // Both are called from the sampling thread. `note` gets metadata lines of the power log: clock offsets,
    // meters lost and found.
    using Take = std::function<void(const std::vector<Channel>& channels, std::span<const Sample> samples)>;
    using Note = std::function<void(std::string_view line)>;

    Sampler(std::vector<Meter> meters, SamplerOptions options, Take take, Note note = {});
    ~Sampler();
    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;

    SamplerStats stop();  // reads every meter a last time; idempotent
    [[nodiscard]] SamplerStats stats() const;

  private:
    struct Tracked {
        Meter meter;
        std::int64_t period_ns = 0;
        std::int64_t due_ns = 0;
        double mean_cost_ns = 0.0;
        bool lost = false;
    };
    void run();
    void read(Tracked& tracked, SamplerStats::OfMeter& stats);
    void watch_clock();

    SamplerOptions options_;
    Take take_;
    Note note_;
    std::vector<Tracked> meters_;
    std::vector<Sample> samples_;
    std::int64_t offset_ns_ = 0;
    std::int64_t cpu_ns_ = 0;
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;
    SamplerStats stats_;
    std::thread thread_;
};

}  // namespace viridian::meter
