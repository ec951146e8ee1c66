#include "viridian/execute/in_turn.hpp"

#include "viridian/execute/device.hpp"

namespace viridian::execute {
namespace {

// Of a device that times kernels one by one only.
class ByDevice final : public InTurn {
  public:
    ByDevice(Device& device, const graph::Graph& graph, const plan::Plan& plan)
        : device_(device), graph_(graph), plan_(plan) {}

    Result<Rotation> rotation() override {
        const TimingProtocol once{0, Seconds(0), 1, false};
        Rotation rotation;
        for (const plan::Step& step : plan_.steps) {
            Timing timing;
            if (step.kind == plan::Step::Kind::kernel) {
                VIRIDIAN_TRY(timing, device_.time(graph_, step.region, step.choice, once));
            } else {
                const plan::Buffer& from = plan_.buffers[step.inputs[0]];
                VIRIDIAN_TRY(timing, device_.time_conversion(from.dims, from.format,
                                                             plan_.buffers[step.outputs[0]].format, once));
            }
            rotation.steps.push_back(timing.median.value);
        }
        return rotation;
    }

  private:
    Device& device_;
    const graph::Graph& graph_;
    const plan::Plan& plan_;
};

}  // namespace

Result<std::unique_ptr<InTurn>> Device::in_turn(const graph::Graph& graph, const plan::Plan& plan) {
    return std::unique_ptr<InTurn>(std::make_unique<ByDevice>(*this, graph, plan));
}

}  // namespace viridian::execute
