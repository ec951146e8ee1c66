#pragma once
// A Monitor measures energy for many clients at once: it runs sessions over one sampler. A session begins
// with Start and ends with Stop, as in SMARAGDINE (§4), and each Read between them ends an epoch and begins
// the next. A session consists of a name, a lease and the totals at its bounds; samples are kept once for all
// sessions in a ring. A client that dies leaves only a few kilobytes until its lease ends. All functions are
// thread-safe.
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "viridian/base/energy.hpp"
#include "viridian/meter/monitor/ring.hpp"
#include "viridian/meter/monitor/totals.hpp"
#include "viridian/meter/sampler.hpp"

namespace viridian::meter {

struct MonitorOptions {
    Seconds idle_period{1.0};  // between readings while there is no session
    // Meters are never read more often than this, whoever asks: not by a session's period, a Read or a page
    // of metrics. 0.1 ms to 60 s. Fast readings of energy reveal what other programs compute (docs/serve.md).
    Seconds shortest_period{0.001};
    Path root = "/";  // the folder of `proc`, where processes are looked up
    std::size_t most_sessions = 256;
    std::size_t most_samples = std::size_t{1} << 18U;  // in the ring: 13 MB
    Seconds keep_ended{300.0};  // a session stays in snapshots for so long after its end
};

struct StartRequest {
    std::string name = {};  // for people; at most 256 bytes
    int process = 0;        // id of the process whose share of the CPU is measured; 0: none
    Seconds period{0.0};    // between readings, `shortest_period` to 60 s; 0: 4 ms
    Seconds lease{0.0};     // the session ends if its client is silent for so long, 1 s to 30 days; 0: 60 s
};

struct Started {
    std::string session;  // its id, for all other calls
    Seconds lease;
    std::vector<Channel> channels;  // of the meters, then of the process
    std::vector<bool> counted;      // per channel: it is part of the total (meters/list.hpp)
    std::int64_t time_ns = 0;       // Unix time of the beginning
};

struct EpochEnergy {
    std::uint32_t channel = 0;  // index into `Started::channels`
    Energy energy;
    bool counted = false;                      // it is part of the total
    bool complete = true;                      // if false, the energy is a lower bound
    std::optional<double> process_share = {};  // part of the package's busy time, 0 to 1
};

struct Samples {
    std::vector<Sample> samples;
    std::uint64_t dropped = 0;  // samples that the ring lost because the client was too slow
    std::uint64_t left = 0;     // samples that the next call will see
};

struct Epoch {
    std::int64_t begin_ns = 0, end_ns = 0;  // Unix time
    Seconds seconds;                        // by the monotonic clock
    Energy total;                           // of the counted channels
    bool complete = true;                   // every counted channel is complete
    std::vector<EpochEnergy> energies;      // of all channels of energy or power
    std::vector<std::string> warnings;      // sentences
};

// A SessionSnapshot is the state of one session, for Prometheus.
struct SessionSnapshot {
    std::uint64_t number = 0;  // 1 is the monitor's first session
    std::string name;
    std::uint64_t epochs = 0;  // how many have ended
    Epoch whole;               // since the session began
};

// A Snapshot is the state of the whole monitor, for Prometheus.
struct Snapshot {
    std::vector<Channel> channels;
    std::vector<bool> counted;
    std::vector<Totals::Reading> totals;
    std::int64_t time_ns = 0;                // Unix time
    std::vector<EpochEnergy> energies = {};  // of all channels of energy or power, since the monitor began
    // Open sessions, and those that ended at most MonitorOptions::keep_ended ago.
    std::vector<SessionSnapshot> of_sessions = {};
    SamplerStats sampler;  // its first `meters` are the monitor's, then the sessions' processes
    std::size_t meters = 0;
    std::size_t sessions = 0;
    std::uint64_t started = 0, expired = 0;
};

class Monitor {
  public:
    Monitor(std::vector<Meter> meters, MonitorOptions options);
    ~Monitor();
    Monitor(const Monitor&) = delete;
    Monitor& operator=(const Monitor&) = delete;

