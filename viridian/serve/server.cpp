#include "viridian/serve/server.hpp"

#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>
#include <prometheus/exposer.h>
#include <sys/stat.h>

#include <chrono>
#include <exception>

#include "viridian/serve/metrics.hpp"
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

}  // namespace

struct Server::State {
    State(std::vector<meter::Meter> meters, const MonitorOptions& options)
        : monitor(std::move(meters), options),
          service(monitor),
          metrics(std::make_shared<Metrics>(monitor)) {}
    Monitor monitor;
    Service service;
    std::shared_ptr<Metrics> metrics;
    std::unique_ptr<grpc::Server> server;
    std::unique_ptr<prometheus::Exposer> exposer;
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Server::~Server() {
    state_->exposer.reset();
    if (state_->server == nullptr) return;
    state_->service.stop();
    state_->server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
    state_->server->Wait();
}

Monitor& Server::monitor() { return state_->monitor; }

Result<std::unique_ptr<Server>> Server::open(std::vector<meter::Meter> meters, const ServerOptions& options) {
    ::gpr_set_log_function([](gpr_log_func_args*) {});  // a library prints nothing; what fails is returned
    VIRIDIAN_TRY(can_listen(options.listen));
    if (options.metrics) {
        if (!options.metrics->socket.empty())
            return fail(ErrorCode::unsupported, "give it a port: 127.0.0.1:9464",
                        "Prometheus does not scrape unix sockets");
        VIRIDIAN_TRY(can_listen(*options.metrics));
    }
    std::unique_ptr<Server> server(new Server(std::make_unique<State>(std::move(meters), options.monitor)));
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
    Address listens = options.listen;
    if (!on_socket) listens.port = port;
    server->grpc_address_ = listens.text();
    if (options.metrics) {
        try {
            state.exposer = std::make_unique<prometheus::Exposer>(options.metrics->text());
            state.exposer->RegisterCollectable(state.metrics);
            Address where = *options.metrics;
            where.port = state.exposer->GetListeningPorts().front();
            server->metrics_url_ = fmt::format("http://{}/metrics", where.text());
        } catch (const std::exception& exception) {
            return fail(ErrorCode::device_failed, "choose another address with --metrics",
                        "Prometheus' page cannot be served on {}: {}", options.metrics->text(),
                        exception.what());
        }
    }
    return server;
}

}  // namespace viridian::serve
