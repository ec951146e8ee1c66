#include "viridian/execute/device.hpp"

#include <algorithm>
#include <map>
#include <new>
#include <set>

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
    VIRIDIAN_TRY(const std::vector<plan::Region> candidates, plan::candidate_regions(graph));
    std::set<std::vector<graph::NodeId>> known;
    for (const plan::Region& region : candidates) known.insert(region.nodes);
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
        if (at == seen.end() || !known.contains(region.nodes))
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
