#include "viridian/execute/cpu/in_turn.hpp"

#include <algorithm>
#include <chrono>

#include "viridian/base/preemptions.hpp"
#include "viridian/execute/cpu/bound_step.hpp"
#include "viridian/execute/cpu/ports.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using Clock = std::chrono::steady_clock;

struct Turn {
    BoundStep step;
    Ports ports;
    std::vector<std::byte*> written;  // the inputs
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
            VIRIDIAN_TRY(turn.step.kernel, prepare_step(context_, graph, plan, step));
            turn.ports = Ports::of_step(context_, graph, plan, step);
            workspace = std::max(workspace, turn.step.kernel.workspace.value);
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
            turn.step.inputs.assign(places.inputs.begin(), places.inputs.end());
            turn.step.outputs = std::move(places.outputs);
            turn.step.point(workspace_.data());
            turn.step.bind();
            turn.written = std::move(places.inputs);
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
                turn.step.run();
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
