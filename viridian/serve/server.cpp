#include "viridian/serve/server.hpp"

#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>
#include <sys/stat.h>

#include <chrono>

#include "viridian/serve/metrics.hpp"
#include "viridian/serve/metrics_page.hpp"
#include "viridian/serve/service.hpp"

namespace viridian::serve {
namespace {

constexpr int most_threads = 96;            // streams, and calls beside them
constexpr int largest_request = 64 * 1024;  // bytes

// Messages of ours are small; who sends more, or too often, or is gone, is cut off.
void set_limits(grpc::ServerBuilder& builder) {
    grpc::ResourceQuota quota("viridian");
    quota.SetMaxThreads(most_threads);
    builder.SetResourceQuota(quota);
    builder.SetMaxReceiveMessageSize(largest_request);
    builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::NUM_CQS, 1);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 64);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // else two servers share a port in silence
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 20'000);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
}

Result<void> check_addresses(const ServerOptions& options) {
    if (options.metrics && !options.metrics->socket.empty())
        return fail(ErrorCode::unsupported, "give it a port: 127.0.0.1:9464",
                    "Prometheus does not scrape unix sockets");
    for (const Address& address : {options.listen, options.metrics.value_or(options.listen)})
        if (address.open_to_users() && options.token.empty())
            return fail(ErrorCode::invalid_argument,
                        "add --token-file FILE, whose token clients then send, or use a unix socket",
                        "every user of this machine can connect to {}", address.text());
    VIRIDIAN_TRY(can_listen(options.listen));
    if (options.metrics) return can_listen(*options.metrics);
    return {};
}

// Whether only this user can connect to the socket at `path`.
bool is_private(const Path& path) {
    struct stat about{};
    return ::lstat(path.c_str(), &about) == 0 && S_ISSOCK(about.st_mode) && (about.st_mode & 077U) == 0 &&
           about.st_uid == ::geteuid();
}

}  // namespace

struct Server::State {
    State(std::vector<meter::Meter> meters, const ServerOptions& options)
        : monitor(std::move(meters), options.monitor),
          service(monitor, options.listen.open_to_users() ? options.token : "") {}
    meter::Monitor monitor;
    Service service;
    std::unique_ptr<RunningTotals> totals;  // for the page of metrics
    std::int64_t tended_ns = 0;             // CLOCK_MONOTONIC
    std::unique_ptr<Metrics> metrics;
    std::unique_ptr<grpc::Server> server;
    std::unique_ptr<MetricsPage> page;
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Server::~Server() {
    state_->page.reset();
    if (state_->server == nullptr) return;
    state_->service.stop();
    state_->server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
    state_->server->Wait();
}

meter::Monitor& Server::monitor() { return state_->monitor; }

void Server::tend() {
    constexpr std::int64_t second = 1'000'000'000;
    state_->monitor.expire();
    const std::int64_t now = meter::stamp_now().monotonic_ns;
    if (state_->totals == nullptr || now - state_->tended_ns < second) return;
    state_->tended_ns = now;
    (void)state_->totals->read();
}

Result<std::unique_ptr<Server>> Server::open(std::vector<meter::Meter> meters, const ServerOptions& options) {
    ::gpr_set_log_function([](gpr_log_func_args*) {});  // a library prints nothing; what fails is returned
    VIRIDIAN_TRY(check_addresses(options));
    std::unique_ptr<Server> server(new Server(std::make_unique<State>(std::move(meters), options)));
    State& state = *server->state_;

    grpc::ServerBuilder builder;
    set_limits(builder);
    int port = 0;
    builder.AddListeningPort(options.listen.text(), grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&state.service);
    const bool on_socket = !options.listen.socket.empty();
    const mode_t before = on_socket ? ::umask(0177) : 0;  // the socket is the owner's alone
    state.server = builder.BuildAndStart();
    if (on_socket) ::umask(before);
    if (state.server == nullptr)
        return fail(ErrorCode::device_failed, "choose another address", "gRPC cannot listen on {}",
                    options.listen.text());
    if (on_socket && !is_private(options.listen.socket))
        return fail(ErrorCode::device_failed, "choose a folder on a file system that keeps modes",
                    "others could connect to {}", options.listen.text());
    Address listens = options.listen;
    if (!on_socket) listens.port = port;
    server->grpc_address_ = listens.text();
    if (options.metrics) {
        VIRIDIAN_TRY(state.totals, RunningTotals::open(state.monitor, options.totals));
        state.metrics = std::make_unique<Metrics>(*state.totals);
        VIRIDIAN_TRY(state.page, MetricsPage::open(*options.metrics, options.token, *state.metrics,
                                                   [&state] { return state.monitor.any_meter_answers(); }));
        server->metrics_url_ = state.page->url();
    }
    return server;
}

}  // namespace viridian::serve
