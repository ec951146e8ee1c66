#include "viridian/search/encode.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <numeric>

#include "viridian/search/in_place.hpp"

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

std::vector<Encoding::ValueState> Encoding::value_states(const Flow& flow, std::size_t most,
                                                         bool& too_many) const {
    std::vector<ValueState> states;
    const Conversions& conversions = *flow.conversions;
    const std::size_t formats = conversions.wanted().size();
    const std::size_t slots = flow.readers.size() + (flow.demanded ? 1 : 0);
    const Conversions::Set always = flow.demanded ? conversions.bit(*flow.demanded) : 0;
    bool unwanted = false;  // some region has readers inside and writes it out all the same
    if (flow.producer != NodeId::none)
        for (const Pick pick : picks(flow.producer)) {
            if (made(pick, flow.value))
                unwanted = unwanted || candidate(pick).region.nodes.size() > 1;
            else
                states.push_back({ValueState::Kind::internal, 0, pick, {}});
        }
    if (formats > Conversions::most_formats && slots > 1) {
        too_many = true;
        return {};
    }
    // Sets by size, up to one format per reader.
    std::vector<Conversions::Set> layer = {always};
    std::size_t sets = 0;
    for (std::size_t size = static_cast<std::size_t>(std::popcount(always));; ++size) {
        for (const Conversions::Set set : layer) {
            if (set == 0 && !unwanted) continue;
            states.push_back({ValueState::Kind::set, set, {}, {}});
            if (++sets > most) {
                too_many = true;
                return {};
            }
        }
        if (size >= std::min(slots, formats)) break;
        std::vector<Conversions::Set> larger;
        for (const Conversions::Set set : layer) {
            const Conversions::Set optional = set & ~always;
            const auto from = static_cast<std::size_t>(std::bit_width(optional));
            for (std::size_t i = from; i < formats; ++i)
                if (const Conversions::Set bit = Conversions::Set{1} << i; (set & bit) == 0)
                    larger.push_back(set | bit);
        }
        layer = std::move(larger);
    }
    if (flow.readers.size() == 1) {
        Conversions::Set gathered = 0;
        for (const Pick pick : picks(flow.readers[0]))
            if (gathers(pick, flow.value)) gathered |= conversions.bit(*wanted(pick, flow.value));
        for (std::size_t i = 0; i < formats; ++i)
            if ((gathered >> i & 1U) != 0)
                states.push_back({ValueState::Kind::own, Conversions::Set{1} << i, {}, {}});
    }
    return states;
}

// Each set once per way to name a reader for every format in it. Where these are too many, sets of one
// format.
std::vector<Encoding::ValueState> Encoding::with_witnesses(const Flow& flow, std::vector<ValueState> states,
                                                           std::size_t most, bool& too_many) const {
    const Conversions::Set always = flow.demanded ? flow.conversions->bit(*flow.demanded) : 0;
    std::vector<ValueState> out;
    const auto expand = [&](std::size_t largest) {
        out.clear();
        std::vector<bool> taken(flow.readers.size(), false);
        const std::function<void(ValueState, Conversions::Set)> name = [&](ValueState state,
                                                                           Conversions::Set left) {
            if (out.size() > most) return;
            if (left == 0) {
                out.push_back(std::move(state));
                return;
            }
            const Conversions::Set bit = left & (~left + 1);
            for (std::uint32_t r = 0; r < flow.readers.size(); ++r) {
                if (taken[r]) continue;
                taken[r] = true;
                ValueState next = state;
                next.witnesses.emplace_back(r, bit);
                name(std::move(next), left & ~bit);
                taken[r] = false;
            }
        };
        for (const ValueState& state : states) {
            const Conversions::Set named = state.kind == ValueState::Kind::set ? state.set & ~always : 0;
            if (static_cast<std::size_t>(std::popcount(named)) <= largest) name(state, named);
        }
        return out.size() <= most;
    };
    if (!expand(flow.readers.size())) {
        too_many = true;
        expand(1);
    }
    return out;
}

void Encoding::add_value(std::size_t f, const Weights& weights, const EncodeOptions& options) {
    const Flow& flow = instance_->flows()[f];
    ValueVariables variables;
    variables.states =
        value_states(flow, exact_sets_ ? std::size_t{1} << 20U : options.most_sets, variables.booleans);
    if (exact_sets_) {
        bool fewer = false;
        variables.states = with_witnesses(flow, std::move(variables.states), options.most_sets, fewer);
        restricted_ += fewer ? 1 : 0;
    }
    if (variables.booleans) {
        ++restricted_;
        variables.first = static_cast<Variable>(problem_.size());
        for (std::size_t i = 0; i < flow.conversions->wanted().size(); ++i) problem_.add_variable({0, 0});
        connect_booleans(flow, variables, weights);
    } else {
        variables.first = problem_.add_variable(std::vector<double>(variables.states.size(), 0));
        connect_sets(flow, variables, weights);
    }
    values_.push_back(std::move(variables));
}

