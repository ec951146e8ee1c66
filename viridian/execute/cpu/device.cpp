#include "viridian/execute/cpu/device.hpp"

#include <algorithm>

#include "viridian/base/system/limits.hpp"
#include "viridian/base/system/machine.hpp"
#include "viridian/execute/cpu/executable.hpp"
#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/pool/pool.hpp"
#include "viridian/execute/cpu/primitive_cache.hpp"
#include "viridian/execute/cpu/threads.hpp"
#include "viridian/execute/cpu/timing/core_latency.hpp"
#include "viridian/execute/cpu/timing/step_timer.hpp"
#include "viridian/execute/cpu/timing/timing.hpp"
#include "viridian/execute/cpu/timing/wake_latency.hpp"
#include "viridian/execute/cpu/version.hpp"

namespace viridian::execute {
namespace {

constexpr int most_threads = 1024;

// The state in which another library's OpenMP comes before ours (pool/openmp.hpp).
constexpr std::string_view on_one_thread = ", oneDNN on one thread";

std::string usual_library() {
    const dnnl_version_t* version = dnnl_version();
    return fmt::format("dnnl {}.{}.{}, viridian {}", version->major, version->minor, version->patch,
                       cpu::kernels_version());
}

class CpuDevice final : public Device {
  public:
    CpuDevice(cpu::Context context, const CpuOptions& options, std::string fingerprint,
              std::vector<int> processors)
        : options_(options),
          context_(std::move(context)),
          asking_(context_),
          fingerprint_(std::move(fingerprint)),
          processors_(std::move(processors)),
          timer_(asking_) {
        asking_.packed = std::make_shared<cpu::PackedConstants>(cpu::PackedConstants::Contents::left_out);
    }

    std::string name() const override { return "cpu"; }
    std::string fingerprint() const override { return fingerprint_; }
    // Prices of oneDNN on one thread are not those of the usual state, but the plans are the same.
    std::string library() const override {
        return usual_library() + std::string(cpu::onednn_runs_on_crews() ? "" : on_one_thread);
    }
    bool runs_plans_of(std::string_view made_with) const override {
        if (made_with.ends_with(on_one_thread)) made_with.remove_suffix(on_one_thread.size());
        return made_with == usual_library();
    }
    int threads() const override { return context_.threads; }
    std::vector<int> processors() const override { return processors_; }
    Bytes capacity() const override { return this_machine().memory; }

    Result<std::vector<plan::Choice>> choices(const graph::Graph& graph,
                                              const plan::Region& region) override {
        const cpu::Task task{asking_, graph, region};
        for (const auto* list : {&region.inputs, &region.constants, &region.outputs})
            for (const graph::ValueId id : *list)
                if (!graph.value(id).type.known())
                    return fail(
                        ErrorCode::unsupported,
                        "bind every dimension with --dim NAME=VALUE; a shape that depends on data runs "
                        "with `viridian run --device reference`",
                        "the shape of `{}` is not known: {}", graph.value(id).name,
                        graph::text(graph.value(id).type));
        return offers_of(cpu::families(), task);
    }

    // Asks the family of the kernel's name alone.
    std::optional<plan::Choice> offered(const graph::Graph& graph, const plan::Region& region,
                                        const plan::Choice& choice, bool bf16) override {
        const cpu::Family* family = cpu::family_of(choice.kernel);
        if (family == nullptr) return std::nullopt;
        cpu::Context context = asking_.on(choice.threads < asking_.threads ? choice.threads : 0);
        context.allowances.bf16 = bf16;
        auto all = offers_of({family, 1}, cpu::Task{context, graph, region});
        if (!all.ok()) return std::nullopt;
        for (plan::Choice& own : *all) own.threads = choice.threads;
        const auto found = std::ranges::find(*all, choice.key(), &plan::Choice::key);
        return found == all->end() ? std::nullopt : std::optional(std::move(*found));
    }

    Result<std::unique_ptr<Executable>> prepare(const graph::Graph& graph, const plan::Plan& plan) override {
        return cpu::prepare_plan(context_, graph, plan);
    }

    Result<std::unique_ptr<Executable>> prepare_consuming(graph::Graph& graph,
                                                          const plan::Plan& plan) override {
        return cpu::prepare_plan(context_, graph, plan, &graph);
    }

    Result<std::unique_ptr<StepTimer>> make_step_timer(const graph::Graph& graph,
                                                       const plan::Plan& plan) override {
        return cpu::make_step_timer(context_, graph, plan);
    }

    Result<Timing> time(const graph::Graph& graph, const plan::Region& region, const plan::Choice& choice,
                        const TimingProtocol& protocol) override {
        return timer_.time(cpu::Task{asking_, graph, region}, choice, protocol);
    }

