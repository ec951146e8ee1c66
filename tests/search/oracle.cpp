// The oracle of random_network.hpp: every cover, choice and set of formats, one after the other.
#include <algorithm>
#include <functional>
#include <set>

#include "random_network.hpp"

namespace viridian::search::tests {

using graph::NodeId;
using graph::ValueId;
using plan::Aliasing;

namespace {

struct Placed {
    const plan::Region* region;
    const cost::PricedChoice* priced;
};

class Oracle {
  public:
    Oracle(const Network& net, const Weights& weights)
        : net_(net), weights_(weights), uses_(graph::uses(net.graph)), of_(net.graph.node_slots()) {
        for (std::size_t from = 0; from < net.formats.size(); ++from) fill_trees(from);
    }

    double least() {
        choose(0);
        return best_;
    }

    // Every rule and price but the conversions', which the caller brings along.
    bool allowed(const std::vector<Placed>& placed) {
        for (const Placed& p : placed)
            for (const NodeId n : p.region->nodes) of_[index(n)] = p;
        return rules_hold();
    }

  private:
    double of(const cost::Price& p) const {
        return weights_.of({p.seconds, p.energy.value, {}, {}, Launches(1)});
    }

    // trees_[from][set]: the quickest arborescence from `from` that reaches all of `set`, by trying every
    // parent of every format in every superset.
    void fill_trees(std::size_t from) {
        const std::size_t count = net_.formats.size();
        std::vector<std::pair<double, double>> exactly(std::size_t{1} << count,
                                                       {infinite, 0});  // seconds, objective
        for (std::size_t set = 0; set < exactly.size(); ++set) {
            std::vector<std::size_t> members;
            for (std::size_t i = 0; i < count; ++i)
                if ((set >> i & 1U) != 0 && i != from) members.push_back(i);
            std::vector<std::size_t> parent(count, from);
            const std::function<void(std::size_t)> assign = [&](std::size_t m) {
                if (m < members.size()) {
                    for (std::size_t p = 0; p < count; ++p)
                        if (p != members[m] && (p == from || (set >> p & 1U) != 0)) {
                            parent[members[m]] = p;
                            assign(m + 1);
                        }
                    return;
                }
                double seconds = 0, objective = 0;
                for (const std::size_t i : members) {
                    std::size_t at = i;
                    for (std::size_t steps = 0; at != from; at = parent[at])
                        if (++steps > count) return;  // a cycle
                    const auto& p =
                        net_.conversions.at({text(net_.formats[parent[i]]), text(net_.formats[i])});
                    seconds += p.seconds.value;
                    objective += of(p);
                }
                if (seconds < exactly[set].first) exactly[set] = {seconds, objective};
            };
            assign(0);
        }
        trees_.push_back(std::move(exactly));
    }

    // By way of formats in `askable` only.
    double reach(std::size_t from, std::size_t set, std::size_t askable) const {
        std::pair<double, double> quickest{infinite, 0};
        for (std::size_t super = 0; super < trees_[from].size(); ++super)
            if ((super & set) == set && (super & askable) == super &&
                trees_[from][super].first < quickest.first)
                quickest = trees_[from][super];
        return quickest.second;
    }

    void choose(double so_far) {
        const auto nodes = net_.graph.nodes();
        const auto open = std::find_if(nodes.begin(), nodes.end(),
                                       [&](NodeId n) { return of_[index(n)].region == nullptr; });
        if (open == nodes.end()) {
            if (rules_hold()) best_ = std::min(best_, so_far + conversions());
            return;
        }
        for (const plan::Region& region : net_.regions) {
            const auto free = [&](NodeId n) { return of_[index(n)].region == nullptr; };
            if (std::find(region.nodes.begin(), region.nodes.end(), *open) == region.nodes.end() ||
                !std::all_of(region.nodes.begin(), region.nodes.end(), free))
                continue;
            for (const cost::PricedChoice& priced : net_.choices.at(region.nodes)) {
                for (const NodeId n : region.nodes) of_[index(n)] = {&region, &priced};
                choose(so_far + weights_.of({priced.price.seconds, priced.price.energy.value, {}, {}, {}}));
                for (const NodeId n : region.nodes) of_[index(n)] = {};
            }
        }
    }

    std::size_t number(const plan::Format& format) const {
        return static_cast<std::size_t>(std::find(net_.formats.begin(), net_.formats.end(), format) -
                                        net_.formats.begin());
    }

