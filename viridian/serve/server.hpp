#pragma once
// A Server offers one monitor by gRPC and, if asked for, by Prometheus: the daemon without its command.
#include <memory>
#include <optional>
#include <string>

#include "viridian/serve/address.hpp"
#include "viridian/serve/monitor.hpp"

namespace viridian::serve {

struct ServerOptions {
    Address listen;
    std::optional<Address> metrics = {};  // TCP; none: no Prometheus
    MonitorOptions monitor = {};
};

class Server {
  public:
    // Errors: those of can_listen; unsupported (Prometheus on a unix socket); device_failed.
    [[nodiscard]] static Result<std::unique_ptr<Server>> open(std::vector<meter::Meter> meters,
                                                              const ServerOptions& options);
    ~Server();  // ends streams and calls, then the sampler
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    [[nodiscard]] const std::string& grpc_address() const { return grpc_address_; }  // with the port chosen
    [[nodiscard]] const std::string& metrics_url() const { return metrics_url_; }    // "" without Prometheus
    [[nodiscard]] Monitor& monitor();

  private:
    struct State;
    explicit Server(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
    std::string grpc_address_, metrics_url_;
};

}  // namespace viridian::serve
