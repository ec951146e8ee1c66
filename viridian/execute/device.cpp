#include "viridian/execute/device.hpp"

#include <algorithm>
#include <map>
#include <new>
#include <set>

#include "viridian/execute/resting.hpp"
#include "viridian/plan/precision.hpp"

namespace viridian::execute {
namespace {

// The queue of a device that has done a run when run() returns.
class InlineQueue final : public Queue {
  public:
    Mark record() override { return {}; }
    Result<void> wait(Mark) override { return {}; }
};

}  // namespace

Result<void> Executable::submit(Queue&, std::span<const graph::Tensor> inputs,
                                std::span<graph::Tensor> outputs) {
    return run(inputs, outputs);
}

namespace {

Error no_such_state(std::size_t i) {
    return fail(ErrorCode::missing_entry, "ask for a state that the model has", "there is no state {}", i);
}

}  // namespace

void rest(Executable& executable) {
    if (auto* resting = dynamic_cast<Resting*>(&executable)) resting->rest();
}

Result<void> share_states(Executable& executable, Executable& owner) {
    if (auto* resting = dynamic_cast<Resting*>(&executable)) return resting->share_states(owner);
    return fail(ErrorCode::unsupported, "prepare both on the processor", "the executable shares no states");
}

Result<graph::Tensor> Executable::state(std::size_t i) const { return no_such_state(i); }
Result<void> Executable::set_state(std::size_t i, const graph::Tensor&) { return no_such_state(i); }
Result<StateMemory> Executable::state_memory(std::size_t i) { return no_such_state(i); }

Result<void> run_on(Executable& executable, std::span<const graph::Tensor> given,
                    std::span<graph::Tensor> outputs) {
    const std::size_t states = executable.state_count();
    if (given.size() < states)
        return fail(ErrorCode::mismatch, "give one tensor per input and state",
                    "{} tensors were given for {} states", given.size(), states);
    return executable.run(given.first(given.size() - states), outputs);
}

Result<graph::Tensor> state_view(Executable& executable, std::size_t i) {
    VIRIDIAN_TRY(const StateMemory memory, executable.state_memory(i));
    const std::shared_ptr<const std::byte> borrowed(std::shared_ptr<void>(), memory.bytes.data());
    return graph::Tensor(memory.format.element, memory.dims, borrowed);
}

Result<std::vector<graph::Tensor>> run_from(Executable& executable, const graph::Graph& graph,
                                            std::span<const graph::Tensor> given, NewStates states) {
    const std::size_t inputs = graph.inputs().size();
    if (given.size() != inputs + executable.state_count())
        return fail(ErrorCode::mismatch, "give one tensor per input and state",
                    "{} tensors were given for {} inputs and {} states", given.size(), inputs,
                    executable.state_count());
    for (std::size_t i = 0; i < executable.state_count(); ++i)
        if (given[inputs + i].type() != graph::ElementType::undefined)
            VIRIDIAN_TRY(executable.set_state(i, given[inputs + i]));
    VIRIDIAN_TRY(std::vector<graph::Tensor> results, output_tensors(graph));
    VIRIDIAN_TRY(executable.run(given.first(inputs), results));
    for (std::size_t i = 0; i < executable.state_count(); ++i) {
        VIRIDIAN_TRY(graph::Tensor state,
                     states == NewStates::views ? state_view(executable, i) : executable.state(i));
        results.push_back(std::move(state));
    }
    return results;
}

Result<std::vector<graph::Tensor>> output_tensors(const graph::Graph& graph) {
    std::vector<graph::Tensor> outputs;
    for (const graph::ValueId id : graph.outputs()) {
        const graph::Value& value = graph.value(id);
        if (!value.type.known())
            return fail(ErrorCode::unsupported, "bind its dimensions with --dim NAME=VALUE",
                        "the shape of the output `{}` is not known: {}", value.name, text(value.type));
        VIRIDIAN_TRY(graph::element_count(value.type.dims()));
        try {
            outputs.emplace_back(value.type.element, value.type.dims());
        } catch (const std::bad_alloc&) {
            return fail(ErrorCode::out_of_memory, "choose smaller sizes with --dim or --batch",
                        "there is no memory for the output `{}`, {}", value.name, text(value.type));
        }
    }
    return outputs;
}

std::unique_ptr<Queue> Device::make_queue() { return std::make_unique<InlineQueue>(); }

Result<void> Device::repeat(const graph::Graph& graph, const plan::Region& region, const plan::Choice& choice,
                            const TimingProtocol& protocol, Seconds at_least, const Window& window) {
    Result<Timing> timed = Timing{};
    window([&] { timed = time(graph, region, choice, {0, at_least, 1, protocol.cached_weights}); });
    if (!timed.ok()) return std::move(timed).error();
    return {};
}

Result<void> Device::repeat_conversion(const graph::Dims& dims, const plan::Format& from,
                                       const plan::Format& to, Seconds at_least, const Window& window) {
    Result<Timing> timed = Timing{};
    window([&] { timed = time_conversion(dims, from, to, {0, at_least, 1, false}); });
    if (!timed.ok()) return std::move(timed).error();
    return {};
}

std::optional<plan::Choice> Device::offered(const graph::Graph& graph, const plan::Region& region,
                                            const plan::Choice& choice, bool) {
    std::unique_ptr<Device> fewer;
    if (choice.threads != 0 && choice.threads != threads()) {
        auto made = on_threads(choice.threads);
        if (!made.ok() || *made == nullptr) return std::nullopt;
        fewer = *std::move(made);
    }
    auto all = (fewer == nullptr ? *this : *fewer).choices(graph, region);
    if (!all.ok()) return std::nullopt;
    for (plan::Choice& own : *all) own.threads = choice.threads;
    const auto found = std::ranges::find(*all, choice.key(), &plan::Choice::key);
    return found == all->end() ? std::nullopt : std::optional(std::move(*found));
}

Result<void> check_offered(Device& device, const graph::Graph& graph, plan::Plan& plan) {
    std::set<std::vector<graph::NodeId>> known;
    const auto add = [&](const std::vector<plan::Region>& candidates) {
        for (const plan::Region& region : candidates) known.insert(region.nodes);
    };
    VIRIDIAN_TRY(const std::vector<plan::Region> chains, plan::chain_regions(graph));
    add(chains);
    const auto is_known = [&](const plan::AssignedRegion& one) { return known.contains(one.region.nodes); };
    if (!std::ranges::all_of(plan.assignment.regions, is_known)) {
        VIRIDIAN_TRY(const std::vector<plan::Region> candidates, plan::candidate_regions(graph));
        add(candidates);
    }
    const bool bf16 = plan::rounds(graph, plan.assignment);
    std::map<std::string, plan::Variant> seen;
    std::map<std::vector<graph::NodeId>, plan::Variant> variants;
    for (auto& [region, choice, price] : plan.assignment.regions) {
        std::string key = plan::signature(graph, region) + choice.key();
        for (const bool dies : region.dies) key += dies ? " dies" : " stays";
        auto at = seen.find(key);
        if (at == seen.end())
            if (const auto offered = device.offered(graph, region, choice, bf16))
                at = seen.emplace(std::move(key), offered->variant).first;
        // What the kernel may find under its outputs follows from the variant, so the plan must not invent
        // one.
        const bool invented =
            at != seen.end() && choice.variant.algorithm != plan::Algorithm::unknown &&
            (choice.variant.algorithm != at->second.algorithm || choice.variant.split != at->second.split);
        if (at == seen.end() || invented || !known.contains(region.nodes))
            return fail(ErrorCode::mismatch, "run it with --retune, or run `viridian optimize` here",
                        "the plan gives `{}` a kernel that does not do it: {}",
                        graph.node(region.nodes.back()).name, choice.key());
        choice.variant = variants[region.nodes] = at->second;
    }
    for (plan::Step& step : plan.steps)
        if (step.kind == plan::Step::Kind::kernel) step.choice.variant = variants[step.region.nodes];
    return {};
}

}  // namespace viridian::execute
