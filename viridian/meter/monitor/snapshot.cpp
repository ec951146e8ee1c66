// What a Monitor tells of itself and of its sessions, and the end of a session.
#include <algorithm>

#include "viridian/meter/monitor/session.hpp"

namespace viridian::meter {
namespace {

constexpr std::size_t most_ended = 1024;

std::int64_t nanoseconds_of(Seconds seconds) { return static_cast<std::int64_t>(seconds.value * 1e9); }

}  // namespace

SessionSnapshot Monitor::state_of(const Session& session, const Reads& reads) const {
    return {session.number, session.name, session.epochs,
            between(session.first, bound(session.ticks, reads), reads.stats)};
}

void Monitor::end(const SessionPointer& session, const Reads& reads) {
    {
        const std::lock_guard lock(mutex_);
        if (session->ended) return;
        session->ended = true;
        sessions_.erase(session->id);
        if (session->begun) ended_.push_back({stamp_now().monotonic_ns, state_of(*session, reads)});
        if (ended_.size() > most_ended) ended_.pop_front();
    }
    if (session->process_meter != 0) sampler_->remove(session->process_meter);
    pace();
}

void Monitor::expire() {
    std::vector<SessionPointer> old;
    {
        const std::lock_guard lock(mutex_);
        const std::int64_t now = stamp_now().monotonic_ns;
        for (const auto& [id, session] : sessions_)
            if (session->streams == 0 && session->expires_ns < now) old.push_back(session);
        expired_ += old.size();
        while (!ended_.empty() && ended_.front().at_ns + nanoseconds_of(options_.keep_ended) < now)
            ended_.pop_front();
    }
    if (old.empty()) return;
    const Reads reads = read_meters();
    for (const SessionPointer& session : old) end(session, reads);
}

Snapshot Monitor::snapshot() {
    const Reads reads = read_meters();
    const std::lock_guard lock(mutex_);
    const Bound now = bound({}, reads);
    Snapshot state{.channels = channels_,
                   .counted = counted_,
                   .totals = now.totals,
                   .time_ns = now.stamp.time_ns,
                   .energies = between(begin_, now, reads.stats).energies,
                   .sampler = reads.stats,
                   .meters = updates_.size(),
                   .sessions = sessions_.size(),
                   .started = started_,
                   .expired = expired_};
    for (const auto& [id, session] : sessions_)
        if (session->begun) state.of_sessions.push_back(state_of(*session, reads));
    for (const Ended& ended : ended_) state.of_sessions.push_back(ended.state);
    return state;
}

bool Monitor::any_meter_answers() const {
    const SamplerStats stats = sampler_->stats();
    return std::any_of(stats.meters.begin(),
                       stats.meters.begin() + static_cast<std::ptrdiff_t>(updates_.size()),
                       [](const SamplerStats::OfMeter& one) { return !one.lost; });
}

}  // namespace viridian::meter
