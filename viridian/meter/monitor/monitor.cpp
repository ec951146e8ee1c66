#include "viridian/meter/monitor/monitor.hpp"

#include <algorithm>
#include <random>

#include "viridian/meter/meters/list.hpp"
#include "viridian/meter/monitor/session.hpp"
#include "viridian/meter/process_tree.hpp"

namespace viridian::meter {
namespace {

constexpr Seconds usual_period{0.004}, fastest_period{0.0001}, longest_period{60.0};
constexpr Seconds usual_lease{60.0}, shortest_lease{1.0}, longest_lease{30.0 * 24 * 3600};
constexpr std::size_t longest_name = 256;
constexpr int monitor_most_streams = 4;  // of one session

// 0 is the usual value; NaN is within no bounds.
Result<Seconds> within(std::string_view what, Seconds asked, Seconds usual, Seconds least, Seconds most) {
    if (asked.value == 0.0) return usual;
    if (asked.value >= least.value && asked.value <= most.value) return asked;
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("ask for {:g} s to {:g} s, or 0 for {:g} s", least.value, most.value, usual.value),
        "a {} of {:g} s is not possible", what, asked.value);
}

Result<Seconds> period_of(const StartRequest& request, Seconds shortest) {
    if (request.period.value >= fastest_period.value && request.period.value < shortest.value)
        return fail(
            ErrorCode::invalid_argument,
            fmt::format("ask for {:g} ms or more, or have the monitor started with --allow-fast-periods",
                        shortest.value * 1e3),
            "this monitor does not read every {:g} ms, because fast readings of energy reveal what other "
            "programs compute",
            request.period.value * 1e3);
    return within("period", request.period, std::max(usual_period, shortest), shortest, longest_period);
}

std::string new_name() {
    std::random_device device;
    std::string name;
    for (int i = 0; i < 4; ++i) name += fmt::format("{:08x}", device());
    return name;
}

Error no_session() {
    return fail(ErrorCode::missing_entry, "call Start; a longer lease or an open Stream keeps a session",
                "there is no such session, or its lease has ended");
}

}  // namespace

Monitor::Monitor(std::vector<Meter> meters, MonitorOptions options)
    : options_(std::move(options)), ring_(options_.most_samples) {
    const Seconds least(std::max(options_.shortest_period.value, fastest_period.value));
    options_.shortest_period = least;
    for (const Meter& one : meters) {
        channels_.insert(channels_.end(), one.channels.begin(), one.channels.end());
        meter_of_.resize(channels_.size(), updates_.size());
        updates_.push_back(Seconds(std::max(one.update.value, one.shortest.value)));
    }
    totals_.add_channels(channels_);
    counted_.resize(channels_.size());
    for (const std::uint32_t channel : counted(channels_)) counted_[channel] = true;

    sampler_ = std::make_unique<Sampler>(
        std::vector<Meter>{}, meter::SamplerOptions{.period = options_.idle_period, .least = least}, nullptr);
    std::uint32_t first = 0;
    for (Meter& one : meters) {
        const auto count = static_cast<std::uint32_t>(one.channels.size());
        sampler_->add(std::move(one), [this, first](const auto&, std::span<const Sample> samples) {
            const std::lock_guard lock(mutex_);
            totals_.take(first, samples);
            if (sessions_.empty()) return;
            for (Sample sample : samples) {
                sample.channel += first;
                ring_.push({sample, 0});
            }
        });
        first += count;
    }
    const Reads reads{stamp_now(), sampler_->stats()};  // `add` has read each
    const std::lock_guard lock(mutex_);
    begin_ = bound({}, reads);
}

Monitor::~Monitor() = default;

