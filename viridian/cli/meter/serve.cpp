// `viridian serve`: the monitor beside the application (docs/serve.md).
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <utility>

#include "viridian/base/json.hpp"
#include "viridian/cli/command.hpp"
#include "viridian/cli/meter/meter_paths.hpp"
#include "viridian/meter/meters/list.hpp"
#include "viridian/serve/server.hpp"
#include "viridian/serve/socket_folder.hpp"
#include "viridian/serve/token.hpp"

namespace viridian::cli {
namespace {

struct ServeOptions {
    std::string listen, metrics, token_file, meter, carbon;
    bool no_metrics = false, open_to_others = false, allow_fast_periods = false, containers = false;
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

// The folder of a socket, made if it is not there, and removed at the end if it was made.
class SocketFolder {
  public:
    explicit SocketFolder(Path folder)
        : folder_(std::move(folder)), made_(::mkdir(folder_.c_str(), 0755) == 0) {}
    ~SocketFolder() {
        if (made_) ::rmdir(folder_.c_str());
    }
    SocketFolder(const SocketFolder&) = delete;
    SocketFolder& operator=(const SocketFolder&) = delete;

  private:
    Path folder_;
    bool made_;
};

// The socket that clients try first.
Result<serve::Address> default_address() {
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    const std::optional<Path> socket = serve::default_socket(::geteuid(), runtime == nullptr ? "" : runtime);
    if (!socket)
        return fail(ErrorCode::missing_entry, "set it, or name a socket with --listen unix:PATH",
                    "XDG_RUNTIME_DIR does not name the folder for your sockets");
    return serve::Address{.socket = *socket};
}

Result<serve::Address> address(const std::string& text, bool open_to_others) {
    VIRIDIAN_TRY(serve::Address parsed, serve::parse_address(text));
    if (!parsed.loopback && !open_to_others)
        return fail(ErrorCode::invalid_argument,
                    "use 127.0.0.1, or add --open-to-others if the network may read this machine's power",
                    "{} can be reached from other machines", parsed.text());
    return parsed;
}

Result<serve::ServerOptions> server_options(const ServeOptions& options) {
    serve::ServerOptions how;
    if (!options.metrics.empty() && !options.no_metrics) {
        VIRIDIAN_TRY(how.metrics, address(options.metrics, options.open_to_others));
    }
    VIRIDIAN_TRY(how.listen, options.listen.empty() ? default_address()
                                                    : address(options.listen, options.open_to_others));
    if (!options.token_file.empty()) {
        VIRIDIAN_TRY(how.token, serve::token_in(options.token_file));
    }
    if (options.allow_fast_periods) how.monitor.shortest_period = Seconds(0.0001);
    how.monitor.root = how.totals.root = meter_paths().root;
    for (const auto& [given, name] :
         {std::pair(options.containers, "--containers"), std::pair(!options.carbon.empty(), "--carbon")})
        if (given && !how.metrics)
            return fail(ErrorCode::invalid_argument, "add --metrics HOST:PORT, or leave it out",
                        "{} changes the page for Prometheus, and there is none", name);
    how.totals.containers = options.containers;
    if (!options.carbon.empty()) {
        VIRIDIAN_TRY(const std::string text, read_file(options.carbon, std::uint64_t{1} << 26));
        VIRIDIAN_TRY(how.totals.carbon, meter::CarbonFactors::parse(text, options.carbon));
    }
    return how;
}

Result<std::vector<meter::Meter>> open_meters_serve(const ServeOptions& options) {
    if (options.meter.empty()) return meter::open_all(meter_paths());
    VIRIDIAN_TRY(meter::Meter one, meter::open(options.meter, meter_paths()));
    return std::vector<meter::Meter>{std::move(one)};
}

Result<Answer> run_serve(const ServeOptions& options) {
    VIRIDIAN_TRY(const serve::ServerOptions how, server_options(options));
    VIRIDIAN_TRY(std::vector<meter::Meter> meters, open_meters_serve(options));
    std::string names;
    for (const meter::Meter& one : meters) names += (names.empty() ? "" : ", ") + one.name;

    const Signals signals;
    std::optional<SocketFolder> folder;  // a failure to make it shows when listening
    if (options.listen.empty() && ::geteuid() == 0) folder.emplace(how.listen.socket.parent_path());
    VIRIDIAN_TRY(const std::unique_ptr<serve::Server> server, serve::Server::open(std::move(meters), how));
    fmt::print(stderr, "listening on {} ({})\n", server->grpc_address(), names);
    if (!server->metrics_url().empty()) fmt::print(stderr, "metrics on {}\n", server->metrics_url());
    while (!signals.came_within(250)) server->tend();

    const meter::Snapshot last = server->monitor().snapshot();
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
    return {
        "serve", "Measures beside other programs: gRPC Start, Read, Stop, Stream, and Prometheus",
        "viridian serve --metrics 127.0.0.1:9464 --token-file monitor.token", [](App app) {
            const auto options = std::make_shared<ServeOptions>();
            app.add_option("--listen", options->listen,
                           "gRPC: unix:PATH, or HOST:PORT (port 0: any) with a token. Default: "
                           "unix:$XDG_RUNTIME_DIR/viridian.sock; for root: unix:/run/viridian/monitor.sock");
            app.add_option("--metrics", options->metrics,
                           "Serve a page for Prometheus on HOST:PORT, with a token");
            app.add_flag("--no-metrics", options->no_metrics, "No page for Prometheus, as without --metrics");
            app.add_option("--token-file", options->token_file,
                           "File with the token that clients send over TCP; made if it does not exist");
            app.add_flag("--open-to-others", options->open_to_others,
                         "Allow addresses that other machines can reach");
            app.add_flag("--allow-fast-periods", options->allow_fast_periods,
                         "Allow readings every 0.1 ms instead of every 1 ms (docs/serve.md says why not)");
            app.add_flag("--containers", options->containers,
                         "Metrics: an estimate of the energy of each container, by its share of CPU time");
            app.add_option("--carbon", options->carbon,
                           "Metrics: grams of CO2 by the factors in this CSV file (docs/fleet.md)");
            app.add_option("--meter", options->meter, "One meter only (see `viridian doctor`)");
            return [options] { return run_serve(*options); };
        }};
}

}  // namespace viridian::cli
