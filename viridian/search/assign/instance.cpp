#include "viridian/search/assign/instance.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "viridian/plan/precision.hpp"

namespace viridian::search {
namespace {

using graph::NodeId;
using graph::ValueId;

constexpr std::uint32_t no_flow = 0xffffffffU;

Result<graph::Dims> dims_of(const graph::Graph& graph, ValueId value) {
    const graph::Value& v = graph.value(value);
    if (!v.type.known())
        return fail(ErrorCode::unsupported, "bind every symbolic dimension with --dim NAME=SIZE",
                    "the shape of `{}` is {}, so that its kernels have no cost", v.name, text(v.type));
    return v.type.dims();
}

Traffic bytes_of(const graph::Graph& graph, const plan::Region& region, const plan::Choice& choice) {
    std::int64_t sum = 0;
    const auto add = [&](ValueId value, const plan::Format& format) {
        if (graph.value(value).type.known())
            sum += plan::buffer_bytes(format, graph.value(value).type.dims());
    };
    for (std::size_t i = 0; i < region.inputs.size(); ++i) add(region.inputs[i], choice.inputs[i]);
    for (std::size_t i = 0; i < region.outputs.size(); ++i) add(region.outputs[i], choice.outputs[i]);
    for (const ValueId value : region.constants)
        if (const graph::Tensor* tensor = graph.constant(value)) sum += tensor->byte_count();
    return Traffic(static_cast<double>(sum));
}

bool moves_nothing(const plan::Choice& choice) {
    return choice.aliasing == plan::Aliasing::view || choice.aliasing == plan::Aliasing::gather;
}

}  // namespace

Result<Instance> Instance::of(const graph::Graph& graph, const cost::PriceSource& source,
                              const AssignOptions& options) {
    VIRIDIAN_TRY(const std::vector<plan::Region> regions, plan::candidate_regions(graph));
    return make(graph, regions, source, options.boundary, options.keep_f32);
}

Result<Instance> Instance::make(const graph::Graph& graph, std::span<const plan::Region> regions,
                                const cost::PriceSource& source, const Boundary& boundary,
                                std::span<const NodeId> keep_f32) {
    Instance out;
    out.graph_ = &graph;
    VIRIDIAN_TRY(out.nodes_, topological_order(graph));
    VIRIDIAN_TRY(out.gather_candidates(regions, source, keep_f32));
    VIRIDIAN_TRY(out.gather_flows(boundary));
    out.drop_illegal();
    for (const NodeId node : out.nodes_)
        if (out.candidates_of(node).empty())
            return fail(ErrorCode::unsupported, "list what this device can do with `viridian doctor`",
                        "no kernel does `{}` ({})", graph.node(node).name, graph.node(node).op);
    VIRIDIAN_TRY(out.price_conversions(source));
    return out;
}

FormatId Instance::number(const plan::Format& format) {
    const auto [at, fresh] =
        format_numbers_.try_emplace(text(format), static_cast<FormatId>(formats_.size()));
    if (fresh) formats_.push_back(format);
    return at->second;
}

const Flow* Instance::flow(ValueId value) const {
    const std::uint32_t at = flow_of_[index(value)];
    return at == no_flow ? nullptr : &flows_[at];
}

Result<void> Instance::gather_candidates(std::span<const plan::Region> regions,
                                         const cost::PriceSource& source, std::span<const NodeId> keep_f32) {
    std::vector<bool> exact = plan::f32_nodes(*graph_);
    for (const NodeId node : keep_f32) exact[index(node)] = true;
    for (const plan::Region& region : regions) {
        VIRIDIAN_TRY(std::vector<cost::PricedChoice> choices, source.choices(*graph_, region));
        Candidate candidate{region, {}};
        const Operations flop(plan::flop(*graph_, region));
        for (cost::PricedChoice& priced : choices) {
            invariant(priced.choice.inputs.size() == region.inputs.size() &&
                          priced.choice.outputs.size() == region.outputs.size(),
                      "a choice has a format per port of its region");
            if (plan::rounds_at(*graph_, region, priced.choice, exact) ||
                plan::rounds_state(*graph_, region, priced.choice))
                continue;
            Option option;
            option.metrics = {priced.price.seconds, priced.price.energy.value, {}, {}, {}};
            if (!moves_nothing(priced.choice)) {
                option.metrics.flop = flop;
                option.metrics.bytes = bytes_of(*graph_, region, priced.choice);
                option.metrics.kernels = Launches(1);
            }
            if (!std::isfinite(option.metrics.seconds.value) || !std::isfinite(option.metrics.joules.value))
                return fail(ErrorCode::malformed, "profile the model again with a fresh --db",
                            "kernel `{}` of `{}` has no finite cost", priced.choice.kernel,
                            graph_->node(region.nodes.front()).name);
            for (const plan::Format& format : priced.choice.inputs) option.inputs.push_back(number(format));
            for (const plan::Format& format : priced.choice.outputs) option.outputs.push_back(number(format));
            option.choice = std::move(priced.choice);
            option.price = std::move(priced.price);
            candidate.options.push_back(std::move(option));
        }
        if (!candidate.options.empty()) candidates_.push_back(std::move(candidate));
    }
    return {};
}

Result<void> Instance::gather_flows(const Boundary& boundary) {
    const graph::Uses uses = graph::uses(*graph_);
    flow_of_.assign(graph_->value_count(), no_flow);
    for (std::size_t i = 0; i < graph_->value_count(); ++i) {
        const auto value = static_cast<ValueId>(i);
        const graph::Value& v = graph_->value(value);
        const bool produced = graph_->producer(value) != nullptr;
        if (v.kind == graph::ValueKind::constant || (v.kind == graph::ValueKind::intermediate && !produced))
            continue;
        if (uses.count(value) == 0) continue;
        Flow flow;
        flow.value = value;
        VIRIDIAN_TRY(flow.dims, dims_of(*graph_, value));
        std::ranges::unique_copy(uses.readers(value), std::back_inserter(flow.readers));
        if (produced) flow.producer = v.producer;
        if (!produced || uses.outputs(value) > 0) {
            const auto fixed = boundary.find(value);
            const FormatId edge = number(
                fixed != boundary.end() ? fixed->second
                                        : plan::Format{plan::plain(flow.dims.size()), v.type.element, {}});
            if (!produced) flow.given = edge;
            if (uses.outputs(value) > 0) flow.demanded = edge;
        }
        flow_of_[i] = static_cast<std::uint32_t>(flows_.size());
        flows_.push_back(std::move(flow));
    }
    return {};
}

// What can be told of a choice alone; what depends on a neighbour's choice becomes a pair cost (encode.cpp).
bool Instance::legal(const Candidate& candidate, const Option& option) const {
    const plan::Region& region = candidate.region;
    const auto on_boundary = [&](ValueId value) {
        const Flow* f = flow(value);
        return f != nullptr && f->boundary();
    };
    switch (option.choice.aliasing) {
        case plan::Aliasing::none:
        case plan::Aliasing::view:
            return true;
        case plan::Aliasing::overwrite: {
            const std::size_t i = option.choice.overwritten;
            return i < region.inputs.size() && i < region.dies.size() && region.dies[i] &&
                   !on_boundary(region.inputs[i]) && !region.outputs.empty() &&
                   !on_boundary(region.outputs[0]);
        }
        case plan::Aliasing::gather: {
            // A constant or repeated input has no slice of its own to be written into.
            std::size_t slots = 0;
            for (const ValueId value : graph_->node(candidate.head()).inputs)
                slots += value != ValueId::none ? 1 : 0;
            return region.nodes.size() == 1 && slots == region.inputs.size() &&
                   std::none_of(region.inputs.begin(), region.inputs.end(), on_boundary) &&
                   std::none_of(region.outputs.begin(), region.outputs.end(), on_boundary);
        }
    }
    return false;
}

bool Instance::may_be_overwritten(const Candidate& candidate, const Option& option) const {
    const auto sole_reader = [&](ValueId value) {
        const Flow* f = flow(value);
        return f != nullptr && !f->boundary() && f->readers.size() == 1;
    };
    switch (option.choice.aliasing) {
        case plan::Aliasing::none:
        case plan::Aliasing::overwrite:
            return true;
        case plan::Aliasing::gather:
            return std::all_of(candidate.region.inputs.begin(), candidate.region.inputs.end(), sole_reader);
        case plan::Aliasing::view: {
            if (candidate.region.inputs.empty() || !sole_reader(candidate.region.inputs[0])) return false;
            // A view of what is a view or a slice itself: not followed further.
            for (const std::uint32_t c : candidates_of(flow(candidate.region.inputs[0])->producer))
                for (const Option& other : candidates_[c].options)
                    if (moves_nothing(other.choice)) return false;
            return true;
        }
    }
    return false;
}

void Instance::drop_illegal() {
    for (Candidate& candidate : candidates_)
        std::erase_if(candidate.options, [&](const Option& option) { return !legal(candidate, option); });
    std::erase_if(candidates_, [](const Candidate& candidate) { return candidate.options.empty(); });
    candidates_of_.assign(graph_->node_slots(), {});
    for (std::uint32_t c = 0; c < candidates_.size(); ++c)
        for (const NodeId node : candidates_[c].region.nodes) candidates_of_[index(node)].push_back(c);
    for (Candidate& candidate : candidates_)
        for (Option& option : candidate.options) option.overwritable = may_be_overwritten(candidate, option);
}

plan::Conversion Instance::conversion(const Flow& flow, FormatId from, FormatId to) const {
    const auto price = conversion_prices_.find({flow.dims, from, to});
    invariant(price != conversion_prices_.end(), "a conversion that a solver chose has a price");
    return {flow.value, format(from), format(to), price->second};
}

Result<void> Instance::price_conversions(const cost::PriceSource& source) {
    std::vector<std::set<FormatId>> made(flows_.size()), wanted(flows_.size());
    for (std::size_t f = 0; f < flows_.size(); ++f) {
        if (flows_[f].given) made[f].insert(*flows_[f].given);
        if (flows_[f].demanded) wanted[f].insert(*flows_[f].demanded);
    }
    for (const Candidate& candidate : candidates_)
        for (const Option& option : candidate.options) {
            for (std::size_t i = 0; i < option.inputs.size(); ++i)
                wanted[flow_of_[index(candidate.region.inputs[i])]].insert(option.inputs[i]);
            for (std::size_t i = 0; i < option.outputs.size(); ++i)
                if (const std::uint32_t f = flow_of_[index(candidate.region.outputs[i])]; f != no_flow)
                    made[f].insert(option.outputs[i]);
        }
    using Shared = std::tuple<graph::Dims, std::set<FormatId>, std::set<FormatId>>;
    std::map<Shared, std::shared_ptr<const Conversions>> known;
    for (std::size_t f = 0; f < flows_.size(); ++f) {
        Flow& flow = flows_[f];
        auto& shared = known[{flow.dims, made[f], wanted[f]}];
        if (shared == nullptr) {
            const auto price = [&](FormatId from, FormatId to) -> Result<Metrics> {
                const auto key = std::tuple(flow.dims, from, to);
                auto at = conversion_prices_.find(key);
                if (at == conversion_prices_.end()) {
                    VIRIDIAN_TRY(cost::Price asked, source.conversion(flow.dims, format(from), format(to)));
                    at = conversion_prices_.emplace(key, std::move(asked)).first;
                }
                const Traffic bytes(static_cast<double>(plan::buffer_bytes(format(from), flow.dims) +
                                                        plan::buffer_bytes(format(to), flow.dims)));
                return Metrics{at->second.seconds, at->second.energy.value, {}, bytes, Launches(1)};
            };
            VIRIDIAN_TRY(Conversions conversions,
                         Conversions::make({made[f].begin(), made[f].end()},
                                           {wanted[f].begin(), wanted[f].end()}, price));
            shared = std::make_shared<const Conversions>(std::move(conversions));
        }
        flow.conversions = shared;
    }
    return {};
}

}  // namespace viridian::search
