#pragma once
// A Monitor runs sessions over one sampler: SMARAGDINE's Start and Stop (§4), any number at once, with bounds
// of epochs between. A session is a name, a lease and the totals at its bounds; samples are kept once for all
// in a ring. A client that dies leaves only a few kilobytes until its lease ends. All functions are
// thread-safe.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "viridian/base/energy.hpp"
#include "viridian/meter/sampler.hpp"
#include "viridian/serve/ring.hpp"
#include "viridian/serve/totals.hpp"

namespace viridian::serve {

struct MonitorOptions {
    Seconds idle_period{1.0};  // between readings while there is no session
    std::size_t most_sessions = 256;
    std::size_t most_samples = std::size_t{1} << 18U;  // in the ring: 13 MB
};

struct StartRequest {
    std::string name = {};
    int process = 0;      // 0: none
    Seconds period{0.0};  // 0: 4 ms; 0.1 ms to 60 s
    Seconds lease{0.0};   // 0: 60 s; 1 s to 30 days
};

struct Started {
    std::string session;
    Seconds lease;
    std::vector<meter::Channel> channels;  // of the meters, then of the process
    std::vector<bool> counted;
    std::int64_t time_ns = 0;
};

struct EpochEnergy {
    std::uint32_t channel = 0;
    Energy energy;
    bool counted = false;
    bool complete = true;
    std::optional<double> process_share = {};
};

struct Samples {
    std::vector<meter::Sample> samples;
    std::uint64_t dropped = 0;
    std::uint64_t left = 0;
};

struct Epoch {
    std::int64_t begin_ns = 0, end_ns = 0;  // Unix time
    Seconds seconds;                        // by the monotonic clock
    Energy total;                           // of the counted channels
    bool complete = true;
    std::vector<EpochEnergy> energies;
    std::vector<std::string> warnings;
};

struct Snapshot {
    std::vector<meter::Channel> channels;
    std::vector<bool> counted;
    std::vector<Totals::Reading> totals;
    meter::SamplerStats sampler;  // its first `meters` are the monitor's, then the sessions' processes
    std::size_t meters = 0;
    std::size_t sessions = 0;
    std::uint64_t started = 0, expired = 0;
};

class Monitor {
  public:
    Monitor(std::vector<meter::Meter> meters, MonitorOptions options);
    ~Monitor();
    Monitor(const Monitor&) = delete;
    Monitor& operator=(const Monitor&) = delete;

    // Errors: invalid_argument, missing_entry (no such process), limit_exceeded (too many sessions).
    [[nodiscard]] Result<Started> start(const StartRequest& request);
    // The meters are read now. Errors: missing_entry (no such session, or its lease ended).
    [[nodiscard]] Result<Epoch> read(const std::string& session, bool peek = false);
    struct Stopped {
        Epoch last, whole;
    };
    [[nodiscard]] Result<Stopped> stop(const std::string& session);
    // Samples since the last call, at most `most`. Renews the lease. Errors: missing_entry.
    [[nodiscard]] Result<Samples> samples(const std::string& session, std::size_t most = 65536);

    // While it lives, so does the session; a reader with a place of its own in the sequence of samples.
    class Stream;
    // Errors: missing_entry, limit_exceeded (four streams a session).
    [[nodiscard]] Result<std::unique_ptr<Stream>> stream(const std::string& session);

    void expire();  // ends sessions whose lease ended; call it now and then
    [[nodiscard]] Snapshot snapshot();
    [[nodiscard]] std::size_t sessions() const;

  private:
    struct Bound {
        meter::Stamp stamp;
        std::vector<Totals::Reading> totals;
        std::vector<std::int64_t> ticks;      // of the process by package, then of everybody
        std::vector<std::uint64_t> failures;  // by meter
        std::vector<bool> silent;             // by channel: did not answer when this bound was read
    };
    struct Session;
    using SessionPointer = std::shared_ptr<Session>;

    [[nodiscard]] Result<SessionPointer> find(const std::string& session);
    struct Reads {
        meter::Stamp before;
        meter::SamplerStats stats;
    };
    [[nodiscard]] Reads read_meters();
    [[nodiscard]] Bound bound(const Session& session, const Reads& reads) const;
    [[nodiscard]] Epoch between(const Bound& begin, const Bound& end, const meter::SamplerStats& stats) const;
    [[nodiscard]] Result<Stopped> advance(const std::string& session, bool peek);
    [[nodiscard]] Samples copy(const Session& session, std::uint64_t& place, std::size_t most) const;
    void end(const SessionPointer& session);
    void pace();

    MonitorOptions options_;
    std::vector<meter::Channel> channels_;  // of all meters; fixed
    std::vector<std::size_t> meter_of_;     // by channel
    std::vector<Seconds> updates_;          // by meter
    std::vector<bool> counted_;             // by channel

    std::mutex pacing_;
    mutable std::mutex mutex_;  // guards what follows; the sampler's own lock is taken before it, never after
    Totals totals_;
    Ring ring_;
    std::map<std::string, SessionPointer> sessions_;
    std::uint64_t started_ = 0, expired_ = 0;

    std::unique_ptr<meter::Sampler> sampler_;  // last: its thread stops first
};

class Monitor::Stream {
  public:
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    // Errors: missing_entry once the session was stopped.
    [[nodiscard]] Result<Samples> next(std::size_t most = 65536);

  private:
    friend class Monitor;
    Stream(Monitor& monitor, SessionPointer session, std::uint64_t place);
    Monitor* monitor_;
    SessionPointer session_;
    std::uint64_t place_;
};

}  // namespace viridian::serve
