#pragma once
// A Server runs one Monitor and lets other programs use it: by gRPC (monitor.proto) and, if asked for, as a
// page of metrics for Prometheus. It is the daemon behind `viridian serve`. Whoever opens it has to call
// `tend` several times a second. A unix socket has mode 0600; over TCP every request must carry a token.
#include <memory>
#include <optional>
#include <string>

#include "viridian/meter/monitor/monitor.hpp"
#include "viridian/serve/address.hpp"
#include "viridian/serve/running_totals.hpp"

namespace viridian::serve {

struct ServerOptions {
    Address listen;                       // for gRPC: TCP or a unix socket
    std::optional<Address> metrics = {};  // for Prometheus, TCP only; none: no page of metrics
    std::string token = {};               // what requests over TCP must carry (token.hpp)
    meter::MonitorOptions monitor = {};
    TotalsOptions totals = {};
};

class Server {
  public:
    // Starts a server that reads `meters`. It serves until the object is destroyed. Errors: those of
    // can_listen and of RunningTotals::open; unsupported (Prometheus on a unix socket); invalid_argument (TCP
    // without a token); device_failed (gRPC or Prometheus cannot listen).
    [[nodiscard]] static Result<std::unique_ptr<Server>> open(std::vector<meter::Meter> meters,
                                                              const ServerOptions& options);
    ~Server();  // ends the streams and calls, which get one second, and then the sampler
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Returns the address for gRPC with the port that was chosen ("127.0.0.1:50417").
    [[nodiscard]] const std::string& grpc_address() const { return grpc_address_; }
    // Returns the address of the page of metrics, "" if there is none.
    [[nodiscard]] const std::string& metrics_url() const { return metrics_url_; }
    // Ends the sessions whose lease ended, and adds up what the page of metrics tells, once a second.
    void tend();
    // Returns the monitor that is served.
    [[nodiscard]] meter::Monitor& monitor();

  private:
    struct State;
    explicit Server(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
    std::string grpc_address_, metrics_url_;
};

}  // namespace viridian::serve
