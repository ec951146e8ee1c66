// Private operators by the kernels of their parts: the body is planned as a graph of its own, whose arena is
// the workspace of the kernel.
#include <algorithm>

#include "viridian/execute/cpu/bound_step.hpp"
#include "viridian/execute/cpu/kernels/bodies/meaning.hpp"
#include "viridian/plan/plan.hpp"
#include "viridian/plan/states.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Graph;

constexpr std::string_view composed_family_name = "composed";

bool all_plain(const Task& task, const plan::Choice& choice) {
    const plan::Choice plain = task.plain_choice(choice.kernel);
    return choice.inputs == plain.inputs && choice.outputs == plain.outputs;
}

// The first kernel whose ports are all plain. What overwrites an input is left out: inputs of the whole
// region belong to others.
std::optional<plan::Choice> first_plain(const Task& task) {
    for (const Family& family : families()) {
        if (!task.reads_first_output() && !family.any_outputs) continue;
        for (plan::Choice& choice : family.offers(task))
            if ((choice.aliasing == plan::Aliasing::none || choice.aliasing == plan::Aliasing::view) &&
                all_plain(task, choice))
                return std::move(choice);
    }
    return std::nullopt;
}

using Cover = std::vector<plan::AssignedRegion>;

// Chains as long as a kernel does them, first come first served, and single nodes for the rest.
std::optional<Cover> cover_of(const Context& context, const Graph& graph) {
    auto candidates = plan::chain_regions(graph);
    if (!candidates.ok()) return std::nullopt;
    std::ranges::stable_sort(*candidates, [](const plan::Region& a, const plan::Region& b) {
        return a.nodes.size() > b.nodes.size();
    });
    std::vector<bool> covered(graph.node_slots());
    Cover cover;
    for (plan::Region& region : *candidates) {
        if (std::ranges::any_of(region.nodes, [&](graph::NodeId id) { return covered[index(id)]; })) continue;
        const auto choice = first_plain(Task{context, graph, region});
        if (!choice) continue;
        for (const graph::NodeId id : region.nodes) covered[index(id)] = true;
        cover.push_back({std::move(region), *choice, {}});
    }
    const auto done = [&](graph::NodeId id) { return covered[index(id)]; };
    if (!std::ranges::all_of(graph.nodes(), done)) return std::nullopt;
    return cover;
}

struct Composition {
    Graph graph;
    plan::Plan plan;
};

std::optional<Composition> composition_of(const Task& task) {
    auto meaning = meaning_of(task);
    // Kernels of element-wise regions promise more (plan::Choice) than one part after the other can keep.
    if (!meaning || plan::is_elementwise(task.graph, task.region)) return std::nullopt;
    auto cover = cover_of(task.context, *meaning);
    if (!cover) return std::nullopt;
    plan::Assignment assignment;
    assignment.regions = *std::move(cover);
    auto plan = plan::make_plan(*meaning, std::move(assignment));
    if (!plan.ok()) return std::nullopt;
    return Composition{*std::move(meaning), *std::move(plan)};
}

std::vector<plan::Choice> offers_composed(const Task& task) {
    const auto composition = composition_of(task);
    if (!composition) return {};
    plan::Choice choice = task.plain_choice(std::string(composed_family_name));
    for (const plan::AssignedRegion& part : composition->plan.assignment.regions)
        if (part.choice.variant.algorithm != plan::Algorithm::direct &&
            part.choice.variant.algorithm != plan::Algorithm::reference)
            choice.variant.algorithm = part.choice.variant.algorithm;
    choice.workspace =
        Bytes(aligned_bytes(composition->plan.arena_bytes) + composition->plan.workspace_bytes);
    return {choice};
}

// Where a part finds one of its ports: at an offset into the workspace, or into an input or output of the
// whole kernel.
struct PartPort {
    enum class In : std::uint8_t { workspace, input, output } in = In::workspace;
    std::size_t index = 0;
    std::int64_t offset = 0;
};
struct Part {
    std::shared_ptr<const Kernel> kernel;
    std::vector<PartPort> inputs, outputs;
};

