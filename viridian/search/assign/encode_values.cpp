// The variables of values: which formats are made available, and what joins them to producers and readers.
#include <algorithm>
#include <bit>
#include <iterator>
#include <set>

#include "viridian/search/assign/encode.hpp"

namespace viridian::search {

using graph::NodeId;

// The value never leaves the region of one of its producer's choices.
std::vector<Encoding::ValueState> Encoding::inside(const Flow& flow) const {
    std::vector<ValueState> states;
    if (flow.producer != NodeId::none)
        for (const Pick pick : picks(flow.producer))
            if (!made(pick, flow.value)) states.push_back({ValueState::Kind::internal, 0, pick});
    return states;
}

// For an only reader that gathers.
std::vector<Encoding::ValueState> Encoding::own(const Flow& flow) const {
    std::vector<ValueState> states;
    if (flow.readers.size() != 1) return states;
    Conversions::Set gathered = 0;
    for (const Pick pick : picks(flow.readers[0]))
        if (gathers(pick, flow.value)) gathered |= flow.conversions->bit(*wanted(pick, flow.value));
    for (; gathered != 0; gathered &= gathered - 1)
        states.push_back({ValueState::Kind::own, gathered & (~gathered + 1), {}});
    return states;
}

std::vector<Encoding::ValueState> Encoding::value_states(const Flow& flow, std::size_t most,
                                                         bool& too_many) const {
    std::vector<ValueState> states = inside(flow);
    const Conversions& conversions = *flow.conversions;
    const std::size_t formats = conversions.wanted().size();
    const std::size_t slots = flow.readers.size() + (flow.demanded ? 1 : 0);
    const Conversions::Set always = flow.demanded ? conversions.bit(*flow.demanded) : 0;
    bool unwanted = false;  // some region has readers inside and writes it out all the same
    if (flow.producer != NodeId::none)
        for (const Pick pick : picks(flow.producer))
            unwanted = unwanted || (made(pick, flow.value) && candidate(pick).region.nodes.size() > 1);
    // Sets by size, up to one format per reader.
    std::vector<Conversions::Set> layer = {always};
    std::size_t sets = 0;
    for (std::size_t size = static_cast<std::size_t>(std::popcount(always));; ++size) {
        for (const Conversions::Set set : layer) {
            if (set == 0 && !unwanted) continue;
            states.push_back({ValueState::Kind::set, set, {}});
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
    std::ranges::copy(own(flow), std::back_inserter(states));
    return states;
}

// What a reader may ask for: a format; nothing, where its region makes the value itself.
std::vector<Conversions::Set> Encoding::asked_by(const Flow& flow, NodeId reader) const {
    std::set<Conversions::Set> asked;
    for (const Pick pick : picks(reader)) {
        if (const auto format = wanted(pick, flow.value))
            asked.insert(flow.conversions->bit(*format));
        else if (made(pick, flow.value))
            asked.insert(0);
    }
    return {asked.begin(), asked.end()};
}

// Where a reader has too many states, all ask for the same format.
std::vector<std::vector<Encoding::ValueState>> Encoding::links(const Flow& flow, std::size_t most,
                                                               bool& too_many) const {
    const Conversions::Set always = flow.demanded ? flow.conversions->bit(*flow.demanded) : 0;
    const auto follow = [&](int formats) {
        std::vector<std::vector<ValueState>> out;
        std::set<Conversions::Set> sets = {always};
        for (const NodeId reader : flow.readers) {
            std::vector<ValueState> states = inside(flow);
            const std::vector<Conversions::Set> asked = asked_by(flow, reader);
            std::set<Conversions::Set> after;
            for (const Conversions::Set before : sets)
                for (const Conversions::Set bit : asked)
                    if (std::popcount((before | bit) & ~always) <= formats) {
                        states.push_back({ValueState::Kind::set, before | bit, {}, before, bit});
                        after.insert(before | bit);
                        if (states.size() > most) return std::vector<std::vector<ValueState>>{};
                    }
            std::ranges::copy(own(flow), std::back_inserter(states));
            out.push_back(std::move(states));
            sets = std::move(after);
        }
        if (out.empty()) out.push_back({{ValueState::Kind::set, always, {}}});
        return out;
    };
    auto out = follow(64);
    too_many = out.empty();
    return too_many ? follow(1) : out;
}

void Encoding::add_value(std::size_t f, const Weights& weights, const EncodeOptions& options) {
    const Flow& flow = instance_->flows()[f];
    ValueVariables variables;
    variables.booleans = flow.conversions->wanted().size() > Conversions::most_formats &&
                         flow.readers.size() + (flow.demanded ? 1 : 0) > 1;
    if (exact_sets_ && !variables.booleans) {
        bool fewer = false;
        variables.links = links(flow, options.most_asked, fewer);
        restricted_ += fewer ? 1 : 0;
    } else if (!variables.booleans) {
        variables.links = {value_states(flow, options.most_sets, variables.booleans)};
    }
    variables.first = static_cast<Variable>(problem_.size());
    if (variables.booleans) {
        ++restricted_;
        for (std::size_t i = 0; i < flow.conversions->wanted().size(); ++i) problem_.add_variable({0, 0});
        connect_booleans(flow, variables, weights);
    } else {
        for (const auto& states : variables.links)
            problem_.add_variable(std::vector<double>(states.size(), 0));
        connect_sets(flow, variables, weights);
        connect_links(variables);
    }
    values_.push_back(std::move(variables));
}

// Along the readers, what was asked for before one is what was asked for up to the one before.
void Encoding::connect_links(const ValueVariables& variables) {
    for (std::size_t i = 1; i < variables.links.size(); ++i) {
        const auto &left = variables.links[i - 1], &right = variables.links[i];
        Matrix cost(left.size(), right.size(), infinite);
        for (std::size_t a = 0; a < left.size(); ++a)
            for (std::size_t b = 0; b < right.size(); ++b)
                if (left[a].kind == right[b].kind &&
                    (left[a].kind == ValueState::Kind::set ? left[a].set == right[b].before
                                                           : left[a].pick == right[b].pick))
                    cost(a, b) = 0;
        const auto at = variables.first + static_cast<Variable>(i);
        problem_.add_cost(at - 1, at, cost);
    }
}

void Encoding::connect_sets(const Flow& flow, const ValueVariables& variables, const Weights& weights) {
    const std::vector<ValueState>& whole = variables.links.back();
    const auto price = [&](FormatId from, Conversions::Set set) {
        return weights.cost(flow.conversions->cost(from, set));
    };
    if (flow.given) {
        for (State s = 0; s < whole.size(); ++s)
            problem_.add_cost(
                variables.last(), s,
                whole[s].kind == ValueState::Kind::set ? price(*flow.given, whole[s].set) : infinite);
    } else {
        const auto& from = picks(flow.producer);
        Matrix cost(from.size(), whole.size(), infinite);
        for (std::size_t p = 0; p < from.size(); ++p) {
            const std::optional<FormatId> format = made(from[p], flow.value);
            for (std::size_t s = 0; s < whole.size(); ++s) {
                if (whole[s].kind == ValueState::Kind::internal) {
                    if (whole[s].pick == from[p]) cost(p, s) = 0;
                } else if (format) {
                    // What is written in the gathered format itself must lie in a buffer of its own.
                    const bool shared =
                        whole[s].kind == ValueState::Kind::own &&
                        option(from[p]).choice.aliasing != plan::Aliasing::none &&
                        flow.conversions
                                ->wanted()[static_cast<std::size_t>(std::countr_zero(whole[s].set))] ==
                            *format;
                    if (!shared) cost(p, s) = price(*format, whole[s].set);
                }
            }
        }
        problem_.add_cost(variable(flow.producer), variables.last(), cost);
    }
    for (std::size_t place = 0; place < flow.readers.size(); ++place) {
        const NodeId reader = flow.readers[place];
        const std::size_t link = exact_sets_ ? place : 0;
        const std::vector<ValueState>& states = variables.links[link];
        const auto& to = picks(reader);
        Matrix cost(states.size(), to.size(), infinite);
        for (std::size_t r = 0; r < to.size(); ++r) {
            const std::optional<FormatId> format = wanted(to[r], flow.value);
            const bool gathered = flow.readers.size() == 1 && gathers(to[r], flow.value);
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
                        allowed = gathered && state.set == bit;
                        break;
                    case ValueState::Kind::set:
                        allowed = needs_set && !gathered &&
                                  (state.asked ? *state.asked == bit : (state.set & bit) == bit);
                        break;
                }
                if (allowed) cost(s, r) = 0;
            }
        }
        problem_.add_cost(variables.first + static_cast<Variable>(link), variable(reader), cost);
    }
}

void Encoding::connect_booleans(const Flow& flow, const ValueVariables& variables, const Weights& weights) {
    const auto& formats = flow.conversions->wanted();
    for (std::size_t i = 0; i < formats.size(); ++i) {
        const Variable available = variables.first + static_cast<Variable>(i);
        const auto price = [&](FormatId from) {
            return weights.cost(flow.conversions->direct(from, formats[i]));
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

}  // namespace viridian::search
