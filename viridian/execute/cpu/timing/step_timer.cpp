#include "viridian/execute/cpu/timing/step_timer.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "viridian/base/system/disturbance.hpp"
#include "viridian/execute/cpu/bound_step.hpp"
#include "viridian/execute/cpu/pool/pool.hpp"
#include "viridian/execute/cpu/primitive_cache.hpp"
#include "viridian/execute/cpu/threads.hpp"
#include "viridian/execute/cpu/timing/muster.hpp"
#include "viridian/execute/cpu/timing/ports.hpp"

namespace viridian::execute::cpu {
namespace {

using StepTimerClock = std::chrono::steady_clock;

struct TimedStep {
    BoundStep step;
    Ports ports;
    std::vector<std::byte*> written;  // the inputs
};

// The steps' inputs and outputs lie one behind the other, round and round, in as much memory as the plan has:
// memory that a kernel writes was last used about as long ago as in a run.
class CpuStepTimer final : public StepTimer {
  public:
    explicit CpuStepTimer(const Context& context) : context_(context) {}

    Result<void> prepare(const graph::Graph& graph, const plan::Plan& plan) {
        std::int64_t workspace = 0;
        auto most = static_cast<std::size_t>(plan.arena_bytes);
        for (const plan::Step& step : plan.steps) {
            TimedStep timed;
            VIRIDIAN_TRY(Kernel kernel, prepare_step(context_, graph, plan, step));
            timed.step.kernel = std::make_shared<const Kernel>(std::move(kernel));
            timed.ports = Ports::of_step(context_, graph, plan, step);
            workspace = std::max(workspace, timed.step.kernel->workspace.value);
            most = std::max(most, timed.ports.bytes());
            steps_.push_back(std::move(timed));
        }
        activations_ = Buffer(most);
        workspace_ = Buffer(static_cast<std::size_t>(workspace));
        std::size_t next = 0;
        for (TimedStep& timed : steps_) {
            if (next + timed.ports.bytes() > most) next = 0;
            PortAddresses places(timed.ports, activations_.data() + next);
            next += timed.ports.bytes();
            timed.step.inputs.assign(places.inputs.begin(), places.inputs.end());
            timed.step.outputs = std::move(places.outputs);
            timed.step.point(workspace_.data());
            timed.step.bind();
            timed.written = std::move(places.inputs);
        }
        return {};
    }

    Result<TimedRun> run() override {
        return with_crew(*context_.pool, [&]() -> Result<TimedRun> {
            TimedRun run;
            const Disturbance disturbance;
            for (const TimedStep& timed : steps_) {
                seat().crew->end_rest();
                write_inputs(timed);
                run.undisturbed = muster(context_.threads) && run.undisturbed;
                const auto start = StepTimerClock::now();
                timed.step.run();
                run.steps.push_back(std::chrono::duration<double>(StepTimerClock::now() - start).count());
            }
            run.undisturbed =
                run.undisturbed && disturbance.none(std::accumulate(run.steps.begin(), run.steps.end(), 0.0));
            return run;
        });
    }

  private:
    void write_inputs(const TimedStep& timed) const {
        parallel(context_.threads, [&](int thread) {
            for (std::size_t i = 0; i < timed.written.size(); ++i)
                touch(timed.written[i], timed.ports.inputs[i], timed.ports.numbers[i], thread,
                      context_.threads);
        });
    }

    Context context_;
    std::vector<TimedStep> steps_;
    Buffer activations_, workspace_;
};

}  // namespace

Result<std::unique_ptr<StepTimer>> make_step_timer(const Context& context, const graph::Graph& graph,
                                                   const plan::Plan& plan) {
    const NoPrimitiveCache no_cache;
    auto timer = std::make_unique<CpuStepTimer>(context);
    VIRIDIAN_TRY(with_crew(*context.pool, [&]() -> Result<void> {
        try {
            return timer->prepare(graph, plan);
        } catch (const std::bad_alloc&) {
            return fail(ErrorCode::out_of_memory, "free memory, or use a smaller batch",
                        "there is no memory to time the plan's steps");
        }
    }));
    return std::unique_ptr<StepTimer>(std::move(timer));
}

}  // namespace viridian::execute::cpu
