#include <map>

#include "viridian/plan/states.hpp"

namespace viridian::plan {
namespace {

using graph::Graph;
using graph::ValueId;

template <class... Arguments>
Error wrong_states(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    return fail(ErrorCode::mismatch, "make the plan again with `viridian optimize`", format,
                std::forward<Arguments>(arguments)...);
}

// Which state a buffer lies in, and which of its values the buffer stands for.
struct Place {
    std::size_t state;
    ValueId value;
};

class Checker {
  public:
    Checker(const Graph& graph, const Plan& plan)
        : graph_(graph), plan_(plan), written_(plan.buffers.size()) {}

    Result<void> check() {
        VIRIDIAN_TRY(check_buffers());
        for (const Step& step : plan_.steps) {
            for (const BufferId id : step.inputs) VIRIDIAN_TRY(read(step, id));
            for (const BufferId id : step.outputs) VIRIDIAN_TRY(write(step, id));
        }
        for (std::size_t i = 0; i < holds_.size(); ++i) {
            const ValueId after = graph_.states()[i].after;
            if (holds_[i] != after && graph_.constant(after) == nullptr)
                return wrong_states("the plan never writes the new value of the state `{}`", name(i));
        }
        return {};
    }

  private:
    Result<void> check_buffers() {
        if (plan_.states.size() != graph_.states().size())
            return wrong_states("the plan has {} states, the graph {}", plan_.states.size(),
                                graph_.states().size());
        for (std::size_t i = 0; i < plan_.states.size(); ++i) {
            const PlanState& state = plan_.states[i];
            const graph::State& own = graph_.states()[i];
            if (state.before != own.before || state.after != own.after ||
                state.buffer >= plan_.buffers.size() || !plan_.buffers[state.buffer].persistent ||
                plan_.buffers[state.buffer].value != own.before || !state_of_.emplace(state.buffer, i).second)
                return wrong_states("the plan has no memory for the state `{}`", name(i));
            holds_.push_back(own.before);
        }
        for (const Step& step : plan_.steps)
            for (const BufferId id : step.outputs) written_[id] = true;
        return {};
    }

    std::optional<Place> place_of(BufferId id) const {
        std::vector<ValueId> way;  // the values that steps write here; the others are views
        for (;; id = *plan_.buffers[id].view_of) {
            if (written_[id]) way.push_back(plan_.buffers[id].value);
            if (!plan_.buffers[id].view_of) break;
        }
        const auto found = state_of_.find(id);
        if (found == state_of_.end()) return std::nullopt;
        const graph::State& state = graph_.states()[found->second];
        for (const ValueId value : way)
            if (value == state.after) return Place{found->second, state.after};
        return Place{found->second, state.before};
    }

    Result<void> read(const Step& step, BufferId id) const {
        const auto place = place_of(id);
        if (!place || holds_[place->state] == place->value) return {};
        return wrong_states("{} reads `{}` from the memory of the state `{}`, which then holds `{}`",
                            text(step), graph_.value(place->value).name, name(place->state),
                            graph_.value(holds_[place->state]).name);
    }

    Result<void> write(const Step& step, BufferId id) {
        const auto place = place_of(id);
        if (!place) return {};
        const graph::State& state = graph_.states()[place->state];
        if (place->value != state.after || holds_[place->state] != state.before ||
            state.after == state.before || plan_.buffers[id].value != state.after)
            return wrong_states("{} overwrites the state `{}`", text(step), name(place->state));
        holds_[place->state] = state.after;
        return {};
    }

    std::string text(const Step& step) const {
        if (step.kind == Step::Kind::conversion)
            return fmt::format("a conversion of `{}`",
                               graph_.value(plan_.buffers[step.inputs[0]].value).name);
        return fmt::format("the step at `{}`", graph_.node(step.region.nodes.front()).name);
    }
    const std::string& name(std::size_t state) const {
        return graph_.value(graph_.states()[state].before).name;
    }

    const Graph& graph_;
    const Plan& plan_;
    std::vector<bool> written_;  // by buffer: some step writes it
    std::map<BufferId, std::size_t> state_of_;
    std::vector<ValueId> holds_;  // by state: the value in its memory
};

}  // namespace

Result<void> check_states(const Graph& graph, const Plan& plan) { return Checker(graph, plan).check(); }

}  // namespace viridian::plan
