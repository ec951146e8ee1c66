#include <algorithm>
#include <map>
#include <set>

#include "viridian/plan/arena.hpp"
#include "viridian/plan/states.hpp"

namespace viridian::plan {
namespace {

using graph::Dims;
using graph::Graph;
using graph::ValueId;

template <class... Arguments>
Error broken(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    return fail(ErrorCode::broken_invariant, "please report it with the model", format,
                std::forward<Arguments>(arguments)...);
}

class Builder {
  public:
    Builder(const Graph& graph, Assignment assignment) : graph_(graph) {
        plan_.assignment = std::move(assignment);
    }

    Result<Plan> build() {
        for (const ValueId input : graph_.inputs()) {
            VIRIDIAN_TRY(const BufferId buffer, new_buffer(input, boundary_format(input)));
            plan_.buffers[buffer].external = true;
            plan_.inputs.push_back(buffer);
        }
        for (const graph::State& state : graph_.states()) {
            if (!graph_.value(state.before).type.known())
                return fail(ErrorCode::unsupported, "give its dimensions with --dim NAME=N",
                            "the extents of the state `{}` are not known", graph_.value(state.before).name);
            VIRIDIAN_TRY(const BufferId buffer, new_buffer(state.before, boundary_format(state.before)));
            plan_.buffers[buffer].persistent = true;
            plan_.states.push_back({state.before, state.after, buffer, false});
        }
        const StateUpdates updates = state_updates(graph_, plan_.assignment);
        for (std::size_t i = 0; i < updates.writers.size(); ++i)
            if (updates.writers[i]) in_place_[graph_.states()[i].after] = i;
        VIRIDIAN_TRY(const std::vector<std::size_t> order,
                     execution_order(graph_, plan_.assignment.regions, updates));
        for (const std::size_t r : order) VIRIDIAN_TRY(add_region(plan_.assignment.regions[r]));
        VIRIDIAN_TRY(add_outputs());
        VIRIDIAN_TRY(add_state_copies());
        for (const Gather& gather : gathers_) apply(gather);
        place_buffers();
        plan_.graph_hash = structural_hash(graph_);
        VIRIDIAN_TRY(check_states(graph_, plan_));
        return std::move(plan_);
    }

  private:
    struct Gather {
        BufferId output;
        std::vector<BufferId> inputs;
        std::vector<std::int64_t> offsets;  // bytes
        std::size_t step;                   // copies, where needed, go before this step
    };

    // How a value lies in the caller's memory; new_buffer() refuses a value whose shape is not known.
    Format boundary_format(ValueId id) const {
        const auto& type = graph_.value(id).type;
        return {plain(type.shape ? type.shape->size() : 0), type.element, {}};
    }

    Result<BufferId> new_buffer(ValueId value, Format format) {
        const auto& type = graph_.value(value).type;
        if (!type.known())
            return fail(ErrorCode::unsupported,
                        "bind every dimension with --dim NAME=VALUE; a shape that depends on data runs with "
                        "`viridian run --device reference`",
                        "the shape of `{}` is not known: {}", graph_.value(value).name, text(type));
        Buffer buffer{.value = value, .format = std::move(format), .dims = type.dims(), .view_of = {}};
        buffer.bytes = buffer_bytes(buffer.format, buffer.dims);
        plan_.buffers.push_back(std::move(buffer));
        const auto id = static_cast<BufferId>(plan_.buffers.size() - 1);
        if (!find(value, plan_.buffers[id].format)) copies_[value].push_back(id);
        return id;
    }

    std::optional<BufferId> find(ValueId value, const Format& format) const {
        const auto found = copies_.find(value);
        if (found == copies_.end()) return std::nullopt;
        for (const BufferId id : found->second)
            if (plan_.buffers[id].format == format) return id;
        return std::nullopt;
    }

