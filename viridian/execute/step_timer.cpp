#include "viridian/execute/step_timer.hpp"

#include "viridian/execute/device.hpp"

namespace viridian::execute {
namespace {

// Asks a device that can only time single kernels.
class OneByOne final : public StepTimer {
  public:
    OneByOne(Device& device, const graph::Graph& graph, const plan::Plan& plan)
        : device_(device), graph_(graph), plan_(plan) {}

    Result<TimedRun> run() override {
        const TimingProtocol once{0, Seconds(0), 1, false};
        TimedRun run;
        for (const plan::Step& step : plan_.steps) {
            Timing timing;
            if (step.kind == plan::Step::Kind::kernel) {
                VIRIDIAN_TRY(timing, device_.time(graph_, step.region, step.choice, once));
            } else {
                const plan::Buffer& from = plan_.buffers[step.inputs[0]];
                VIRIDIAN_TRY(timing, device_.time_conversion(from.dims, from.format,
                                                             plan_.buffers[step.outputs[0]].format, once));
            }
            run.steps.push_back(timing.median.value);
        }
        return run;
    }

  private:
    Device& device_;
    const graph::Graph& graph_;
    const plan::Plan& plan_;
};

}  // namespace

Result<std::unique_ptr<StepTimer>> Device::make_step_timer(const graph::Graph& graph,
                                                           const plan::Plan& plan) {
    return std::unique_ptr<StepTimer>(std::make_unique<OneByOne>(*this, graph, plan));
}

}  // namespace viridian::execute