PartPort port_of(const plan::Plan& plan, plan::BufferId id) {
    PartPort port;
    for (; plan.buffers[id].view_of; id = *plan.buffers[id].view_of)
        port.offset += plan.buffers[id].view_offset;
    const plan::Buffer& root = plan.buffers[id];
    if (!root.external) {
        port.offset += root.arena_offset;
        return port;
    }
    const auto input = std::ranges::find(plan.inputs, id);
    port.in = input != plan.inputs.end() ? PartPort::In::input : PartPort::In::output;
    port.index = static_cast<std::size_t>(port.in == PartPort::In::input
                                              ? input - plan.inputs.begin()
                                              : std::ranges::find(plan.outputs, id) - plan.outputs.begin());
    return port;
}

// What one run state has of all parts.
struct ComposedBindings {
    std::vector<BoundStep> steps;
    bool pointed = false;
};

void bind_parts(const std::vector<Part>& parts, std::int64_t arena, const Pointers& pointers) {
    auto& bindings = *static_cast<ComposedBindings*>(pointers.bindings);
    const auto address = [&](const PartPort& port) -> std::byte* {
        switch (port.in) {
            case PartPort::In::input:  // a part does not write there
                return const_cast<std::byte*>(pointers.inputs[port.index]) + port.offset;
            case PartPort::In::output:
                return pointers.outputs[port.index] + port.offset;
            case PartPort::In::workspace:
                break;
        }
        return pointers.workspace + port.offset;
    };
    for (std::size_t p = 0; p < parts.size(); ++p) {
        BoundStep& step = bindings.steps[p];
        for (std::size_t i = 0; i < parts[p].inputs.size(); ++i) step.inputs[i] = address(parts[p].inputs[i]);
        for (std::size_t i = 0; i < parts[p].outputs.size(); ++i)
            step.outputs[i] = address(parts[p].outputs[i]);
        if (!bindings.pointed)
            step.point(pointers.workspace + arena);
        else
            step.pointers.workspace = pointers.workspace + arena;
        step.bind();
    }
    bindings.pointed = true;
}

Result<Kernel> prepare_composed(const Task& task, const plan::Choice& choice) {
    const auto composition = composition_of(task);
    if (!composition) return unknown_kernel(choice);
    const plan::Plan& plan = composition->plan;
    std::vector<Part> parts;
    Kernel kernel;
    std::int64_t workspace = 0;
    for (const plan::Step& step : plan.steps) {
        VIRIDIAN_TRY(Kernel part, prepare_here(task.context, composition->graph, plan, step));
        workspace = std::max(workspace, part.workspace.value);
        kernel.constants.insert(kernel.constants.end(), part.constants.begin(), part.constants.end());
        Part& added = parts.emplace_back(Part{std::make_shared<const Kernel>(std::move(part)), {}, {}});
        for (const plan::BufferId id : step.inputs) added.inputs.push_back(port_of(plan, id));
        for (const plan::BufferId id : step.outputs) added.outputs.push_back(port_of(plan, id));
    }
    // Outputs that are constants have no step.
    for (const plan::BufferId id : plan.outputs)
        if (composition->graph.constant(plan.buffers[id].value) != nullptr) return unknown_kernel(choice);
    const std::int64_t arena = aligned_bytes(plan.arena_bytes);
    kernel.workspace = Bytes(arena + workspace);
    const auto shared = std::make_shared<const std::vector<Part>>(std::move(parts));
    kernel.make_bindings = [shared] {
        auto bindings = std::make_shared<ComposedBindings>();
        for (const Part& part : *shared) {
            BoundStep& step = bindings->steps.emplace_back(BoundStep{part.kernel, {}, {}, {}, {}, {}});
            step.inputs.resize(part.inputs.size());
            step.outputs.resize(part.outputs.size());
        }
        return bindings;
    };
    kernel.bind = [shared, arena](const Pointers& pointers) { bind_parts(*shared, arena, pointers); };
    kernel.run = [](const Pointers& pointers) {
        for (const BoundStep& step : static_cast<const ComposedBindings*>(pointers.bindings)->steps)
            step.kernel->run(step.pointers);
    };
    return kernel;
}

}  // namespace

Family composed_family() { return {composed_family_name, offers_composed, prepare_composed, true}; }

}  // namespace viridian::execute::cpu