    // The buffer that holds `value` in `format`, converting on first need along the assignment's conversions.
    Result<BufferId> obtain(ValueId value, const Format& format, int depth = 0) {
        if (const auto found = find(value, format)) return *found;
        for (const Conversion& conversion : plan_.assignment.conversions) {
            if (conversion.value != value || conversion.to != format || depth > 8) continue;
            VIRIDIAN_TRY(const BufferId from, obtain(value, conversion.from, depth + 1));
            VIRIDIAN_TRY(const BufferId to, new_buffer(value, format));
            add_conversion(from, to, conversion.price);
            return to;
        }
        return broken("`{}` is needed in {} but nothing converts it", graph_.value(value).name, text(format));
    }

    void add_conversion(BufferId from, BufferId to, std::optional<Price> price = {}) {
        const Buffer &source = plan_.buffers[from], &target = plan_.buffers[to];
        plan_.workspace_bytes =
            std::max(plan_.workspace_bytes, conversion_workspace(source.format, target.format, source.dims));
        plan_.steps.push_back({Step::Kind::conversion, {}, {}, {from}, {to}, std::move(price)});
    }

    Result<void> add_region(const AssignedRegion& assigned) {
        const Region& region = assigned.region;
        const Choice& choice = assigned.choice;
        if (choice.inputs.size() != region.inputs.size() || choice.outputs.size() != region.outputs.size())
            return broken("kernel `{}` has other ports than its region", choice.kernel);
        std::vector<BufferId> inputs;
        for (std::size_t i = 0; i < region.inputs.size(); ++i) {
            VIRIDIAN_TRY(const BufferId input, obtain(region.inputs[i], choice.inputs[i]));
            inputs.push_back(input);
        }
        std::vector<BufferId> outputs;
        for (std::size_t i = 0; i < region.outputs.size(); ++i) {
            VIRIDIAN_TRY(const BufferId output, new_buffer(region.outputs[i], choice.outputs[i]));
            if (const auto state = in_place_.find(region.outputs[i]); state != in_place_.end()) {
                plan_.states[state->second].in_place = true;
                plan_.buffers[output].view_of = plan_.states[state->second].buffer;
            }
            outputs.push_back(output);
        }
        switch (choice.aliasing) {
            case Aliasing::view:
                return view(choice, inputs, outputs);
            case Aliasing::gather:
                return gather(region, inputs, outputs);
            case Aliasing::overwrite:
                if (!plan_.buffers[outputs[0]].view_of) VIRIDIAN_TRY(overwrite(choice, inputs, outputs));
                break;
            case Aliasing::none:
                break;
        }
        plan_.workspace_bytes = std::max(plan_.workspace_bytes, choice.workspace.value);
        plan_.steps.push_back(
            {Step::Kind::kernel, region, choice, std::move(inputs), std::move(outputs), assigned.price});
        return {};
    }

    // A view's bytes, its layout's offset included, lie inside what it looks at.
    Error outside(const Choice& choice, BufferId output) const {
        return broken("kernel `{}` cannot give `{}` the memory of its input", choice.kernel,
                      graph_.value(plan_.buffers[output].value).name);
    }

    // Offsets in a view's layout count from the start of the viewed buffer: they become bytes here, and leave
    // the format.
    Result<void> view(const Choice& choice, const std::vector<BufferId>& inputs,
                      const std::vector<BufferId>& outputs) {
        for (const BufferId output : outputs) {
            Buffer& buffer = plan_.buffers[output];
            if (inputs.size() != 1 || buffer.bytes > plan_.buffers[inputs[0]].bytes)
                return outside(choice, output);
            buffer.view_of = inputs[0];
            buffer.view_offset = buffer.format.layout.offset * graph::size_of(buffer.format.element);
        }
        return {};
    }

    Result<void> overwrite(const Choice& choice, const std::vector<BufferId>& inputs,
                           const std::vector<BufferId>& outputs) {
        if (outputs.empty() || choice.overwritten >= inputs.size())
            return broken("kernel `{}` has nothing to overwrite", choice.kernel);
        const BufferId input = inputs[choice.overwritten];
        Buffer& output = plan_.buffers[outputs[0]];
        const Buffer& top = plan_.buffers[root(input)];
        if (output.bytes > plan_.buffers[input].bytes || top.external || top.persistent)
            return outside(choice, outputs[0]);
        output.view_of = input;
        return {};
    }

