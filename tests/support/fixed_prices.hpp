#pragma once
#include <functional>

#include "tests/support/forwarding_device.hpp"
#include "viridian/plan/precision.hpp"

namespace viridian::execute {

// Adds 1 to the first element of the first output: what a wrong kernel does.
class WrongExecutable final : public Executable {
  public:
    explicit WrongExecutable(std::unique_ptr<Executable> right) : right_(std::move(right)) {}
    Result<void> run(std::span<const graph::Tensor> inputs, std::span<graph::Tensor> outputs) override {
        VIRIDIAN_TRY(right_->run(inputs, outputs));
        outputs[0].mutable_values<float>()[0] += 1;
        return {};
    }
    void record(trace::Recorder* recorder) override { right_->record(recorder); }
    Bytes memory() const override { return right_->memory(); }

  private:
    std::unique_ptr<Executable> right_;
};

// The processor's kernels at made-up prices: bf16 is ten times as fast, conversions are cheap, one
// kernel may be the cheapest of all. Those that `wrong` names compute wrong outputs.
class FixedPrices final : public ForwardingDevice {
  public:
    using ForwardingDevice::ForwardingDevice;
    std::function<bool(const std::string& signature, const plan::Choice&)> wrong;
    std::string cheapest;  // a kernel's name

    Result<std::unique_ptr<Executable>> prepare(const graph::Graph& graph, const plan::Plan& plan) override {
        VIRIDIAN_TRY(auto executable, ForwardingDevice::prepare(graph, plan));
        for (const plan::AssignedRegion& assigned : plan.assignment.regions)
            if (is_wrong(graph, assigned.region, assigned.choice))
                executable = std::make_unique<WrongExecutable>(std::move(executable));
        return executable;
    }
    Result<Timing> time(const graph::Graph& graph, const plan::Region& region, const plan::Choice& choice,
                        const TimingProtocol&) override {
        if (choice.kernel == cheapest) return timing(1e-7);
        return timing(plan::rounds(graph, region, choice) ? 1e-6 : 1e-5);
    }
    Result<Timing> time_conversion(const graph::Dims&, const plan::Format&, const plan::Format&,
                                   const TimingProtocol&) override {
        return timing(1e-7);
    }

  private:
    bool is_wrong(const graph::Graph& graph, const plan::Region& region, const plan::Choice& choice) const {
        return wrong && wrong(plan::signature(graph, region), choice);
    }
    static Timing timing(double seconds) {
        const Seconds s(seconds);
        return {s, s, s, s, 5, {}};
    }
};

}  // namespace viridian::execute
