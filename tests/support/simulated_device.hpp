#pragma once
// A device without hardware or kernel library: kernels and prices of a processor that does not exist
// (cost/synthetic.hpp), outputs of the reference kernels. A kernel in `wrong` computes wrong outputs.
#include <algorithm>
#include <set>

#include "viridian/cost/synthetic.hpp"
#include "viridian/execute/device.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/trace/record/recorder.hpp"

namespace viridian::execute {

class SimulatedExecutable final : public Executable {
  public:
    SimulatedExecutable(graph::Graph graph, std::size_t steps, bool right)
        : graph_(std::move(graph)), steps_(steps), right_(right) {}

    Result<void> run(std::span<const graph::Tensor> inputs, std::span<graph::Tensor> outputs) override {
        VIRIDIAN_TRY(const std::vector<graph::Tensor> made,
                     graph::evaluate(graph_, {inputs.begin(), inputs.end()}));
        std::ranges::copy(made, outputs.begin());
        if (!right_) outputs[0].mutable_values<float>()[0] += 1;
        for (std::size_t s = 0; recorder_ != nullptr && s < steps_; ++s) {
            const auto now = trace::Recorder::now();
            recorder_->record(0, name_, now, now, path_);
        }
        return {};
    }
    void record(trace::Recorder* recorder) override {
        recorder_ = recorder;
        if (recorder == nullptr) return;
        name_ = recorder->about().names.add("step");
        path_ = recorder->about().paths.add(0, name_);
    }
    Bytes memory() const override { return Bytes(1); }

  private:
    graph::Graph graph_;
    std::size_t steps_;
    bool right_;
    trace::Recorder* recorder_ = nullptr;
    trace::NameId name_{};
    trace::PathId path_{};
};

class SimulatedDevice : public Device {
  public:
    explicit SimulatedDevice(std::uint64_t seed = 1) : prices_(cost::synthetic(seed)) {}
    std::set<std::string> wrong;  // names of kernels

    std::string name() const override { return "simulated"; }
    std::string fingerprint() const override { return "simulated-1"; }
    std::string library() const override { return "synthetic 1"; }
    int threads() const override { return 1; }
    Result<std::vector<plan::Choice>> choices(const graph::Graph& graph,
                                              const plan::Region& region) override {
        VIRIDIAN_TRY(const auto priced, prices_.choices(graph, region));
        std::vector<plan::Choice> choices;
        for (const cost::PricedChoice& one : priced) choices.push_back(one.choice);
        return choices;
    }
    Result<std::unique_ptr<Executable>> prepare(const graph::Graph& graph, const plan::Plan& plan) override {
        const bool right = std::ranges::none_of(plan.assignment.regions, [&](const auto& assigned) {
            return wrong.contains(assigned.choice.kernel);
        });
        return std::unique_ptr<Executable>(
            std::make_unique<SimulatedExecutable>(graph, plan.steps.size(), right));
    }
    Result<Timing> time(const graph::Graph& graph, const plan::Region& region, const plan::Choice& choice,
                        const TimingProtocol&) override {
        VIRIDIAN_TRY(const auto priced, prices_.choices(graph, region));
        for (const cost::PricedChoice& one : priced)
            if (one.choice.key() == choice.key()) return timing(one.price.seconds);
        return fail(ErrorCode::unsupported, "ask for a choice that was offered", "no kernel `{}`",
                    choice.kernel);
    }
    Result<Timing> time_conversion(const graph::Dims& dims, const plan::Format& from, const plan::Format& to,
                                   const TimingProtocol&) override {
        VIRIDIAN_TRY(const cost::Price price, prices_.conversion(dims, from, to));
        return timing(price.seconds);
    }

  private:
    static Timing timing(Seconds s) { return {s, s, s, s, 5, {}}; }

    cost::PriceSource prices_;
};

}  // namespace viridian::execute
