#pragma once
// A real device of which a test overrides one function and keeps the rest. Consuming preparation and the step
// timer are those of Device, which call prepare() and time() as the test has them.
#include "viridian/execute/device.hpp"

namespace viridian::execute {

class ForwardingDevice : public Device {
  public:
    explicit ForwardingDevice(std::unique_ptr<Device> real) : real_(std::move(real)) {}
    std::string name() const override { return real_->name(); }
    std::string fingerprint() const override { return real_->fingerprint(); }
    std::string library() const override { return real_->library(); }
    int threads() const override { return real_->threads(); }
    Result<std::vector<plan::Choice>> choices(const graph::Graph& graph,
                                              const plan::Region& region) override {
        return real_->choices(graph, region);
    }
    Result<std::unique_ptr<Executable>> prepare(const graph::Graph& graph, const plan::Plan& plan) override {
        return real_->prepare(graph, plan);
    }
    Result<Timing> time(const graph::Graph& graph, const plan::Region& region, const plan::Choice& choice,
                        const TimingProtocol& protocol) override {
        return real_->time(graph, region, choice, protocol);
    }
    Result<Timing> time_conversion(const graph::Dims& dims, const plan::Format& from, const plan::Format& to,
                                   const TimingProtocol& protocol) override {
        return real_->time_conversion(dims, from, to, protocol);
    }
    Seconds core_to_core_latency() override { return real_->core_to_core_latency(); }
    std::optional<plan::Choice> offered(const graph::Graph& graph, const plan::Region& region,
                                        const plan::Choice& choice, bool bf16) override {
        return real_->offered(graph, region, choice, bf16);
    }

  private:
    std::unique_ptr<Device> real_;
};

}  // namespace viridian::execute