    Result<void> gather(const Region& region, const std::vector<BufferId>& distinct,
                        const std::vector<BufferId>& outputs) {
        const graph::Node& node = graph_.node(region.nodes.front());
        if (region.nodes.size() != 1 || node.op != graph::op::Concat || outputs.size() != 1)
            return broken("`{}` is gathered in place but is no Concat", node.name);
        const BufferId output = outputs[0];
        const Buffer& whole = plan_.buffers[output];
        const auto rank = static_cast<std::int64_t>(whole.dims.size());
        VIRIDIAN_TRY(const std::int64_t axis, graph::normalize_axis(node.integer("axis", 0), rank));
        Gather entry{output, {}, {}, plan_.steps.size()};
        Dims position(whole.dims.size(), 0);
        for (const ValueId value : node.inputs) {
            const auto at =
                std::find(region.inputs.begin(), region.inputs.end(), value) - region.inputs.begin();
            if (at == static_cast<std::ptrdiff_t>(region.inputs.size()))
                return broken("`{}` is gathered in place but is a constant", node.name);
            entry.inputs.push_back(distinct[static_cast<std::size_t>(at)]);
            entry.offsets.push_back(element_offset(whole.format.layout, whole.dims, position) *
                                    graph::size_of(whole.format.element));
            if (entry.offsets.back() + plan_.buffers[entry.inputs.back()].bytes > whole.bytes)
                return broken("`{}` is gathered in place but `{}` does not fit", node.name,
                              graph_.value(value).name);
            position[static_cast<std::size_t>(axis)] +=
                plan_.buffers[entry.inputs.back()].dims[static_cast<std::size_t>(axis)];
        }
        gathers_.push_back(std::move(entry));
        return {};
    }

    BufferId root(BufferId id) const {
        while (plan_.buffers[id].view_of) id = *plan_.buffers[id].view_of;
        return id;
    }

    // Each input moves into the output's buffer where its root is free to move; else a copy goes there.
    void apply(const Gather& gather) {
        std::vector<Step> copies;
        for (std::size_t i = 0; i < gather.inputs.size(); ++i) {
            const BufferId input = gather.inputs[i];
            const BufferId top = root(input);
            Buffer& buffer = plan_.buffers[top];
            const bool free = !buffer.external && !buffer.persistent && top != root(gather.output) &&
                              buffer.bytes == plan_.buffers[input].bytes && offset_in_root(input) == 0;
            if (free) {
                buffer.view_of = gather.output;
                buffer.view_offset = gather.offsets[i];
            } else {
                Buffer part = plan_.buffers[input];
                part.external = false;
                part.view_of = gather.output;
                part.view_offset = gather.offsets[i];
                plan_.buffers.push_back(std::move(part));
                const auto copy = static_cast<BufferId>(plan_.buffers.size() - 1);
                copies.push_back({Step::Kind::conversion, {}, {}, {input}, {copy}});
            }
        }
        const auto at = static_cast<std::ptrdiff_t>(gather.step);
        plan_.steps.insert(plan_.steps.begin() + at, copies.begin(), copies.end());
        for (Gather& later : gathers_)
            if (later.step >= gather.step && &later != &gather) later.step += copies.size();
    }

    std::int64_t offset_in_root(BufferId id) const {
        std::int64_t offset = 0;
        for (; plan_.buffers[id].view_of; id = *plan_.buffers[id].view_of)
            offset += plan_.buffers[id].view_offset;
        return offset;
    }

    // Buffers whose memory a step writes again under another name, or that move into a gathered one.
    std::set<BufferId> reused_buffers() const {
        std::set<BufferId> reused;
        const auto add_owners = [&](BufferId id) {
            while (plan_.buffers[id].view_of) reused.insert(id = *plan_.buffers[id].view_of);
        };
        for (const Step& step : plan_.steps) std::ranges::for_each(step.outputs, add_owners);
        for (const Gather& gather : gathers_)
            for (const BufferId id : gather.inputs) reused.insert(id), add_owners(id);
        return reused;
    }