void Encoding::connect_sets(const Flow& flow, const ValueVariables& variables, const Weights& weights) {
    const std::vector<ValueState>& states = variables.states;
    const auto price = [&](FormatId from, Conversions::Set set) {
        const Metrics cost = flow.conversions->cost(from, set);
        return cost.seconds == infinite ? infinite : weights.of(cost);
    };
    if (flow.given) {
        for (State s = 0; s < states.size(); ++s)
            problem_.add_cost(
                variables.first, s,
                states[s].kind == ValueState::Kind::set ? price(*flow.given, states[s].set) : infinite);
    } else {
        const auto& from = picks(flow.producer);
        Matrix cost(from.size(), states.size(), infinite);
        for (std::size_t p = 0; p < from.size(); ++p) {
            const std::optional<FormatId> format = made(from[p], flow.value);
            for (std::size_t s = 0; s < states.size(); ++s) {
                if (states[s].kind == ValueState::Kind::internal) {
                    if (states[s].pick == from[p]) cost(p, s) = 0;
                } else if (format) {
                    // What is written in the gathered format itself must lie in a buffer of its own.
                    const bool shared =
                        states[s].kind == ValueState::Kind::own &&
                        option(from[p]).choice.aliasing != plan::Aliasing::none &&
                        flow.conversions
                                ->wanted()[static_cast<std::size_t>(std::countr_zero(states[s].set))] ==
                            *format;
                    if (!shared) cost(p, s) = price(*format, states[s].set);
                }
            }
        }
        problem_.add_cost(variable(flow.producer), variables.first, cost);
    }
    for (std::uint32_t place = 0; place < flow.readers.size(); ++place) {
        const NodeId reader = flow.readers[place];
        const auto& to = picks(reader);
        Matrix cost(states.size(), to.size(), infinite);
        for (std::size_t r = 0; r < to.size(); ++r) {
            const std::optional<FormatId> format = wanted(to[r], flow.value);
            const bool own = flow.readers.size() == 1 && gathers(to[r], flow.value);
            const bool needs_set =
                format || made(to[r], flow.value);  // else it stays inside the reader's region
            const Conversions::Set bit = format ? flow.conversions->bit(*format) : 0;
            for (std::size_t s = 0; s < states.size(); ++s) {
                const ValueState& state = states[s];
                bool allowed = false;
                switch (state.kind) {
                    case ValueState::Kind::internal:
                        allowed = state.pick == to[r];
                        break;
                    case ValueState::Kind::own:
                        allowed = own && state.set == bit;
                        break;
                    case ValueState::Kind::set:
                        allowed = needs_set && !own && (state.set & bit) == bit;
                        break;
                }
                for (const auto& [witness, asked] : state.witnesses)
                    if (witness == place && asked != bit) allowed = false;
                if (allowed) cost(s, r) = 0;
            }
        }
        problem_.add_cost(variables.first, variable(reader), cost);
    }
}

void Encoding::connect_booleans(const Flow& flow, const ValueVariables& variables, const Weights& weights) {
    const auto& formats = flow.conversions->wanted();
    for (std::size_t i = 0; i < formats.size(); ++i) {
        const Variable available = variables.first + static_cast<Variable>(i);
        const auto price = [&](FormatId from) {
            const Metrics& cost = flow.conversions->direct(from, formats[i]);
            return cost.seconds == infinite ? infinite : weights.of(cost);
        };
        if (flow.demanded == formats[i]) problem_.add_cost(available, 0, infinite);
        if (flow.given) {
            problem_.add_cost(available, 1, price(*flow.given));
        } else {
            const auto& from = picks(flow.producer);
            Matrix cost(from.size(), 2);
            for (std::size_t p = 0; p < from.size(); ++p)
                if (const auto format = made(from[p], flow.value)) cost(p, 1) = price(*format);
            problem_.add_cost(variable(flow.producer), available, cost);
        }
        for (const NodeId reader : flow.readers) {
            const auto& to = picks(reader);
            Matrix cost(2, to.size());
            for (std::size_t r = 0; r < to.size(); ++r)
                if (wanted(to[r], flow.value) == formats[i]) cost(0, r) = infinite;
            problem_.add_cost(available, variable(reader), cost);
        }
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
        out.assignment.regions.push_back({candidate(pick).region, option(pick).choice});
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
            set = values_[f].states[states[values_[f].first]].set;
        }
        const bool direct = values_[f].booleans || !flow.conversions->trees();
        const auto edges = direct ? flow.conversions->star(*from, set) : flow.conversions->tree(*from, set);
        for (const auto& [source, target] : edges)
            out.assignment.conversions.push_back(
                {flow.value, instance_->format(source), instance_->format(target)});
        out.totals += direct ? flow.conversions->star_cost(*from, set) : flow.conversions->cost(*from, set);
    }
    return out;
}

}  // namespace viridian::search
