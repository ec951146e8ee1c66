#include "viridian/search/assign/selection.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "viridian/search/assign/in_place.hpp"
#include "viridian/search/exact/problem.hpp"

namespace viridian::search {

using graph::NodeId;

Selection::Selection(const Instance& instance, std::vector<std::uint32_t> cover)
    : instance_(&instance),
      cover_(std::move(cover)),
      options_(cover_.size(), 0),
      region_of_(instance.graph().node_slots(), 0),
      flows_of_(cover_.size()),
      neighbours_(cover_.size()) {
    for (std::size_t r = 0; r < size(); ++r) {
        const auto& options = candidate(r).options;
        const auto plain = std::find_if(options.begin(), options.end(), [](const Option& option) {
            return option.choice.aliasing == plan::Aliasing::none ||
                   option.choice.aliasing == plan::Aliasing::view;
        });
        if (plain != options.end()) options_[r] = static_cast<std::size_t>(plain - options.begin());
        for (const NodeId node : candidate(r).region.nodes) region_of_[index(node)] = r;
    }
    for (std::size_t f = 0; f < instance.flows().size(); ++f) {
        const Flow& flow = instance.flows()[f];
        std::set<std::size_t> touched;
        if (flow.producer != NodeId::none) touched.insert(region_of(flow.producer));
        for (const NodeId reader : flow.readers) touched.insert(region_of(reader));
        for (const std::size_t r : touched) {
            flows_of_[r].push_back(f);
            for (const std::size_t other : touched)
                if (other != r) neighbours_[r].push_back(other);
        }
    }
    for (auto& list : neighbours_) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
}

std::optional<FormatId> Selection::source(const Flow& flow) const {
    if (flow.given) return flow.given;
    const std::size_t r = region_of(flow.producer);
    return made(candidate(r), candidate(r).options[options_[r]], flow.value);
}

Conversions::Set Selection::demand(const Flow& flow) const {
    Conversions::Set set = flow.demanded ? flow.conversions->bit(*flow.demanded) : 0;
    for (const NodeId reader : flow.readers) {
        const std::size_t r = region_of(reader);
        if (const auto format = wanted(candidate(r), candidate(r).options[options_[r]], flow.value))
            set |= flow.conversions->bit(*format);
    }
    return set;
}

Metrics Selection::flow_cost(const Flow& flow) const {
    const auto chosen = [&](NodeId node) {
        const std::size_t r = region_of(node);
        return Chosen{candidate(r), candidate(r).options[options_[r]]};
    };
    for (std::size_t i = 0; i < flow.readers.size(); ++i) {
        if (flow.producer != NodeId::none &&
            writer_clashes(chosen(flow.producer), chosen(flow.readers[i]), flow.value))
            return Metrics::impossible();
        for (std::size_t j = i + 1; j < flow.readers.size(); ++j)
            if (region_of(flow.readers[i]) != region_of(flow.readers[j]) &&
                readers_clash(chosen(flow.readers[i]), chosen(flow.readers[j]), flow.value))
                return Metrics::impossible();
    }
    const auto from = source(flow);
    return from ? flow.conversions->cost(*from, demand(flow)) : Metrics{};
}

Metrics Selection::totals() const {
    Metrics sum;
    for (std::size_t r = 0; r < size(); ++r) sum += candidate(r).options[options_[r]].metrics;
    for (const Flow& flow : instance_->flows()) sum += flow_cost(flow);
    return sum;
}

Metrics Selection::after(const Metrics& before, std::span<const Change> changes) {
    std::set<std::size_t> flows;
    for (const Change& change : changes)
        flows.insert(flows_of_[change.region].begin(), flows_of_[change.region].end());
    Metrics added, removed;
    for (const Change& change : changes)
        removed += candidate(change.region).options[options_[change.region]].metrics;
    for (const std::size_t f : flows) removed += flow_cost(instance_->flows()[f]);
    std::vector<Change> undo;
    for (const Change& change : changes) {
        undo.push_back({change.region, options_[change.region]});
        options_[change.region] = change.option;
        added += candidate(change.region).options[change.option].metrics;
    }
    for (const std::size_t f : flows) added += flow_cost(instance_->flows()[f]);
    apply(undo);
    return before - removed + added;
}

void Selection::apply(std::span<const Change> changes) {
    for (const Change& change : changes) options_[change.region] = change.option;
}

plan::Assignment Selection::assignment() const {
    plan::Assignment out;
    for (std::size_t r = 0; r < size(); ++r) {
        const Option& chosen = candidate(r).options[options_[r]];
        out.regions.push_back({candidate(r).region, chosen.choice, chosen.price});
    }
    for (const Flow& flow : instance_->flows()) {
        const auto from = source(flow);
        if (!from) continue;
        for (const auto& [a, b] : flow.conversions->tree(*from, demand(flow)))
            out.conversions.push_back(instance_->conversion(flow, a, b));
    }
    return out;
}

Outcome outcome_of(const Selection& selection, const SolverRow& solver) {
    Outcome outcome{selection.assignment(), selection.totals(), {}, 0};
    outcome.assignment.solver = solver.name;
    outcome.assignment.bound = -infinite;
    return outcome;
}

Result<std::vector<std::uint32_t>> single_cover(const Instance& instance) {
    std::vector<std::uint32_t> cover;
    for (const NodeId node : instance.nodes()) {
        const auto& all = instance.candidates_of(node);
        const auto alone = std::find_if(all.begin(), all.end(), [&](std::uint32_t c) {
            return instance.candidates()[c].region.nodes.size() == 1;
        });
        if (alone == all.end())
            return fail(ErrorCode::unsupported, "choose the solver `exact`", "no kernel does `{}` ({}) alone",
                        instance.graph().node(node).name, instance.graph().node(node).op);
        cover.push_back(*alone);
    }
    return cover;
}

std::vector<std::uint32_t> longest_cover(const Instance& instance) {
    std::vector<std::uint32_t> cover;
    std::vector<bool> covered(instance.graph().node_slots(), false);
    for (const NodeId node : instance.nodes()) {
        if (covered[index(node)]) continue;
        std::optional<std::uint32_t> best;
        for (const std::uint32_t c : instance.candidates_of(node)) {
            const Candidate& candidate = instance.candidates()[c];
            const auto& nodes = candidate.region.nodes;
            if (candidate.head() != node ||
                std::any_of(nodes.begin(), nodes.end(), [&](NodeId n) { return covered[index(n)]; }))
                continue;
            if (!best || nodes.size() > instance.candidates()[*best].region.nodes.size()) best = c;
        }
        if (!best) return {};
        cover.push_back(*best);
        for (const NodeId n : instance.candidates()[*best].region.nodes) covered[index(n)] = true;
    }
    return cover;
}

Result<Selection> fused_selection(const Instance& instance) {
    if (std::vector<std::uint32_t> cover = longest_cover(instance); !cover.empty())
        if (Selection selection(instance, std::move(cover)); selection.totals().possible()) return selection;
    VIRIDIAN_TRY(std::vector<std::uint32_t> cover, single_cover(instance));
    Selection selection(instance, std::move(cover));
    if (!selection.totals().possible())
        return fail(ErrorCode::unsupported, "choose the solver `exact`",
                    "the first kernels do not fit together");
    return selection;
}

}  // namespace viridian::search
