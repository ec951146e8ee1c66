#include "viridian/serve/metrics_page.hpp"

#include <CivetServer.h>
#include <prometheus/text_serializer.h>

#include <exception>
#include <vector>

#include "viridian/serve/token.hpp"

namespace viridian::serve {
namespace {

void answer(mg_connection* connection, std::string_view status, std::string_view headers,
            const std::string& text) {
    const std::string head = fmt::format(
        "HTTP/1.1 {}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n{}Content-Length: "
        "{}\r\nConnection: close\r\n\r\n",
        status, headers, text.size());
    ::mg_write(connection, head.data(), head.size());
    ::mg_write(connection, text.data(), text.size());
}

class MetricsHandler final : public CivetHandler {
  public:
    MetricsHandler(std::string token, const prometheus::Collectable& metrics)
        : token_(std::move(token)), metrics_(&metrics) {}

    using CivetHandler::handleGet;
    bool handleGet(CivetServer* /*server*/, mg_connection* connection) override {
        const char* sent = ::mg_get_header(connection, "Authorization");
        if (!authorises(sent == nullptr ? "" : sent, token_))
            answer(connection, "401 Unauthorized", "WWW-Authenticate: Bearer\r\n",
                   "The token is missing or wrong. Send `Authorization: Bearer TOKEN` with the token of "
                   "--token-file.\n");
        else
            answer(connection, "200 OK", "", prometheus::TextSerializer().Serialize(metrics_->Collect()));
        return true;
    }

  private:
    std::string token_;
    const prometheus::Collectable* metrics_;
};

Error page_failed(const Address& address, const char* why) {
    return fail(ErrorCode::device_failed, "choose another address with --metrics",
                "the page of metrics cannot be served on {}: {}", address.text(), why);
}

class ReadyHandler final : public CivetHandler {
  public:
    explicit ReadyHandler(std::function<bool()> ready) : ready_(std::move(ready)) {}

    using CivetHandler::handleGet;
    bool handleGet(CivetServer* /*server*/, mg_connection* connection) override {
        if (ready_())
            answer(connection, "200 OK", "", "ready\n");
        else
            answer(connection, "503 Service Unavailable", "",
                   "No meter answers. Run `viridian doctor` on this machine.\n");
        return true;
    }

  private:
    std::function<bool()> ready_;
};

class HealthHandler final : public CivetHandler {
  public:
    using CivetHandler::handleGet;
    bool handleGet(CivetServer* /*server*/, mg_connection* connection) override {
        answer(connection, "200 OK", "", "healthy\n");
        return true;
    }
};

// Every other address.
class IndexHandler final : public CivetHandler {
  public:
    using CivetHandler::handleGet;
    bool handleGet(CivetServer* /*server*/, mg_connection* connection) override {
        const mg_request_info* request = ::mg_get_request_info(connection);
        const bool index = request->local_uri != nullptr && std::string_view(request->local_uri) == "/";
        answer(connection, index ? "200 OK" : "404 Not Found", "",
               "Viridian's monitor serves /metrics (with the token), /healthz and /readyz.\n");
        return true;
    }
};

}  // namespace

struct MetricsPage::State {
    State(const Address& address, std::string token, const prometheus::Collectable& metrics,
          std::function<bool()> ready)
        : handler(std::move(token), metrics),
          ready_handler(std::move(ready)),
          server(std::vector<std::string>{"listening_ports", address.text(), "num_threads", "2",
                                          "request_timeout_ms", "10000"}) {
        server.addHandler("/metrics", handler);
        server.addHandler("/healthz", health_handler);
        server.addHandler("/readyz", ready_handler);
        server.addHandler("/", index_handler);
    }
    MetricsHandler handler;
    ReadyHandler ready_handler;
    HealthHandler health_handler;
    IndexHandler index_handler;
    CivetServer server;  // last: its threads stop first
};

MetricsPage::MetricsPage(std::unique_ptr<State> state) : state_(std::move(state)) {}

MetricsPage::~MetricsPage() = default;

Result<std::unique_ptr<MetricsPage>> MetricsPage::open(const Address& address, std::string token,
                                                       const prometheus::Collectable& metrics,
                                                       std::function<bool()> ready) {
    try {
        std::unique_ptr<MetricsPage> page(
            new MetricsPage(std::make_unique<State>(address, std::move(token), metrics, std::move(ready))));
        const std::vector<int> ports = page->state_->server.getListeningPorts();
        if (ports.empty()) return page_failed(address, "no port is open");
        Address where = address;
        where.port = ports.front();
        page->url_ = fmt::format("http://{}/metrics", where.text());
        return page;
    } catch (const std::exception& exception) {
        return page_failed(address, exception.what());
    }
}

}  // namespace viridian::serve
