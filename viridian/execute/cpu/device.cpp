#include "viridian/execute/cpu/device.hpp"

#include <algorithm>
#include <set>

#include "viridian/base/machine.hpp"
#include "viridian/execute/cpu/executable.hpp"
#include "viridian/execute/cpu/hand_over.hpp"
#include "viridian/execute/cpu/in_turn.hpp"
#include "viridian/execute/cpu/precision.hpp"
#include "viridian/execute/cpu/threads.hpp"
#include "viridian/execute/cpu/timing.hpp"
#include "viridian/execute/cpu/version.hpp"
#include "viridian/execute/proof.hpp"

namespace viridian::execute {
namespace {

// The processor's instructions, as far as oneDNN was let use them.
bool bf16_runs(const Machine& machine) {
    const auto isa = dnnl::get_effective_cpu_isa();
    return (machine.has("avx512_bf16") || machine.has("amx_bf16")) &&
           (isa == dnnl::cpu_isa::avx512_core_bf16 || isa == dnnl::cpu_isa::avx512_core_amx);
}

class CpuDevice final : public Device {
  public:
    CpuDevice(cpu::Context context, std::string fingerprint)
        : context_(std::move(context)),
          asking_(context_),
          fingerprint_(std::move(fingerprint)),
          timer_(asking_) {
        asking_.packed = std::make_shared<cpu::PackedConstants>(cpu::PackedConstants::Contents::left_out);
    }

    std::string name() const override { return "cpu"; }
    std::string fingerprint() const override { return fingerprint_; }
    std::string library() const override {
        const dnnl_version_t* version = dnnl_version();
        return fmt::format("dnnl {}.{}.{}, viridian {}", version->major, version->minor, version->patch,
                           cpu::kernels_version);
    }
    int threads() const override { return context_.threads; }
    Bytes capacity() const override { return this_machine().memory; }

    Result<std::vector<plan::Choice>> choices(const graph::Graph& graph,
                                              const plan::Region& region) override {
        const cpu::ThreadCount threads(context_.threads);
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
        std::vector<plan::Choice> all;
        for (const cpu::Family& family : cpu::families())
            for (plan::Choice& choice : offers_of(family, task)) all.push_back(std::move(choice));
        cpu::keep_safe(task, all);
        return all;
    }

    // Its kernel's family alone is asked.
    bool offers(const graph::Graph& graph, const plan::Region& region, const plan::Choice& choice,
                bool bf16) const {
        const cpu::Family* family = cpu::family_of(choice.kernel);
        if (family == nullptr) return false;
        const cpu::ThreadCount threads(context_.threads);
        cpu::Context context = asking_;
        context.allowances.bf16 = bf16;
        const cpu::Task task{context, graph, region};
        std::vector<plan::Choice> all = offers_of(*family, task);
        cpu::keep_safe(task, all);
        return std::ranges::any_of(
            all, [&](const plan::Choice& offered) { return offered.key() == choice.key(); });
    }

    Result<std::unique_ptr<Executable>> prepare(const graph::Graph& graph, const plan::Plan& plan) override {
        return cpu::prepare_plan(context_, graph, plan);
    }

    Result<std::unique_ptr<Executable>> prepare_consuming(graph::Graph& graph,
                                                          const plan::Plan& plan) override {
        return cpu::prepare_plan(context_, graph, plan, &graph);
    }

    Result<std::unique_ptr<InTurn>> in_turn(const graph::Graph& graph, const plan::Plan& plan) override {
        return cpu::make_in_turn(context_, graph, plan);
    }

    Result<Timing> time(const graph::Graph& graph, const plan::Region& region, const plan::Choice& choice,
                        const TimingProtocol& protocol) override {
        return timer_.time(cpu::Task{asking_, graph, region}, choice, protocol);
    }

    Result<Timing> time_conversion(const graph::Dims& dims, const plan::Format& from, const plan::Format& to,
                                   const TimingProtocol& protocol) override {
        return timer_.time_conversion(dims, from, to, protocol);
    }

    // Threads that share a processor would wait for each other's time slices.
    Seconds hand_over() override {
        const bool apart = static_cast<std::size_t>(context_.threads) <= physical_cpus().size();
        return apart ? cpu::hand_over(context_.threads) : Seconds();
    }

  private:
    static std::vector<plan::Choice> offers_of(const cpu::Family& family, const cpu::Task& task) {
        if (!task.reads_first_output() && !family.any_outputs) return {};
        return family.offers(task);
    }

    cpu::Context context_;
    cpu::Context asking_;  // of what is offered and timed, never computed
    std::string fingerprint_;
    cpu::Timer timer_;
};

}  // namespace

Result<std::unique_ptr<Device>> make_cpu_device(const CpuOptions& options) {
    const Machine machine = this_machine();
    if (!machine.has("avx2"))
        return fail(ErrorCode::no_device, "use a processor of 2013 or later", "this processor has no AVX2");
    if (options.allowances.bf16 && !bf16_runs(machine))
        return fail(ErrorCode::no_device, "leave out `--allow bf16`",
                    "this processor has no bf16 instructions (AVX512_BF16 or AMX)");
    const std::vector<int> cpus = physical_cpus();
    const int threads =
        options.threads > 0 ? options.threads : static_cast<int>(std::max<std::size_t>(1, cpus.size()));
    if (threads > 1024)
        return fail(ErrorCode::invalid_argument, "give at most as many --threads as cores",
                    "{} threads were asked for", threads);
    if (options.pin && static_cast<std::size_t>(threads) <= cpus.size())
        cpu::parallel(threads, [&](int thread) {
            // A processor that refuses is no reason to stop: the thread just floats.
            const auto pinned = pin_thread(cpus[static_cast<std::size_t>(thread)]);
            static_cast<void>(pinned);
        });
    try {
        // oneDNN 2.6.3's cache keeps keys that outlive what they point to: iterating implementations between
        // the makings of primitives crashes in it.
        dnnl::set_primitive_cache_capacity(0);
        dnnl::engine engine(dnnl::engine::kind::cpu, 0);
        cpu::Context context{engine, dnnl::stream(engine), threads, options.allowances,
                             std::make_shared<cpu::PackedConstants>()};
        return std::unique_ptr<Device>(
            std::make_unique<CpuDevice>(std::move(context), machine.fingerprint()));
    } catch (const dnnl::error& error) {
        return fail(ErrorCode::device_failed, "reinstall libdnnl", "oneDNN does not start: {}", error.what());
    }
}

Result<void> check_offered(Device& device, const graph::Graph& graph, const plan::Plan& plan) {
    const auto* cpu = dynamic_cast<const CpuDevice*>(&device);
    invariant(cpu != nullptr, "plans that are read run on the processor");
    VIRIDIAN_TRY(const std::vector<plan::Region> candidates, plan::candidate_regions(graph));
    std::set<std::vector<graph::NodeId>> known;
    for (const plan::Region& region : candidates) known.insert(region.nodes);
    const bool bf16 = rounds(graph, plan);
    std::set<std::string> seen;
    for (const auto& [region, choice] : plan.assignment.regions) {
        std::string key = plan::signature(graph, region) + choice.key();
        for (const bool dies : region.dies) key += dies ? " dies" : " stays";
        if (known.contains(region.nodes) &&
            (!seen.insert(std::move(key)).second || cpu->offers(graph, region, choice, bf16)))
            continue;
        return fail(ErrorCode::mismatch, "run it with --retune, or run `viridian optimize` here",
                    "the plan gives `{}` a kernel that does not do it: {}",
                    graph.node(region.nodes.back()).name, choice.key());
    }
    return {};
}

}  // namespace viridian::execute