    // A graph output lies in the caller's memory: written there by its producer where that is free to, else
    // copied.
    Result<void> add_outputs() {
        const std::set<BufferId> reused = reused_buffers();
        for (const ValueId output : graph_.outputs()) {
            if (graph_.constant(output) != nullptr) {  // no step writes it
                VIRIDIAN_TRY(const BufferId id, new_buffer(output, boundary_format(output)));
                plan_.buffers[id].external = true;
                plan_.outputs.push_back(id);
                continue;
            }
            VIRIDIAN_TRY(BufferId id, obtain(output, boundary_format(output)));
            const Buffer& buffer = plan_.buffers[id];
            if (buffer.external || buffer.persistent || buffer.view_of || reused.contains(id)) {
                VIRIDIAN_TRY(const BufferId copy, new_buffer(output, boundary_format(output)));
                add_conversion(id, copy);
                id = copy;
            }
            plan_.buffers[id].external = true;
            plan_.outputs.push_back(id);
        }
        return {};
    }

    // New values that no kernel writes in place go to their states when nothing reads the old ones any more.
    Result<void> add_state_copies() {
        std::vector<std::pair<BufferId, BufferId>> copies;  // from, state
        for (const PlanState& state : plan_.states) {
            if (state.in_place || state.after == state.before || graph_.constant(state.after) != nullptr)
                continue;
            VIRIDIAN_TRY(BufferId from, obtain(state.after, boundary_format(state.after)));
            if (plan_.buffers[root(from)].persistent && !in_place_.contains(state.after)) {
                // the old value of another state, which may get its new one first
                VIRIDIAN_TRY(const BufferId kept, new_buffer(state.after, boundary_format(state.after)));
                add_conversion(from, kept);
                from = kept;
            }
            copies.emplace_back(from, state.buffer);
        }
        for (const auto& [from, state] : copies) {
            Buffer target = plan_.buffers[from];
            target.external = target.persistent = false;
            target.view_of = state;
            target.view_offset = 0;
            plan_.buffers.push_back(std::move(target));
            add_conversion(from, static_cast<BufferId>(plan_.buffers.size() - 1));
        }
        return {};
    }

    void place_buffers() {
        for (const PlanState& state : plan_.states) {
            plan_.buffers[state.buffer].arena_offset = plan_.state_bytes;
            plan_.state_bytes += (plan_.buffers[state.buffer].bytes + 63) / 64 * 64;
        }
        constexpr std::int64_t never = -1;
        std::vector<Lifetime> lifetimes(plan_.buffers.size(), {0, never, never, 0});
        for (std::size_t s = 0; s < plan_.steps.size(); ++s)
            for (const auto* list : {&plan_.steps[s].inputs, &plan_.steps[s].outputs})
                for (const BufferId id : *list) {
                    Lifetime& lifetime = lifetimes[root(id)];
                    if (lifetime.first == never) lifetime.first = static_cast<std::int64_t>(s);
                    lifetime.last = static_cast<std::int64_t>(s);
                }
        std::vector<Lifetime> live;
        std::vector<BufferId> owners;
        for (BufferId id = 0; id < plan_.buffers.size(); ++id) {
            const Buffer& buffer = plan_.buffers[id];
            if (buffer.view_of || buffer.external || buffer.persistent || lifetimes[id].first == never)
                continue;
            lifetimes[id].bytes = buffer.bytes;
            live.push_back(lifetimes[id]);
            owners.push_back(id);
        }
        plan_.arena_bytes = place(live);
        for (std::size_t i = 0; i < live.size(); ++i) plan_.buffers[owners[i]].arena_offset = live[i].offset;
    }

    const Graph& graph_;
    Plan plan_;
    std::map<ValueId, std::vector<BufferId>> copies_;
    std::vector<Gather> gathers_;
    std::map<ValueId, std::size_t> in_place_;  // new values that kernels write into the memory of a state
};

}  // namespace

Result<Plan> make_plan(const Graph& graph, Assignment assignment) {
    return Builder(graph, std::move(assignment)).build();
}

}  // namespace viridian::plan
