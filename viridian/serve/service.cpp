#include "viridian/serve/service.hpp"

#include <algorithm>
#include <chrono>

#include "viridian/serve/token.hpp"

namespace viridian::serve {
namespace {

namespace messages = monitor::v1;

constexpr int service_most_streams = 64;
constexpr std::int64_t usual_interval = 100, shortest_interval = 10, longest_interval = 60'000;  // ms
constexpr std::int64_t notice_within = 100;  // ms until a client that went away is noticed
constexpr std::size_t longest_label = 256;

void write(const meter::Channel& channel, bool counted, messages::Channel& out) {
    out.set_meter(channel.meter);
    out.set_device(channel.device);
    out.set_scope(std::string(name_of(channel.scope)));
    out.set_kind(std::string(name_of(channel.kind)));
    if (channel.is_power()) out.set_provenance(channel.provenance().text());
    out.set_counted(counted);
    out.set_wrap_uj(channel.wrap_uj);
}

template <class Message>
void write(const meter::Samples& samples, Message& out) {
    for (const meter::Sample& sample : samples.samples) {
        messages::Sample& one = *out.add_samples();
        one.set_channel(sample.channel);
        one.set_time_ns(sample.time_ns);
        one.set_value(sample.value);
        one.set_window_ns(sample.window_ns);
    }
    out.set_samples_dropped(samples.dropped);
}

void write(const meter::Epoch& epoch, const std::string& label, messages::Epoch& out) {
    out.set_label(label);
    out.set_begin_ns(epoch.begin_ns);
    out.set_end_ns(epoch.end_ns);
    out.set_seconds(epoch.seconds.value);
    out.set_joules(epoch.total.value.value);
    out.set_provenance(epoch.total.provenance.text());
    out.set_complete(epoch.complete);
    for (const meter::EpochEnergy& energy : epoch.energies) {
        messages::Energy& one = *out.add_energies();
        one.set_channel(energy.channel);
        one.set_joules(energy.energy.value.value);
        one.set_low(energy.energy.low.value);
        one.set_high(energy.energy.high.value);
        one.set_complete(energy.complete);
        if (energy.process_share) one.set_process_share(*energy.process_share);
    }
    for (const std::string& warning : epoch.warnings) out.add_warnings(warning);
}

grpc::Status check_label(const std::string& label) {
    if (label.size() <= longest_label) return grpc::Status::OK;
    return {grpc::StatusCode::INVALID_ARGUMENT, fmt::format("a label has at most {} bytes", longest_label)};
}

class Counted {
  public:
    explicit Counted(std::atomic<int>& count) : count_(&count), before_(count++) {}
    ~Counted() { --*count_; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    [[nodiscard]] int before() const { return before_; }

  private:
    std::atomic<int>* count_;
    int before_;
};

}  // namespace

grpc::Status to_status(const Error& error) {
    using grpc::StatusCode;
    StatusCode code = StatusCode::INTERNAL;
    switch (error.code) {
        case ErrorCode::invalid_argument:
            code = StatusCode::INVALID_ARGUMENT;
            break;
        case ErrorCode::missing_entry:
            code = StatusCode::NOT_FOUND;
            break;
        case ErrorCode::limit_exceeded:
            code = StatusCode::RESOURCE_EXHAUSTED;
            break;
        case ErrorCode::no_permission:
            code = StatusCode::PERMISSION_DENIED;
            break;
        default:
            break;
    }
    return {code, error.text()};
}

void Service::stop() {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    stopped_.notify_all();
}

bool Service::wait(const grpc::ServerContext& context, std::int64_t milliseconds) {
    while (milliseconds > 0 && !context.IsCancelled()) {
        const std::int64_t slice = std::min(milliseconds, notice_within);
        milliseconds -= slice;
        std::unique_lock lock(mutex_);
        if (stopped_.wait_for(lock, std::chrono::milliseconds(slice), [this] { return stopping_; }))
            return false;
    }
    return !context.IsCancelled();
}

grpc::Status Service::admit(const grpc::ServerContext& context) const {
    if (token_.empty()) return grpc::Status::OK;
    const auto sent = context.client_metadata().find("authorization");
    if (sent != context.client_metadata().end() &&
        authorises({sent->second.data(), sent->second.size()}, token_))
        return grpc::Status::OK;
    return {
        grpc::StatusCode::UNAUTHENTICATED,
        "the token is missing or wrong. send the metadata `authorization: Bearer TOKEN` with the token of "
        "the monitor's --token-file"};
}

grpc::Status Service::Start(grpc::ServerContext* context, const messages::StartRequest* request,
                            messages::StartReply* reply) {
    if (grpc::Status refused = admit(*context); !refused.ok()) return refused;
    const Result<meter::Started> started =
        sessions_->start({request->name(), request->process(), Seconds(request->period_ms() * 1e-3),
                          Seconds(request->lease_seconds())});
    if (!started.ok()) return to_status(started.error());
    reply->set_session(started->session);
    reply->set_lease_seconds(started->lease.value);
    for (std::size_t i = 0; i < started->channels.size(); ++i)
        write(started->channels[i], started->counted[i], *reply->add_channels());
    reply->set_time_ns(started->time_ns);
    return grpc::Status::OK;
}

grpc::Status Service::Read(grpc::ServerContext* context, const messages::ReadRequest* request,
                           messages::Epoch* reply) {
    if (grpc::Status refused = admit(*context); !refused.ok()) return refused;
    if (const grpc::Status bad = check_label(request->label()); !bad.ok()) return bad;
    const Result<meter::Epoch> epoch = sessions_->read(request->session(), request->peek());
    if (!epoch.ok()) return to_status(epoch.error());
    write(*epoch, request->label(), *reply);
    if (!request->samples()) return grpc::Status::OK;
    const Result<meter::Samples> samples = sessions_->samples(request->session());
    if (!samples.ok()) return to_status(samples.error());
    write(*samples, *reply);
    reply->set_samples_left(samples->left);
    return grpc::Status::OK;
}

grpc::Status Service::Stop(grpc::ServerContext* context, const messages::StopRequest* request,
                           messages::StopReply* reply) {
    if (grpc::Status refused = admit(*context); !refused.ok()) return refused;
    if (const grpc::Status bad = check_label(request->label()); !bad.ok()) return bad;
    std::optional<meter::Samples> samples;
    if (request->samples()) {  // the epoch's own bound is read by Stop: its joules hold, its reading does not
                               // come
        Result<meter::Samples> copied = sessions_->samples(request->session());
        if (!copied.ok()) return to_status(copied.error());
        samples = std::move(*copied);
    }
    const Result<meter::Monitor::Stopped> epochs = sessions_->stop(request->session());
    if (!epochs.ok()) return to_status(epochs.error());
    write(epochs->last, request->label(), *reply->mutable_last());
    write(epochs->whole, request->label(), *reply->mutable_whole());
    if (samples) {
        write(*samples, *reply->mutable_last());
        reply->mutable_last()->set_samples_left(samples->left);
    }
    return grpc::Status::OK;
}

grpc::Status Service::Stream(grpc::ServerContext* context, const messages::StreamRequest* request,
                             grpc::ServerWriter<messages::Batch>* writer) {
    if (grpc::Status refused = admit(*context); !refused.ok()) return refused;
    const double asked = request->interval_ms();
    if (!(asked >= 0.0 && asked <= static_cast<double>(longest_interval)))
        return {grpc::StatusCode::INVALID_ARGUMENT,
                fmt::format("an interval is {} to {} ms, or 0 for {} ms", shortest_interval, longest_interval,
                            usual_interval)};
    const Counted streams(streams_);
    if (streams.before() >= service_most_streams)
        return {grpc::StatusCode::RESOURCE_EXHAUSTED,
                fmt::format("there are {} streams already", service_most_streams)};
    Result<std::unique_ptr<meter::Monitor::Stream>> stream = sessions_->stream(request->session());
    if (!stream.ok()) return to_status(stream.error());
    writer->SendInitialMetadata();  // the client knows that its session is held
    const auto interval =
        asked == 0.0 ? usual_interval : std::max(shortest_interval, static_cast<std::int64_t>(asked));
    messages::Batch batch;
    while (wait(*context, interval)) {
        const Result<meter::Samples> samples = (*stream)->next(request->heartbeat_only() ? 0 : 65536);
        if (!samples.ok()) return grpc::Status::OK;  // stopped: the end of the stream
        if (request->heartbeat_only() || (samples->samples.empty() && samples->dropped == 0)) continue;
        batch.Clear();
        write(*samples, batch);
        if (!writer->Write(batch)) break;
    }
    return grpc::Status::OK;
}

}  // namespace viridian::serve