    struct Reader {
        Placed placed;
        plan::Format format;
    };
    std::vector<Reader> readers(ValueId v) const {
        std::vector<Reader> out;
        std::set<const plan::Region*> seen;
        for (const NodeId n : uses_.readers(v)) {
            const Placed& p = of_[index(n)];
            const auto at = std::find(p.region->inputs.begin(), p.region->inputs.end(), v);
            if (at != p.region->inputs.end() && seen.insert(p.region).second)
                out.push_back(
                    {p, p.priced->choice.inputs[static_cast<std::size_t>(at - p.region->inputs.begin())]});
        }
        return out;
    }
    std::optional<plan::Format> written(ValueId v) const {
        if (net_.graph.producer(v) == nullptr) return net_.formats[0];
        const Placed& p = of_[index(net_.graph.value(v).producer)];
        const auto at = std::find(p.region->outputs.begin(), p.region->outputs.end(), v);
        if (at == p.region->outputs.end()) return std::nullopt;
        return p.priced->choice.outputs[static_cast<std::size_t>(at - p.region->outputs.begin())];
    }

    double conversions() const {
        double sum = 0;
        for (std::size_t i = 0; i < net_.graph.value_count(); ++i) {
            const auto v = static_cast<ValueId>(i);
            const auto from = written(v);
            if (!from) continue;
            // Sets hold formats that some kernel may ask for, one per reading node and one for the graph's
            // output.
            std::size_t demand = 0, askable = 0;
            if (uses_.outputs(v) > 0) demand |= 1;
            for (const Reader& r : readers(v)) demand |= std::size_t{1} << number(r.format);
            const std::set<NodeId> distinct(uses_.readers(v).begin(), uses_.readers(v).end());
            const std::size_t most = distinct.size() + (uses_.outputs(v) > 0 ? 1 : 0);
            askable = demand;
            for (const plan::Region& region : net_.regions)
                for (std::size_t k = 0; k < region.inputs.size(); ++k)
                    if (region.inputs[k] == v)
                        for (const auto& priced : net_.choices.at(region.nodes))
                            if (legal_alone(region, priced.choice))
                                askable |= std::size_t{1} << number(priced.choice.inputs[k]);
            double least = infinite;
            // Where a conversion may earn something, nothing is converted for nobody.
            const bool exactly = weights_.seconds < 0 || weights_.joules < 0;
            for (std::size_t set = 0; set < (std::size_t{1} << net_.formats.size()); ++set)
                if ((exactly ? set == demand : (set & demand) == demand) && (set & askable) == set &&
                    static_cast<std::size_t>(std::popcount(set)) <= most)
                    least = std::min(least, reach(number(*from), set, askable));
            sum += least;
        }
        return sum;
    }

    bool on_boundary(ValueId v) const { return net_.graph.producer(v) == nullptr || uses_.outputs(v) > 0; }

    std::size_t distinct_readers(ValueId v) const {
        return std::set<NodeId>(uses_.readers(v).begin(), uses_.readers(v).end()).size();
    }

    bool rules_hold() const {
        for (const NodeId n : net_.graph.nodes()) {
            const auto& [region, priced] = of_[index(n)];
            const plan::Choice& choice = priced->choice;
            if (!legal_alone(*region, choice)) return false;
            if (choice.aliasing == Aliasing::overwrite) {
                const ValueId v = region->inputs[choice.overwritten];
                if (written(v) == choice.inputs[choice.overwritten] && !may_be_overwritten(v)) return false;
                for (const Reader& other : readers(v))
                    if (other.placed.region != region && other.format == choice.inputs[choice.overwritten] &&
                        (takes(other.placed, v) || looks_at(other.placed, v)))
                        return false;
            }
            if (choice.aliasing == Aliasing::gather) {
                for (std::size_t i = 0; i < region->inputs.size(); ++i) {
                    const ValueId v = region->inputs[i];
                    const Placed& p = of_[index(net_.graph.value(v).producer)];
                    if (written(v) == choice.inputs[i] && p.priced->choice.aliasing != Aliasing::none)
                        return false;
                    for (const Reader& other : readers(v))
                        if (other.placed.region != region && other.format == choice.inputs[i] &&
                            takes(other.placed, v))
                            return false;
                }
            }
        }
        return true;
    }

    static bool takes(const Placed& p, ValueId v) {
        const plan::Choice& c = p.priced->choice;
        return c.aliasing == Aliasing::gather ||
               (c.aliasing == Aliasing::overwrite && p.region->inputs[c.overwritten] == v);
    }
    static bool looks_at(const Placed& p, ValueId v) {
        return p.priced->choice.aliasing == Aliasing::view && p.region->inputs[0] == v;
    }

