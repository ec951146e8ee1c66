#pragma once
// A MetricsPage serves metrics in Prometheus' text format at http://ADDRESS/metrics, to those who send the
// token in the header `Authorization: Bearer TOKEN`. Two more pages, which need no token and tell no number,
// are for those who watch the server: /healthz answers 200 as long as it runs, and /readyz 200 if a meter
// answers, else 503.
#include <prometheus/collectable.h>

#include <functional>
#include <memory>
#include <string>

#include "viridian/serve/address.hpp"

namespace viridian::serve {

class MetricsPage {
  public:
    // Serves `metrics`, which must outlive the page, and the answer of `ready`, until the object is
    // destroyed, which may take two seconds. Errors: device_failed.
    [[nodiscard]] static Result<std::unique_ptr<MetricsPage>> open(const Address& address, std::string token,
                                                                   const prometheus::Collectable& metrics,
                                                                   std::function<bool()> ready);
    ~MetricsPage();
    MetricsPage(const MetricsPage&) = delete;
    MetricsPage& operator=(const MetricsPage&) = delete;
    // Returns the page's address, with the port that was chosen.
    [[nodiscard]] const std::string& url() const { return url_; }

  private:
    struct State;
    explicit MetricsPage(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
    std::string url_;
};

}  // namespace viridian::serve
