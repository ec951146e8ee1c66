#pragma once
#include <functional>

#include "viridian/execute/device.hpp"
#include "viridian/plan/precision.hpp"

namespace viridian::cli {

// Adds 1 to the first element of the first output: what a wrong kernel does.
class WrongExecutable final : public execute::Executable {
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

// The processor's kernels at made-up prices: bf16 is ten times as fast, conversions are cheap. Those that
// `wrong` names compute wrong outputs and are a hundred times as fast.
class FixedPrices final : public execute::Device {
  public:
    explicit FixedPrices(std::unique_ptr<Device> real) : real_(std::move(real)) {}
    std::function<bool(const std::string& signature, const plan::Choice&)> wrong;

    std::string name() const override { return real_->name(); }
    std::string fingerprint() const override { return real_->fingerprint(); }
    std::string library() const override { return real_->library(); }
    int threads() const override { return real_->threads(); }
    Result<std::vector<plan::Choice>> choices(const graph::Graph& graph,
                                              const plan::Region& region) override {
        return real_->choices(graph, region);
    }
    Result<std::unique_ptr<execute::Executable>> prepare(const graph::Graph& graph,
                                                         const plan::Plan& plan) override {
        VIRIDIAN_TRY(auto executable, real_->prepare(graph, plan));
        for (const plan::AssignedRegion& assigned : plan.assignment.regions)
            if (is_wrong(graph, assigned.region, assigned.choice))
                executable = std::make_unique<WrongExecutable>(std::move(executable));
        return executable;
    }
    Result<execute::Timing> time(const graph::Graph& graph, const plan::Region& region,
                                 const plan::Choice& choice, const execute::TimingProtocol&) override {
        if (is_wrong(graph, region, choice)) return timing(1e-7);
        return timing(plan::rounds(graph, region, choice) ? 1e-6 : 1e-5);
    }
    Result<execute::Timing> time_conversion(const graph::Dims&, const plan::Format&, const plan::Format&,
                                            const execute::TimingProtocol&) override {
        return timing(1e-7);
    }

  private:
    bool is_wrong(const graph::Graph& graph, const plan::Region& region, const plan::Choice& choice) const {
        return wrong && wrong(plan::signature(graph, region), choice);
    }
    static execute::Timing timing(double seconds) {
        const Seconds s(seconds);
        return {s, s, s, s, 5, {}};
    }
    std::unique_ptr<Device> real_;
};

}  // namespace viridian::cli
