#pragma once
// A Sampler is a thread that reads meters at a steady pace and hands every sample on. Readings that came
// late, failed or were skipped are counted. No meter is read more often than its values change
// (`Meter::shortest`), and a meter whose reads cost much is read less often, so that the thread stays below
// `max_share` of one core. Periods are multiples of the shortest one, so that the thread wakes once for all
// meters that are due: on a virtual machine waking costs the most.
#include <condition_variable>
#include <list>
#include <mutex>
#include <span>
#include <thread>

#include "viridian/meter/meter.hpp"

namespace viridian::meter {

struct SamplerOptions {
    Seconds period{0.004};      // between readings of each meter
    double max_share = 0.0045;  // of one core, for all meters together
    Seconds least{0.0};         // between any two readings, `read_now` included; 0: no bound
};

struct SamplerStats {
    struct OfMeter {
        std::string name;
        std::uint64_t reads = 0;
        std::uint64_t failures = 0;
        std::uint64_t missed = 0;  // periods that passed without a read: the machine was too busy
        Seconds period;            // as it is now
        std::string last_failure;
        bool lost = false;  // the last read failed
    };
    std::vector<OfMeter> meters;    // those of the constructor first
    std::uint64_t clock_steps = 0;  // times when the system's clock was set
    Seconds cpu;                    // CPU time of the thread
};

class Sampler {
  public:
    // Take receives samples, and Note receives metadata lines of the power log: clock offsets, meters lost
    // and found. They are called by the sampling thread, or by the thread in `add` or `read_now`, one at a
    // time. They must not call the sampler.
    using Take = std::function<void(const std::vector<Channel>& channels, std::span<const Sample> samples)>;
    using Note = std::function<void(std::string_view line)>;

    // Starts the thread. `take` receives the samples of all `meters`.
    Sampler(std::vector<Meter> meters, SamplerOptions options, const Take& take, Note note = {});
    ~Sampler();
    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;

    // Adds a meter, which is read at once and from now on. Returns a number for `remove`.
    std::uint64_t add(Meter meter, Take take);
    void remove(std::uint64_t number);
    // Reads every meter on the caller's thread, for the bound of an epoch: now, or `SamplerOptions::least`
    // after the last reading. Callers that wait at the same time share one reading.
    void read_now();
    void pace(Seconds period);  // changes the period from now on
    SamplerStats stop();        // reads every meter a last time and ends the thread; may be called twice
    [[nodiscard]] SamplerStats stats() const;

  private:
    struct Tracked {
        std::uint64_t number = 0;
        Meter meter;
        Take take;
        SamplerStats::OfMeter stats;
        std::int64_t period_ns = 0;
        std::int64_t due_ns = 0;
        std::int64_t spent_ns = 0;  // in this waking
        double mean_cost_ns = 0.0;
    };
    void run();
    void read(Tracked& tracked);
    void read_due(std::int64_t now);
    void settle(Tracked& tracked, double cost_ns);  // adapts the meter's period to the cost of its reads
    void watch_clock();
    [[nodiscard]] std::int64_t allowed_ns() const;  // when the meters may be read again
    [[nodiscard]] std::int64_t next_due(std::int64_t now) const;

    mutable std::mutex mutex_;  // guards all members below
    SamplerOptions options_;
    Note note_;
    std::list<Tracked> meters_;
    std::uint64_t last_number_ = 0;
    std::vector<Sample> samples_;
    std::int64_t begin_ns_ = 0;
    std::int64_t last_reading_ns_ = 0;  // when the last reading of any meter began
    std::int64_t last_bound_ns_ = 0;    // when the last reading of all meters by `read_now` began
    std::int64_t offset_ns_ = 0;
    std::int64_t cpu_ns_ = 0;
    std::uint64_t clock_steps_ = 0;
    std::condition_variable wake_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace viridian::meter