    // Begins a session. Errors: invalid_argument, missing_entry (no such process), limit_exceeded (too many
    // sessions).
    [[nodiscard]] Result<Started> start(const StartRequest& request);
    // Reads the meters now and returns the epoch since the last bound. Now becomes the new bound, except if
    // `peek`. Renews the lease. Errors: missing_entry (no such session, or its lease ended).
    [[nodiscard]] Result<Epoch> read(const std::string& session, bool peek = false);
    struct Stopped {
        Epoch last, whole;  // since the last bound, and since the beginning
    };
    // Reads the meters now and ends the session. Errors: those of `read`.
    [[nodiscard]] Result<Stopped> stop(const std::string& session);
    // Returns the samples since the last call, at most `most`. Renews the lease. Errors: missing_entry.
    [[nodiscard]] Result<Samples> samples(const std::string& session, std::size_t most = 65536);

    // A Stream is a reader with its own place in the sequence of samples. As long as it lives, the session's
    // lease does not end.
    class Stream;
    // Opens a stream that begins with the next sample. Errors: missing_entry, limit_exceeded (more than four
    // streams of a session).
    [[nodiscard]] Result<std::unique_ptr<Stream>> stream(const std::string& session);

    // Ends the sessions whose lease ended. Call it now and then.
    void expire();
    // Reads the meters now and returns the state.
    [[nodiscard]] Snapshot snapshot();
    // Whether the last reading of any meter succeeded.
    [[nodiscard]] bool any_meter_answers() const;
    // Returns the number of sessions.
    [[nodiscard]] std::size_t sessions() const;

  private:
    // A Bound is the state of everything at the beginning or end of an epoch.
    struct Bound {
        Stamp stamp;
        std::vector<Totals::Reading> totals;
        std::vector<std::int64_t> ticks;      // of the process by package, then of everybody
        std::vector<std::uint64_t> failures;  // by meter
        std::vector<bool> silent;             // by channel: did not answer when this bound was read
    };
    struct Session;
    using SessionPointer = std::shared_ptr<Session>;

    [[nodiscard]] Result<SessionPointer> find(const std::string& session);  // renews the lease
    struct Reads {
        Stamp before;
        SamplerStats stats;
    };
    [[nodiscard]] Reads read_meters();
    [[nodiscard]] Bound bound(const std::vector<std::int64_t>& ticks, const Reads& reads) const;
    [[nodiscard]] Epoch between(const Bound& begin, const Bound& end, const SamplerStats& stats) const;
    [[nodiscard]] Result<Stopped> advance(const std::string& session, bool peek);
    [[nodiscard]] Samples copy(const Session& session, std::uint64_t& place, std::size_t most) const;
    void end(const SessionPointer& session, const Reads& reads);
    [[nodiscard]] SessionSnapshot state_of(const Session& session, const Reads& reads) const;
    void pace();  // sets the sampler's period to the shortest of all sessions

    MonitorOptions options_;
    std::vector<Channel> channels_;      // of all meters; fixed
    std::vector<std::size_t> meter_of_;  // by channel
    std::vector<Seconds> updates_;       // by meter
    std::vector<bool> counted_;          // by channel

    std::mutex pacing_;
    // Guards the members from here to `begin_`. The sampler's own lock is taken before it, never after.
    mutable std::mutex mutex_;
    Totals totals_;
    Ring ring_;
    std::map<std::string, SessionPointer> sessions_;
    std::uint64_t started_ = 0, expired_ = 0;
    struct Ended {
        std::int64_t at_ns = 0;  // CLOCK_MONOTONIC
        SessionSnapshot state;
    };
    std::deque<Ended> ended_;  // oldest first
    Bound begin_;

    std::unique_ptr<Sampler> sampler_;  // last: its thread stops first
};

class Monitor::Stream {
  public:
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    // Returns the samples since the last call, at most `most`. Errors: missing_entry after the session was
    // stopped.
    [[nodiscard]] Result<Samples> next(std::size_t most = 65536);

  private:
    friend class Monitor;
    Stream(Monitor& monitor, SessionPointer session, std::uint64_t place);
    Monitor* monitor_;
    SessionPointer session_;
    std::uint64_t place_;
};

}  // namespace viridian::meter