Result<Started> Monitor::start(const StartRequest& request) {
    if (request.name.size() > longest_name)
        return fail(ErrorCode::invalid_argument, "choose a shorter one", "a name has at most {} bytes",
                    longest_name);
    if (request.process < 0)
        return fail(ErrorCode::invalid_argument, "give a process id, or 0", "{} is not a process",
                    request.process);
    const auto session = std::make_shared<Session>();
    session->id = new_name();
    session->name = request.name;
    VIRIDIAN_TRY(session->period, period_of(request, options_.shortest_period));
    VIRIDIAN_TRY(session->lease, within("lease", request.lease, usual_lease, shortest_lease, longest_lease));
    std::optional<Meter> tree;
    if (request.process > 0) {
        VIRIDIAN_TRY(tree, open_process_tree(request.process, options_.root, false));
        std::vector<Sample> probe;
        if (!tree->read(probe).ok())
            return fail(ErrorCode::missing_entry, "give the id it has where `viridian serve` runs, or 0",
                        "there is no process {} on the monitor's machine", request.process);
        session->process_channels = tree->channels;
        session->ticks.resize(tree->channels.size());
    }
    {
        const std::lock_guard lock(mutex_);
        if (sessions_.size() >= options_.most_sessions)
            return fail(ErrorCode::limit_exceeded, "stop one, or wait for a lease to end",
                        "there are {} sessions already", sessions_.size());
        session->number = ++started_;
        session->place = ring_.end();
        session->renew();
        sessions_.emplace(session->id, session);
    }
    if (tree) {
        const auto base = static_cast<std::uint32_t>(channels_.size());
        session->process_meter = sampler_->add(
            std::move(*tree), [this, session, base](const auto&, std::span<const Sample> samples) {
                const std::lock_guard lock(mutex_);
                for (Sample sample : samples) {
                    session->ticks[sample.channel] = sample.value;
                    sample.channel += base;
                    ring_.push({sample, session->number});
                }
            });
    }
    pace();
    const Reads reads = read_meters();

    const std::lock_guard lock(mutex_);
    session->first = session->last = bound(session->ticks, reads);
    session->begun = true;
    Started started{session->id, session->lease, channels_, counted_, session->first.stamp.time_ns};
    started.channels.insert(started.channels.end(), session->process_channels.begin(),
                            session->process_channels.end());
    started.counted.resize(started.channels.size(), false);
    return started;
}

Result<Monitor::SessionPointer> Monitor::find(const std::string& session) {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(session);
    if (found == sessions_.end()) return no_session();
    found->second->renew();
    return found->second;
}

Monitor::Reads Monitor::read_meters() {
    Reads reads;
    reads.before = stamp_now();
    sampler_->read_now();
    reads.stats = sampler_->stats();
    return reads;
}

Monitor::Bound Monitor::bound(const std::vector<std::int64_t>& ticks, const Reads& reads) const {
    Bound bound;
    bound.stamp = stamp_now();
    bound.totals = totals_.at(bound.stamp.monotonic_ns);
    bound.ticks = ticks;
    for (std::size_t i = 0; i < updates_.size(); ++i)
        bound.failures.push_back(reads.stats.meters[i].failures);
    for (std::size_t i = 0; i < channels_.size(); ++i)
        bound.silent.push_back(reads.stats.meters[meter_of_[i]].lost &&
                               bound.totals[i].last_ns < reads.before.monotonic_ns);
    return bound;
}

Result<Monitor::Stopped> Monitor::advance(const std::string& id, bool peek) {
    VIRIDIAN_TRY(const SessionPointer session, find(id));
    const std::lock_guard one_at_a_time(session->advancing);
    const Reads reads = read_meters();
    const std::lock_guard lock(mutex_);
    if (session->ended) return no_session();
    const Bound now = bound(session->ticks, reads);
    Stopped epochs{between(session->last, now, reads.stats), between(session->first, now, reads.stats)};
    if (!peek) {
        session->last = now;
        ++session->epochs;
    }
    return epochs;
}

Result<Epoch> Monitor::read(const std::string& session, bool peek) {
    VIRIDIAN_TRY(Stopped epochs, advance(session, peek));
    return std::move(epochs.last);
}

Result<Monitor::Stopped> Monitor::stop(const std::string& session) {
    VIRIDIAN_TRY(Stopped epochs, advance(session, false));
    VIRIDIAN_TRY(const SessionPointer found, find(session));
    end(found, {stamp_now(), sampler_->stats()});
    return epochs;
}

