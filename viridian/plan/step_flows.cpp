#include "viridian/plan/step_flows.hpp"

#include <map>
#include <set>

namespace viridian::plan {

std::vector<std::pair<std::size_t, std::size_t>> step_flows(const graph::Graph& graph, const Plan& plan) {
    std::map<BufferId, std::size_t> writer_of_buffer;
    std::map<graph::ValueId, std::size_t> writer_of_value;
    std::set<std::pair<std::size_t, std::size_t>> flows;
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
        const Step& step = plan.steps[s];
        for (const BufferId input : step.inputs) {
            if (const auto found = writer_of_buffer.find(input); found != writer_of_buffer.end()) {
                flows.emplace(found->second, s);
                continue;
            }
            // A view, or values put together in place: no step of its own. Who made what it is made of?
            std::vector<graph::ValueId> open = {plan.buffers[input].value};
            std::set<graph::ValueId> seen;
            while (!open.empty()) {
                const graph::ValueId value = open.back();
                open.pop_back();
                if (value == graph::ValueId::none || !seen.insert(value).second) continue;
                if (const auto found = writer_of_value.find(value); found != writer_of_value.end())
                    flows.emplace(found->second, s);
                else if (const graph::Node* made = graph.producer(value))
                    open.insert(open.end(), made->inputs.begin(), made->inputs.end());
            }
        }
        for (const BufferId output : step.outputs) {
            writer_of_buffer[output] = s;
            if (step.kind == Step::Kind::kernel) writer_of_value[plan.buffers[output].value] = s;
        }
    }
    return {flows.begin(), flows.end()};
}

}  // namespace viridian::plan
