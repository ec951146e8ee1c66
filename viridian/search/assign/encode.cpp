#include "viridian/search/assign/encode.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "viridian/search/assign/in_place.hpp"

namespace viridian::search {

using graph::NodeId;

Encoding::Encoding(const Instance& instance, const Weights& weights, const EncodeOptions& options,
                   std::span<const Weights> comparing)
    : instance_(&instance) {
    if (comparing.empty()) comparing = {&weights, 1};
    exact_sets_ = std::any_of(comparing.begin(), comparing.end(),
                              [](const Weights& w) { return w.seconds < 0 || w.joules < 0; });
    choose_options(comparing);
    add_node_variables(weights);
    for (std::size_t f = 0; f < instance.flows().size(); ++f) add_value(f, weights, options);
    tie_regions();
    for (const Flow& flow : instance.flows()) forbid_clashes(flow);
}

// Of choices with the same formats at every port and the same aliasing, only the cheapest can be in an
// optimum; under several weights, those that are not dominated.
void Encoding::choose_options(std::span<const Weights> comparing) {
    for (const Candidate& c : instance_->candidates()) {
        std::map<std::tuple<std::vector<FormatId>, std::vector<FormatId>, plan::Aliasing, std::size_t>,
                 std::vector<std::uint32_t>>
            alike;
        const auto no_worse = [&](std::uint32_t a, std::uint32_t b) {
            return std::all_of(comparing.begin(), comparing.end(), [&](const Weights& w) {
                return w.of(c.options[a].metrics) <= w.of(c.options[b].metrics);
            });
        };
        for (std::uint32_t o = 0; o < c.options.size(); ++o) {
            const Option& option = c.options[o];
            const std::size_t taken =
                option.choice.aliasing == plan::Aliasing::overwrite ? option.choice.overwritten : 0;
            std::vector<std::uint32_t>& best =
                alike[{option.inputs, option.outputs, option.choice.aliasing, taken}];
            if (std::any_of(best.begin(), best.end(), [&](std::uint32_t b) { return no_worse(b, o); }))
                continue;
            std::erase_if(best, [&](std::uint32_t b) { return no_worse(o, b); });
            best.push_back(o);
        }
        std::vector<std::uint32_t> kept;
        for (const auto& [ports, best] : alike) kept.insert(kept.end(), best.begin(), best.end());
        std::sort(kept.begin(), kept.end());
        kept_.push_back(std::move(kept));
    }
}

void Encoding::add_node_variables(const Weights& weights) {
    picks_.resize(instance_->graph().node_slots());
    variable_of_.resize(picks_.size());
    for (const NodeId node : instance_->nodes()) {
        std::vector<double> costs;
        for (const std::uint32_t c : instance_->candidates_of(node))
            for (const std::uint32_t o : kept_[c]) {
                picks_[index(node)].push_back({c, o});
                const Candidate& region = instance_->candidates()[c];
                costs.push_back(region.head() == node ? weights.of(region.options[o].metrics) : 0);
            }
        variable_of_[index(node)] = problem_.add_variable(std::move(costs));
    }
}

// Members of a region take it together, with the same choice. A value that stays inside says so already; what
// is not joined that way is joined directly.
void Encoding::tie_regions() {
    const auto& candidates = instance_->candidates();
    std::vector<std::vector<std::size_t>> flows_from(instance_->graph().node_slots());
    for (std::size_t f = 0; f < instance_->flows().size(); ++f)
        if (const NodeId producer = instance_->flows()[f].producer; producer != NodeId::none)
            flows_from[index(producer)].push_back(f);
    for (std::uint32_t c = 0; c < candidates.size(); ++c) {
        const plan::Region& region = candidates[c].region;
        if (region.nodes.size() < 2) continue;
        std::vector<std::size_t> group(region.nodes.size());
        std::iota(group.begin(), group.end(), std::size_t{0});
        const auto root = [&](std::size_t i) {
            while (group[i] != i) i = group[i];
            return i;
        };
        const auto position = [&](NodeId node) {
            return static_cast<std::size_t>(std::find(region.nodes.begin(), region.nodes.end(), node) -
                                            region.nodes.begin());
        };
        for (const bool joined : {true, false})
            for (std::size_t m = 0; m < region.nodes.size(); ++m)
                for (const std::size_t f : flows_from[index(region.nodes[m])]) {
                    const Flow& flow = instance_->flows()[f];
                    const bool leaves = std::find(region.outputs.begin(), region.outputs.end(), flow.value) !=
                                        region.outputs.end();
                    if ((!values_[f].booleans && !leaves) != joined) continue;
                    for (const NodeId reader : flow.readers) {
                        const std::size_t other = position(reader);
                        if (other == region.nodes.size() || root(other) == root(m)) continue;
                        group[root(other)] = root(m);
                        if (!joined) tie(region.nodes[m], reader, c);
                    }
                }
        for (std::size_t m = 1; m < region.nodes.size(); ++m)
            if (root(m) != root(0)) {
                tie(region.nodes[0], region.nodes[m], c);
                group[root(m)] = root(0);
            }
    }
}

void Encoding::tie(NodeId a, NodeId b, std::uint32_t candidate) {
    const auto& left = picks(a);
    const auto& right = picks(b);
    Matrix cost(left.size(), right.size());
    for (std::size_t i = 0; i < left.size(); ++i)
        for (std::size_t j = 0; j < right.size(); ++j)
            if ((left[i].candidate == candidate || right[j].candidate == candidate) && !(left[i] == right[j]))
                cost(i, j) = infinite;
    problem_.add_cost(variable(a), variable(b), cost);
}

void Encoding::forbid_clashes(const Flow& flow) {
    const auto chosen = [&](Pick pick) { return Chosen{candidate(pick), option(pick)}; };
    const auto forbid = [&](NodeId a, NodeId b, const auto& clash) {
        Matrix cost(picks(a).size(), picks(b).size());
        bool any = false;
        for (std::size_t i = 0; i < cost.rows(); ++i)
            for (std::size_t j = 0; j < cost.columns(); ++j)
                if (clash(picks(a)[i], picks(b)[j])) {
                    cost(i, j) = infinite;
                    any = true;
                }
        if (any) problem_.add_cost(variable(a), variable(b), cost);
    };
    const bool own_states = flow.readers.size() == 1;  // they keep gathered values apart already
    for (const NodeId reader : flow.readers)
        if (flow.producer != NodeId::none)
            forbid(flow.producer, reader, [&](Pick writer, Pick user) {
                return !(own_states && gathers(user, flow.value)) &&
                       writer_clashes(chosen(writer), chosen(user), flow.value);
            });
    for (std::size_t i = 0; i < flow.readers.size(); ++i)
        for (std::size_t j = i + 1; j < flow.readers.size(); ++j)
            forbid(flow.readers[i], flow.readers[j], [&](Pick a, Pick b) {
                return a.candidate != b.candidate && readers_clash(chosen(a), chosen(b), flow.value);
            });
}

Encoding::Decoded Encoding::decode(std::span<const State> states) const {
    Decoded out;
    const auto pick_of = [&](NodeId node) { return picks(node)[states[variable(node)]]; };
    for (const NodeId node : instance_->nodes()) {
        const Pick pick = pick_of(node);
        if (candidate(pick).head() != node) continue;
        out.assignment.regions.push_back({candidate(pick).region, option(pick).choice, option(pick).price});
        out.totals += option(pick).metrics;
    }
    for (std::size_t f = 0; f < values_.size(); ++f) {
        const Flow& flow = instance_->flows()[f];
        const auto from = flow.given ? flow.given : made(pick_of(flow.producer), flow.value);
        if (!from) continue;
        Conversions::Set set = 0;
        if (values_[f].booleans) {
            for (std::size_t i = 0; i < flow.conversions->wanted().size(); ++i)
                set |= Conversions::Set{states[values_[f].first + i]} << i;
        } else {
            set = values_[f].links.back()[states[values_[f].last()]].set;
        }
        const bool direct = values_[f].booleans || !flow.conversions->trees();
        const auto edges = direct ? flow.conversions->star(*from, set) : flow.conversions->tree(*from, set);
        for (const auto& [source, target] : edges)
            out.assignment.conversions.push_back(instance_->conversion(flow, source, target));
        out.totals += direct ? flow.conversions->star_cost(*from, set) : flow.conversions->cost(*from, set);
    }
    return out;
}

}  // namespace viridian::search
