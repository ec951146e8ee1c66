#include "viridian/execute/cpu/in_turn.hpp"

#include <algorithm>
#include <chrono>

#include "viridian/base/preemptions.hpp"
#include "viridian/execute/cpu/conversion.hpp"
#include "viridian/execute/cpu/executable.hpp"
#include "viridian/execute/cpu/ports.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using Clock = std::chrono::steady_clock;

struct Turn {
    Kernel kernel;
    Ports ports;
    std::vector<std::byte*> written;  // the inputs
    std::vector<const std::byte*> inputs;
    std::vector<std::byte*> outputs;
    std::vector<const std::byte*> constants;
    Pointers pointers;
};

// Steps take places one behind the other, round and round, in as much memory as the plan has: what a kernel
// writes to was last used about so long ago as in a run.
class CpuInTurn final : public InTurn {
  public:
    explicit CpuInTurn(const Context& context) : context_(context) {}

    Result<void> prepare(const graph::Graph& graph, const plan::Plan& plan) {
        std::int64_t workspace = 0;
        auto most = static_cast<std::size_t>(plan.arena_bytes);
        for (const plan::Step& step : plan.steps) {
            Turn turn;
            if (step.kind == plan::Step::Kind::kernel) {
                const Task task{context_, graph, step.region};
                VIRIDIAN_TRY(turn.kernel, prepare_kernel(task, step.choice));
                turn.ports = Ports::of(task, step.choice);
            } else {
                const plan::Buffer& from = plan.buffers[step.inputs[0]];
                const plan::Format& to = plan.buffers[step.outputs[0]].format;
                VIRIDIAN_TRY(turn.kernel, prepare_conversion(context_, from.dims, from.format, to));
                turn.ports = Ports::of_conversion(from.dims, from.format, to);
            }
            workspace = std::max(workspace, turn.kernel.workspace.value);
            most = std::max(most, turn.ports.bytes());
            turns_.push_back(std::move(turn));
        }
        activations_ = Buffer(most);
        workspace_ = Buffer(static_cast<std::size_t>(workspace));
        std::size_t next = 0;
        for (Turn& turn : turns_) {
            if (next + turn.ports.bytes() > most) next = 0;
            Places places(turn.ports, activations_.data() + next);
            next += turn.ports.bytes();
            turn.inputs.assign(places.inputs.begin(), places.inputs.end());
            turn.written = std::move(places.inputs);
            turn.outputs = std::move(places.outputs);
            for (const Packed& packed : turn.kernel.constants) turn.constants.push_back(packed->data());
            turn.pointers = {turn.inputs.data(), turn.outputs.data(), turn.constants.data(),
                             workspace_.data()};
            if (turn.kernel.bind) turn.kernel.bind(turn.pointers);
        }
        return {};
    }

    Result<Rotation> rotation() override {
        const ThreadCount threads(context_.threads);
        Rotation rotation;
        const std::int64_t before = preemptions();
        try {
            for (const Turn& turn : turns_) {
                write_inputs(turn);
                const auto start = Clock::now();
                turn.kernel.run(turn.pointers);
                rotation.steps.push_back(std::chrono::duration<double>(Clock::now() - start).count());
            }
        } catch (const KernelFailure& failure) {
            return failure.error;
        }
        rotation.calm = preemptions() == before;
        return rotation;
    }

  private:
    void write_inputs(const Turn& turn) const {
        parallel(context_.threads, [&](int thread) {
            for (std::size_t i = 0; i < turn.written.size(); ++i)
                touch(turn.written[i], turn.ports.inputs[i], turn.ports.numbers[i], thread, context_.threads);
        });
    }

    Context context_;
    std::vector<Turn> turns_;
    Buffer activations_, workspace_;
};

}  // namespace

Result<std::unique_ptr<InTurn>> make_in_turn(const Context& context, const graph::Graph& graph,
                                             const plan::Plan& plan) {
    const ThreadCount threads(context.threads);
    auto turns = std::make_unique<CpuInTurn>(context);
    try {
        VIRIDIAN_TRY(turns->prepare(graph, plan));
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::out_of_memory, "free memory, or use a smaller batch",
                    "there is no memory to time the plan's steps");
    }
    return std::unique_ptr<InTurn>(std::move(turns));
}

}  // namespace viridian::execute::cpu
