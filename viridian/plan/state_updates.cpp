#include <algorithm>
#include <map>
#include <set>

#include "viridian/graph/operators/row.hpp"
#include "viridian/plan/states.hpp"

namespace viridian::plan {
namespace {

using graph::Graph;
using graph::State;
using graph::ValueId;

bool all_elementwise(const Graph& graph, const std::vector<graph::NodeId>& nodes) {
    return std::ranges::all_of(nodes, [&](graph::NodeId id) {
        const graph::Node& node = graph.node(id);
        const auto* row = graph::find_operator(node);
        if (row == nullptr && node.bodies.size() == 1)
            return all_elementwise(*node.bodies[0], node.bodies[0]->nodes());
        return row != nullptr && row->operator_class == graph::OperatorClass::elementwise;
    });
}

class Updates {
  public:
    Updates(const Graph& graph, const Assignment& assignment)
        : graph_(graph), regions_(assignment.regions), after_(regions_.size()) {
        for (std::size_t r = 0; r < regions_.size(); ++r) {
            for (const ValueId output : regions_[r].region.outputs) producer_[output] = r;
            for (const ValueId input : regions_[r].region.inputs) readers_[input].push_back(r);
        }
        for (const auto& [value, r] : producer_)
            if (const auto readers = readers_.find(value); readers != readers_.end())
                after_[r].insert(after_[r].end(), readers->second.begin(), readers->second.end());
    }

    StateUpdates find() {
        StateUpdates updates;
        const graph::Uses uses = graph::uses(graph_);
        std::set<ValueId> written;
        for (const State& state : graph_.states()) {
            std::optional<std::size_t>& writer = updates.writers.emplace_back();
            const auto made = producer_.find(state.after);
            const std::set<ValueId> views = views_of(state.before);
            // A value that is also an output is read when the run ends.
            const bool outlives = std::ranges::any_of(
                views, [&](ValueId view) { return view != state.after && uses.outputs(view) > 0; });
            if (state.after == state.before || made == producer_.end() || outlives ||
                !may_write(made->second, state, views))
                continue;
            const std::set<std::size_t> readers = readers_of(views);
            if (reaches(made->second, readers) || !written.insert(state.after).second) continue;
            writer = made->second;
            for (const std::size_t reader : readers)
                if (reader != made->second) {
                    after_[reader].push_back(made->second);
                    updates.order.emplace_back(reader, made->second);
                }
        }
        return updates;
    }

  private:
    // The values that may lie in the memory of `before`.
    std::set<ValueId> views_of(ValueId before) const {
        std::set<ValueId> views = {before};
        std::vector<ValueId> open = {before};
        while (!open.empty()) {
            const auto readers = readers_.find(open.back());
            open.pop_back();
            if (readers == readers_.end()) continue;
            for (const std::size_t r : readers->second)
                if (regions_[r].choice.aliasing == Aliasing::view)
                    for (const ValueId output : regions_[r].region.outputs)
                        if (views.insert(output).second) open.push_back(output);
        }
        return views;
    }

    std::set<std::size_t> readers_of(const std::set<ValueId>& views) const {
        std::set<std::size_t> found;
        for (const ValueId view : views)
            if (const auto readers = readers_.find(view); readers != readers_.end())
                found.insert(readers->second.begin(), readers->second.end());
        return found;
    }

    // Whether the kernel of region `r` may find the memory of the state under its output.
    bool may_write(std::size_t r, const State& state, const std::set<ValueId>& views) const {
        const auto& [region, choice, price] = regions_[r];
        const graph::TensorType& type = graph_.value(state.before).type;
        const bool elementwise = is_elementwise(graph_, region);
        const bool bound =
            choice.aliasing != Aliasing::none && !(choice.aliasing == Aliasing::overwrite && elementwise);
        if (bound || !type.known() || graph_.value(state.after).type != type ||
            choice.inputs.size() != region.inputs.size() || choice.outputs.size() != region.outputs.size())
            return false;
        const Format format = {plain(type.shape->size()), type.element, {}};
        const auto output = std::ranges::find(region.outputs, state.after) - region.outputs.begin();
        if (choice.outputs[static_cast<std::size_t>(output)] != format) return false;
        bool reads = false;
        for (std::size_t i = 0; i < region.inputs.size(); ++i) {
            if (!views.contains(region.inputs[i])) continue;
            if (region.inputs[i] != state.before) return false;
            reads = reads || choice.inputs[i] == format;  // or else a conversion reads it before
        }
        const auto same_extents = [&](ValueId id) {
            const graph::TensorType& other = graph_.value(id).type;
            return other.known() && other.dims() == type.dims();
        };
        return !reads || choice.variant.algorithm == Algorithm::reference ||
               (elementwise && std::ranges::all_of(region.outputs, same_extents));
    }

    // Whether one of `targets` other than `from` needs what `from` computes.
    bool reaches(std::size_t from, const std::set<std::size_t>& targets) const {
        std::vector<bool> seen(regions_.size());
        std::vector<std::size_t> open = {from};
        seen[from] = true;
        while (!open.empty()) {
            const std::size_t at = open.back();
            open.pop_back();
            for (const std::size_t next : after_[at]) {
                if (seen[next]) continue;
                if (targets.contains(next)) return true;
                seen[next] = true;
                open.push_back(next);
            }
        }
        return false;
    }

    const Graph& graph_;
    const std::vector<AssignedRegion>& regions_;
    std::map<ValueId, std::size_t> producer_;
    std::map<ValueId, std::vector<std::size_t>> readers_;
    std::vector<std::vector<std::size_t>> after_;  // by region: those that have to come later
};

}  // namespace

bool is_elementwise(const Graph& graph, const Region& region) { return all_elementwise(graph, region.nodes); }

StateUpdates state_updates(const Graph& graph, const Assignment& assignment) {
    if (graph.states().empty()) return {};
    return Updates(graph, assignment).find();
}

}  // namespace viridian::plan