    bool may_be_overwritten(ValueId v) const {
        const Placed& p = of_[index(net_.graph.value(v).producer)];
        const auto alone = [&](ValueId u) { return !on_boundary(u) && distinct_readers(u) == 1; };
        if (p.priced->choice.aliasing == Aliasing::gather)
            return std::all_of(p.region->inputs.begin(), p.region->inputs.end(), alone);
        if (p.priced->choice.aliasing != Aliasing::view) return true;
        const ValueId u = p.region->inputs[0];
        if (!alone(u)) return false;
        for (const plan::Region& region : net_.regions)
            if (std::find(region.nodes.begin(), region.nodes.end(), net_.graph.value(u).producer) !=
                region.nodes.end())
                for (const auto& other : net_.choices.at(region.nodes))
                    if (other.choice.aliasing == Aliasing::view ||
                        (other.choice.aliasing == Aliasing::gather && legal_alone(region, other.choice)))
                        return false;
        return true;
    }
    bool legal_alone(const plan::Region& region, const plan::Choice& choice) const {
        const auto boundary = [&](ValueId v) { return on_boundary(v); };
        if (choice.aliasing == Aliasing::overwrite)
            return region.dies[choice.overwritten] && !on_boundary(region.inputs[choice.overwritten]) &&
                   !region.outputs.empty() && !on_boundary(region.outputs[0]);
        if (choice.aliasing != Aliasing::gather) return true;
        const auto& inputs = net_.graph.node(region.nodes[0]).inputs;
        return region.nodes.size() == 1 &&
               std::set<ValueId>(inputs.begin(), inputs.end()).size() == inputs.size() &&
               std::none_of(inputs.begin(), inputs.end(), boundary) &&
               std::none_of(region.outputs.begin(), region.outputs.end(), boundary);
    }

    const Network& net_;
    Weights weights_;
    graph::Uses uses_;
    std::vector<Placed> of_;                                     // by node
    std::vector<std::vector<std::pair<double, double>>> trees_;  // by root, by set: seconds, objective
    double best_ = infinite;
};

}  // namespace

double brute_force(const Network& network, const Weights& weights) {
    return Oracle(network, weights).least();
}

// The assignment carries the source's price.
static bool says(const std::optional<cost::Price>& carried, const cost::Price& price) {
    return carried && carried->seconds == price.seconds && carried->energy.value == price.energy.value &&
           carried->energy.provenance == price.energy.provenance;
}

double price_of(const Network& network, const plan::Assignment& assignment, const Weights& weights) {
    std::vector<Placed> placed;
    std::vector<cost::PricedChoice> kept;
    kept.reserve(assignment.regions.size());
    std::set<NodeId> covered;
    double sum = 0;
    for (const plan::AssignedRegion& assigned : assignment.regions) {
        for (const NodeId n : assigned.region.nodes)
            if (!covered.insert(n).second) return infinite;
        const auto& choices = network.choices.at(assigned.region.nodes);
        const auto at = std::find_if(choices.begin(), choices.end(), [&](const cost::PricedChoice& c) {
            return c.choice == assigned.choice;
        });
        if (at == choices.end() || !says(assigned.price, at->price)) return infinite;
        kept.push_back(*at);
        placed.push_back({&assigned.region, &kept.back()});
        sum += weights.of({at->price.seconds, at->price.energy.value, {}, {}, {}});
    }
    if (covered.size() != network.graph.nodes().size()) return infinite;
    if (!Oracle(network, weights).allowed(placed)) return infinite;
    std::map<ValueId, std::set<std::string>> available;
    for (const graph::ValueId v : network.graph.inputs()) available[v].insert(text(network.formats[0]));
    for (const Placed& p : placed)
        for (std::size_t i = 0; i < p.region->outputs.size(); ++i)
            available[p.region->outputs[i]].insert(text(p.priced->choice.outputs[i]));
    for (const plan::Conversion& c : assignment.conversions) {
        if (!available[c.value].contains(text(c.from)) || !available[c.value].insert(text(c.to)).second)
            return infinite;
        const cost::Price& p = network.conversions.at({text(c.from), text(c.to)});
        if (!says(c.price, p)) return infinite;
        sum += weights.of({p.seconds, p.energy.value, {}, {}, {}});
    }
    for (const Placed& p : placed)
        for (std::size_t i = 0; i < p.region->inputs.size(); ++i)
            if (!available[p.region->inputs[i]].contains(text(p.priced->choice.inputs[i]))) return infinite;
    for (const ValueId v : network.graph.outputs())
        if (!available[v].contains(text(network.formats[0]))) return infinite;
    return sum;
}

}  // namespace viridian::search::tests