    Result<Timing> time_conversion(const graph::Dims& dims, const plan::Format& from, const plan::Format& to,
                                   const TimingProtocol& protocol) override {
        return timer_.time_conversion(dims, from, to, protocol);
    }

    Result<void> repeat(const graph::Graph& graph, const plan::Region& region, const plan::Choice& choice,
                        const TimingProtocol& protocol, Seconds at_least, const Window& window) override {
        return timer_.repeat(cpu::Task{asking_, graph, region}, choice, protocol, at_least, window);
    }

    Result<void> repeat_conversion(const graph::Dims& dims, const plan::Format& from, const plan::Format& to,
                                   Seconds at_least, const Window& window) override {
        return timer_.repeat_conversion(dims, from, to, at_least, window);
    }

    // Threads that share a processor would wait for each other's time slices.
    Seconds core_to_core_latency() override {
        const bool apart = static_cast<std::size_t>(context_.threads) <= physical_cpus().size();
        return apart ? cpu::core_to_core_latency(*context_.pool) : Seconds();
    }

    Result<std::unique_ptr<Device>> on_threads(int threads) override {
        CpuOptions fewer = options_;
        fewer.threads = threads;
        return make_cpu_device(fewer);
    }
    Seconds wake_latency() override { return cpu::wake_latency(*context_.pool); }

  private:
    static Result<std::vector<plan::Choice>> offers_of(std::span<const cpu::Family> families,
                                                       const cpu::Task& task) {
        const cpu::NoPrimitiveCache no_cache;
        return cpu::with_crew(*task.context.pool, [&]() -> Result<std::vector<plan::Choice>> {
            const int threads = task.context.threads;
            const cpu::OnThreads on(threads == task.context.pool->threads() ? 0 : threads);
            std::vector<plan::Choice> all;
            for (const cpu::Family& family : families)
                if (task.reads_first_output() || family.any_outputs)
                    std::ranges::move(family.offers(task), std::back_inserter(all));
            cpu::keep_safe(task, all);
            return all;
        });
    }

    const CpuOptions options_;
    cpu::Context context_;
    cpu::Context asking_;  // of what is offered and timed, never computed
    std::string fingerprint_;
    std::vector<int> processors_;
    cpu::Timer timer_;
};

}  // namespace

bool multiplies_bf16() {
    const Machine machine = this_machine();
    const auto isa = dnnl::get_effective_cpu_isa();
    return (machine.has("avx512_bf16") || machine.has("amx_bf16")) &&
           (isa == dnnl::cpu_isa::avx512_core_bf16 || isa == dnnl::cpu_isa::avx512_core_amx);
}

PinnedCaller::PinnedCaller(bool pin)
    : restores_(pin && sched_getaffinity(0, sizeof before_, &before_) == 0 &&
                pin_thread(physical_cpus()[0]).ok()) {}

PinnedCaller::~PinnedCaller() {
    if (restores_) sched_setaffinity(0, sizeof before_, &before_);
}

Result<std::unique_ptr<Device>> make_cpu_device(const CpuOptions& options) {
    const Machine machine = this_machine();
    if (!machine.has("avx2"))
        return fail(ErrorCode::no_device, "use a processor of 2013 or later", "this processor has no AVX2");
    std::vector<int> cpus = physical_cpus();
    int threads = options.threads;
    if (threads <= 0) {
        VIRIDIAN_TRY(threads, default_threads());
    }
    if (threads > most_threads)
        return fail(ErrorCode::invalid_argument, "give at most as many --threads as cores",
                    "{} threads were asked for, at most {} are possible", threads, most_threads);
    const bool pins = options.pin && static_cast<std::size_t>(threads) <= cpus.size();
    if (pins) cpus.resize(static_cast<std::size_t>(threads));
    auto pool = std::make_shared<cpu::Pool>(threads, pins ? cpus : std::vector<int>());
    VIRIDIAN_TRY(cpu::Pool::Call(*pool).enter());
    try {
        dnnl::engine engine(dnnl::engine::kind::cpu, 0);
        cpu::Context context{engine,
                             dnnl::stream(engine),
                             threads,
                             options.allowances,
                             std::make_shared<cpu::PackedConstants>(),
                             std::move(pool),
                             options.memory,
                             multiplies_bf16()};
        return std::unique_ptr<Device>(
            std::make_unique<CpuDevice>(std::move(context), options, machine.fingerprint(), std::move(cpus)));
    } catch (const dnnl::error& error) {
        return fail(ErrorCode::device_failed, "reinstall libdnnl", "oneDNN does not start: {}", error.what());
    }
}

}  // namespace viridian::execute