Epoch Monitor::between(const Bound& begin, const Bound& end, const SamplerStats& stats) const {
    Epoch epoch;
    epoch.begin_ns = begin.stamp.time_ns;
    epoch.end_ns = end.stamp.time_ns;
    const double seconds = 1e-9 * static_cast<double>(end.stamp.monotonic_ns - begin.stamp.monotonic_ns);
    epoch.seconds = Seconds(seconds);
    for (std::size_t i = 0; i < updates_.size(); ++i)
        if (const std::uint64_t failures = end.failures[i] - begin.failures[i]; failures > 0)
            epoch.warnings.push_back(fmt::format("{} failed {} reads: {}", stats.meters[i].name, failures,
                                                 stats.meters[i].last_failure));
    const std::size_t packages = end.ticks.size() / 2;
    const auto share = [&](const std::string& device) -> std::optional<double> {
        for (std::size_t package = 0; package < packages; ++package) {
            if (device != fmt::format("cpu:{}", package)) continue;
            const auto own = end.ticks[package] - begin.ticks[package];
            const auto all = end.ticks[packages + package] - begin.ticks[packages + package];
            if (all > 0) return std::clamp(static_cast<double>(own) / static_cast<double>(all), 0.0, 1.0);
        }
        return std::nullopt;
    };
    for (std::uint32_t i = 0; i < channels_.size(); ++i) {
        const Channel& channel = channels_[i];
        if (!channel.is_power()) continue;
        const Joules joules = meter::joules(end.totals[i].energy - begin.totals[i].energy);
        const double update = updates_[meter_of_[i]].value;
        const Joules edge = joules * std::min(1.0, update / std::max(seconds, 1e-9));
        EpochEnergy energy{i, with_model_error({joules, joules - edge, joules + edge, channel.provenance()}),
                           counted_[i]};
        energy.process_share = share(channel.device);
        const std::string what =
            fmt::format("{} {} of {}", channel.device, name_of(channel.scope), channel.meter);
        if (begin.silent[i] || end.silent[i]) {
            energy.complete = false;
            epoch.warnings.push_back(what + " did not answer at a bound: its joules end at its last reading");
        } else if (end.totals[i].doubts != begin.totals[i].doubts) {
            energy.complete = false;
            epoch.warnings.push_back(what + " was reset or unread for long: its joules are a lower bound");
        } else if (channel.kind == Kind::energy_uj && joules.value <= 0.0) {
            energy.complete = false;
            if (energy.counted)
                epoch.warnings.push_back(
                    fmt::format("{} did not move in {:.3g} s: longer epochs tell more", what, seconds));
        }
        if (energy.counted) {
            epoch.complete = epoch.complete && energy.complete;
            if (epoch.total.provenance.source.empty())
                epoch.total = energy.energy;
            else
                epoch.total += energy.energy;
        }
        epoch.energies.push_back(std::move(energy));
    }
    return epoch;
}

Samples Monitor::copy(const Session& session, std::uint64_t& place, std::size_t most) const {
    Samples out;
    if (place < ring_.begin()) {
        out.dropped = ring_.begin() - place;
        place = ring_.begin();
    }
    for (; place != ring_.end() && out.samples.size() < most; ++place) {
        const RingSample& one = ring_[place];
        if (one.owner == 0 || one.owner == session.number) out.samples.push_back(one.sample);
    }
    out.left = ring_.end() - place;
    return out;
}

Result<Samples> Monitor::samples(const std::string& id, std::size_t most) {
    VIRIDIAN_TRY(const SessionPointer session, find(id));
    const std::lock_guard lock(mutex_);
    return copy(*session, session->place, most);
}

void Monitor::pace() {
    const std::lock_guard one_at_a_time(pacing_);
    Seconds period = options_.idle_period;
    {
        const std::lock_guard lock(mutex_);
        if (!sessions_.empty()) period = longest_period;
        for (const auto& [id, session] : sessions_) period = std::min(period, session->period);
    }
    sampler_->pace(period);
}

std::size_t Monitor::sessions() const {
    const std::lock_guard lock(mutex_);
    return sessions_.size();
}

Result<std::unique_ptr<Monitor::Stream>> Monitor::stream(const std::string& id) {
    VIRIDIAN_TRY(const SessionPointer session, find(id));
    const std::lock_guard lock(mutex_);
    if (session->streams >= monitor_most_streams)
        return fail(ErrorCode::limit_exceeded, "close one", "this session has {} streams already",
                    session->streams);
    ++session->streams;
    return std::unique_ptr<Stream>(new Stream(*this, session, ring_.end()));
}

Monitor::Stream::Stream(Monitor& monitor, SessionPointer session, std::uint64_t place)
    : monitor_(&monitor), session_(std::move(session)), place_(place) {}

Monitor::Stream::~Stream() {
    const std::lock_guard lock(monitor_->mutex_);
    --session_->streams;
    session_->renew();  // the lease begins where the stream ends
}

Result<Samples> Monitor::Stream::next(std::size_t most) {
    const std::lock_guard lock(monitor_->mutex_);
    if (session_->ended) return no_session();
    return monitor_->copy(*session_, place_, most);
}

}  // namespace viridian::meter
