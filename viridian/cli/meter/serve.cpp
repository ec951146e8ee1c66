// `viridian serve`: the monitor beside the application (docs/serve.md).
#include <csignal>
#include <cstdio>
#include <ctime>
#include <memory>

#include "viridian/base/json.hpp"
#include "viridian/cli/command.hpp"
#include "viridian/cli/meter/meter_paths.hpp"
#include "viridian/meter/meters/list.hpp"
#include "viridian/serve/server.hpp"

namespace viridian::cli {
namespace {

struct ServeOptions {
    std::string listen = "127.0.0.1:50417", metrics = "127.0.0.1:9464", meter;
    bool no_metrics = false, open_to_others = false;
};

// Ctrl-C and `kill` wait here instead of ending the program. Set before any thread begins: all inherit it.
class Signals {
  public:
    Signals() {
        sigemptyset(&set_);
        sigaddset(&set_, SIGINT);
        sigaddset(&set_, SIGTERM);
        ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
    }
    ~Signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    [[nodiscard]] bool came_within(long milliseconds) const {
        const timespec time{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
        return ::sigtimedwait(&set_, nullptr, &time) > 0;
    }

  private:
    sigset_t set_{}, before_{};
};

Result<serve::Address> address(const std::string& text, bool open_to_others) {
    VIRIDIAN_TRY(serve::Address parsed, serve::parse_address(text));
    if (!parsed.loopback && !open_to_others)
        return fail(ErrorCode::invalid_argument,
                    "use 127.0.0.1, or add --open-to-others if the network may read this machine's power",
                    "{} can be reached from other machines", parsed.text());
    return parsed;
}

Result<std::vector<meter::Meter>> open_meters_serve(const ServeOptions& options) {
    if (options.meter.empty()) return meter::open_all(meter_paths());
    VIRIDIAN_TRY(meter::Meter one, meter::open(options.meter, meter_paths()));
    return std::vector<meter::Meter>{std::move(one)};
}

Result<Answer> run_serve(const ServeOptions& options) {
    serve::ServerOptions how;
    VIRIDIAN_TRY(how.listen, address(options.listen, options.open_to_others));
    if (!options.no_metrics) {
        VIRIDIAN_TRY(how.metrics, address(options.metrics, options.open_to_others));
    }
    VIRIDIAN_TRY(std::vector<meter::Meter> meters, open_meters_serve(options));
    std::string names;
    for (const meter::Meter& one : meters) names += (names.empty() ? "" : ", ") + one.name;

    const Signals signals;
    VIRIDIAN_TRY(const std::unique_ptr<serve::Server> server, serve::Server::open(std::move(meters), how));
    fmt::print(stderr, "listening on {} ({})\n", server->grpc_address(), names);
    if (!server->metrics_url().empty()) fmt::print(stderr, "metrics on {}\n", server->metrics_url());
    while (!signals.came_within(250)) server->monitor().expire();

    const serve::Snapshot last = server->monitor().snapshot();
    Answer answer;
    answer.json = {{"schema", "viridian.serve/1"},     {"sessions_started", last.started},
                   {"sessions_expired", last.expired}, {"sessions_open", last.sessions},
                   {"meters", Json::array()},          {"sampler_cpu_seconds", last.sampler.cpu.value}};
    answer.text =
        fmt::format("{} sessions, {} of them expired, {} cut off now; sampling took {:.3f} s of CPU\n",
                    last.started, last.expired, last.sessions, last.sampler.cpu.value);
    for (std::size_t i = 0; i < last.meters; ++i) {
        const auto& one = last.sampler.meters[i];
        answer.json["meters"].push_back({{"meter", one.name},
                                         {"reads", one.reads},
                                         {"failures", one.failures},
                                         {"last_failure", one.last_failure}});
        if (one.failures > 0)
            answer.text += fmt::format("warning: {} failed {} of {} reads: {}\n", one.name, one.failures,
                                       one.reads, one.last_failure);
    }
    return answer;
}

}  // namespace

Command serve_command() {
    return {"serve", "Measures beside other programs: gRPC Start, Read, Stop, Stream, and Prometheus",
            "viridian serve --listen unix:/tmp/viridian.sock", [](App app) {
                const auto options = std::make_shared<ServeOptions>();
                app.add_option("--listen", options->listen, "gRPC: HOST:PORT (port 0: any), or unix:PATH")
                    .capture_default_str();
                app.add_option("--metrics", options->metrics, "Prometheus: HOST:PORT").capture_default_str();
                app.add_flag("--no-metrics", options->no_metrics, "No Prometheus page");
                app.add_flag("--open-to-others", options->open_to_others,
                             "Allow addresses that other machines can reach");
                app.add_option("--meter", options->meter, "One meter only (see `viridian doctor`)");
                return [options] { return run_serve(*options); };
            }};
}

}  // namespace viridian::cli
