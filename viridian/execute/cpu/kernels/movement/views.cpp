// Nodes that move nothing: the output is the input's memory under another shape, order or stride.
#include <algorithm>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/precision.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::Node;
using plan::Layout;

constexpr std::string_view views_family_name = "view";

bool is_one_of(const Node& node, std::initializer_list<graph::KnownOperator> ops) {
    return node.op.domain().empty() && std::find(ops.begin(), ops.end(), node.op) != ops.end();
}

std::vector<Layout> image_layouts(std::size_t rank) {
    std::vector<Layout> list = {plan::plain(rank)};
    if (rank > 2)
        list.insert(list.end(), {plan::channels_last(rank), plan::channels_blocked(rank, 16),
                                 plan::channels_blocked(rank, 8)});
    return list;
}

plan::Choice view(const Task& task, const Layout& from, const std::vector<Layout>& to) {
    plan::Choice choice = task.plain_choice(std::string(views_family_name));
    choice.aliasing = plan::Aliasing::view;
    choice.inputs[0].layout = from;
    for (std::size_t i = 0; i < to.size(); ++i) choice.outputs[i].layout = to[i];
    return choice;
}

// Axes that a Reshape splits, merges or keeps together: the first axes of `from` and of `to` that are left,
// with equally many elements.
struct AxisGroup {
    std::vector<std::uint8_t> from, to;
};

// The finest groups, in order; none if an extent is 0.
std::vector<AxisGroup> axis_groups(const Dims& from, const Dims& to) {
    if (std::ranges::count(from, 0) > 0) return {};
    std::vector<AxisGroup> groups;
    std::size_t i = 0, o = 0;
    const auto take = [](const Dims& dims, std::size_t& axis, std::vector<std::uint8_t>& axes) {
        axes.push_back(static_cast<std::uint8_t>(axis));
        return dims[axis++];
    };
    while (i < from.size() && o < to.size()) {
        AxisGroup group;
        std::int64_t read = take(from, i, group.from), written = take(to, o, group.to);
        while (read != written) {
            const bool reads = read < written;
            if (reads ? i == from.size() : o == to.size()) return {};
            (reads ? read : written) *= reads ? take(from, i, group.from) : take(to, o, group.to);
        }
        groups.push_back(std::move(group));
    }
    if (groups.empty()) return groups;
    while (i < from.size()) take(from, i, groups.back().from);  // extents of 1
    while (o < to.size()) take(to, o, groups.back().to);
    return groups;
}

// The layouts of both sides of a Reshape whose memory has `layout` on one side, given as an order of axes.
// Nothing if axes of one group lie apart in memory.
std::optional<std::pair<Layout, Layout>> both_layouts(const std::vector<AxisGroup>& groups,
                                                      const Layout& layout, bool is_from) {
    std::vector<std::uint8_t> orders[2];
    for (std::size_t place = 0; place < layout.order.size();) {
        const auto group = std::ranges::find_if(groups, [&](const AxisGroup& one) {
            return (is_from ? one.from : one.to).front() == layout.order[place];
        });
        if (group == groups.end()) return std::nullopt;
        for (const std::uint8_t axis : is_from ? group->from : group->to) {
            if (place == layout.order.size() || layout.order[place] != axis) return std::nullopt;
            ++place;
        }
        orders[0].insert(orders[0].end(), group->from.begin(), group->from.end());
        orders[1].insert(orders[1].end(), group->to.begin(), group->to.end());
    }
    return std::pair{plan::permuted(orders[0]), plan::permuted(orders[1])};
}

// Same order of elements, other dims: row-major on both sides, or channels last on one of them, if no axis is
// split or merged that lies apart in memory ([n, c, h·w] is [n, c, h, w]). Blocked images are row-major too
// where every spatial extent is 1 (and blocks are full).
std::vector<plan::Choice> reshapes(const Task& task) {
    const Dims from = task.dims(task.region.inputs[0]);
    const Dims to = task.dims(task.region.outputs[0]);
    std::vector<plan::Choice> choices = {view(task, plan::plain(from.size()), {plan::plain(to.size())})};
    const auto add = [&](const Layout& before, const Layout& after) {
        const bool known = std::ranges::any_of(choices, [&](const plan::Choice& one) {
            return one.inputs[0].layout == before && one.outputs[0].layout == after;
        });
        if (!known) choices.push_back(view(task, before, {after}));
    };
    if (from.size() > 2 && std::all_of(from.begin() + 2, from.end(), [](auto d) { return d == 1; })) {
        add(plan::channels_last(from.size()), plan::plain(to.size()));
        for (const std::int64_t block : {16, 8})
            if (from[1] % block == 0) add(plan::channels_blocked(from.size(), block), plan::plain(to.size()));
    }
    const auto groups = axis_groups(from, to);
    for (const bool is_from : {true, false}) {
        const std::size_t rank = (is_from ? from : to).size();
        if (rank < 3) continue;
        if (const auto both = both_layouts(groups, plan::channels_last(rank), is_from))
            add(both->first, both->second);
    }
    return choices;
}

std::vector<plan::Choice> identities(const Task& task) {
    std::vector<plan::Choice> choices;
    for (const Layout& layout : image_layouts(task.dims(task.region.inputs[0]).size()))
        choices.push_back(view(task, layout, {layout}));
    return choices;
}

// Output axis i is input axis permutation[i]: the memory stays, the letters change.
std::vector<plan::Choice> transposes(const Task& task) {
    const std::size_t rank = task.dims(task.region.inputs[0]).size();
    std::vector<std::int64_t> permutation = task.node().get("perm", std::vector<std::int64_t>());
    if (permutation.empty())
        for (std::size_t i = 0; i < rank; ++i) permutation.push_back(static_cast<std::int64_t>(rank - 1 - i));
    if (permutation.size() != rank) return {};
    std::vector<std::uint8_t> as_output(rank);  // of an input axis
    for (std::size_t i = 0; i < rank; ++i)
        as_output[static_cast<std::size_t>(permutation[i])] = static_cast<std::uint8_t>(i);
    const auto seen_from_output = [&](const Layout& layout) {
        std::vector<std::uint8_t> order;
        for (const std::uint8_t axis : layout.order) order.push_back(as_output[axis]);
        return plan::permuted(order);
    };
    // The input order under which the output is row-major.
    std::vector<std::uint8_t> inverse;
    for (const std::int64_t axis : permutation) inverse.push_back(static_cast<std::uint8_t>(axis));
    std::vector<Layout> sources = {plan::plain(rank), plan::permuted(inverse)};
    if (rank > 2) sources.push_back(plan::channels_last(rank));
    std::vector<plan::Choice> choices;
    for (std::size_t i = 0; i < sources.size(); ++i)
        if (std::find(sources.begin(), sources.begin() + static_cast<std::ptrdiff_t>(i), sources[i]) ==
            sources.begin() + static_cast<std::ptrdiff_t>(i))
            choices.push_back(view(task, sources[i], {seen_from_output(sources[i])}));
    return choices;
}

// Parts of a row-major input along one axis: strided, at an offset. Dense where nothing lies outside the
// axis.
std::vector<plan::Choice> parts(const Task& task, std::size_t axis, const std::vector<std::int64_t>& starts) {
    const Dims dims = task.dims(task.region.inputs[0]);
    std::vector<Layout> layouts;
    for (std::size_t i = 0; i < task.region.outputs.size(); ++i) {
        Layout layout = plan::plain(dims.size());
        const auto strides = plan::strides_of(layout, dims);
        layout.strides = strides;
        layout.offset = starts[i] * strides[axis];
        const Dims part = task.dims(task.region.outputs[i]);
        if (part.size() != dims.size() || std::ranges::count(part, 0) > 0) return {};
        bool dense = true;
        for (std::size_t d = 0; d < axis; ++d) dense = dense && dims[d] == 1;
        if (dense) layout.strides.clear();
        layouts.push_back(std::move(layout));
    }
    return {view(task, plan::plain(dims.size()), layouts)};
}

std::vector<plan::Choice> splits(const Task& task) {
    const Node& node = task.node();
    const auto rank = static_cast<std::int64_t>(task.dims(task.region.inputs[0]).size());
    const auto axis = graph::normalize_axis(node.integer("axis", 0), rank);
    if (!axis.ok()) return {};
    std::vector<std::int64_t> starts;
    std::int64_t at = 0;
    for (const graph::ValueId output : node.outputs) {
        if (output == graph::ValueId::none || !task.type(output).known()) return {};
        if (std::ranges::find(task.region.outputs, output) != task.region.outputs.end()) starts.push_back(at);
        at += task.dims(output)[static_cast<std::size_t>(*axis)];
    }
    return parts(task, static_cast<std::size_t>(*axis), starts);
}

// Slices by constants along one axis, forwards, step 1.
std::vector<plan::Choice> slices(const Task& task) {
    const Node& node = task.node();
    const graph::Tensor* start = task.graph.constant(node.input(1));
    if (start == nullptr) return {};
    const Dims from = task.dims(task.region.inputs[0]);
    const Dims to = task.dims(task.region.outputs[0]);
    if (from.size() != to.size()) return {};
    std::vector<std::int64_t> axes;
    if (node.input(3) != graph::ValueId::none) {
        const graph::Tensor* given = task.graph.constant(node.input(3));
        if (given == nullptr) return {};
        axes = given->integers();
    } else {
        for (std::int64_t i = 0; i < start->count(); ++i) axes.push_back(i);
    }
    if (node.input(4) != graph::ValueId::none) {
        const graph::Tensor* steps = task.graph.constant(node.input(4));
        if (steps == nullptr) return {};
        for (const std::int64_t step : steps->integers())
            if (step != 1) return {};
    }
    std::optional<std::pair<std::size_t, std::int64_t>> cut;
    for (std::size_t i = 0; i < axes.size() && i < static_cast<std::size_t>(start->count()); ++i) {
        const auto axis = graph::normalize_axis(axes[i], static_cast<std::int64_t>(from.size()));
        if (!axis.ok()) return {};
        const auto d = static_cast<std::size_t>(*axis);
        if (from[d] == to[d]) continue;
        if (cut) return {};
        std::int64_t first = start->integer(static_cast<std::int64_t>(i));
        if (first < 0) first += from[d];
        cut = {d, std::clamp<std::int64_t>(first, 0, from[d])};
    }
    if (!cut) return identities(task);
    return parts(task, cut->first, {cut->second});
}

// A Dropout in training mode zeroes elements; one whose mode is not known before the run may.
bool dropout_trains(const Task& task, const Node& node) {
    if (node.input(2) == graph::ValueId::none) return false;
    const graph::Tensor* mode = task.graph.constant(node.input(2));
    return mode == nullptr || mode->count() != 1 || mode->integer(0) != 0;
}

std::vector<plan::Choice> exact_offers(const Task& task) {
    if (task.region.nodes.size() != 1 || task.region.inputs.size() != 1 || task.region.outputs.empty())
        return {};
    const Node& node = task.node();
    if (node.input(0) != task.region.inputs[0]) return {};
    if (!task.type(task.region.inputs[0]).known()) return {};
    for (const auto id : task.region.outputs)
        if (!task.type(id).known() || task.type(id).element != task.type(task.region.inputs[0]).element)
            return {};
    if (is_one_of(node, {graph::op::Split}))  // parts that nobody reads have no place in the region
        return task.region.outputs.size() == node.outputs.size() ? splits(task) : std::vector<plan::Choice>{};
    if (task.region.outputs.size() != 1 || task.region.outputs[0] != node.output(0)) return {};
    if (is_one_of(node, {graph::op::Reshape, graph::op::Flatten, graph::op::Squeeze, graph::op::Unsqueeze}))
        return reshapes(task);
    if (is_one_of(node, {graph::op::Identity})) return identities(task);
    if (is_one_of(node, {graph::op::Dropout}) && !dropout_trains(task, node)) return identities(task);
    if (is_one_of(node, {graph::op::Transpose})) return transposes(task);
    if (is_one_of(node, {graph::op::Slice})) return slices(task);
    return {};
}

std::vector<plan::Choice> offers_views(const Task& task) {
    std::vector<plan::Choice> choices = exact_offers(task);
    offer_moved(task, choices);
    return choices;
}

}  // namespace

Family view_family() { return {views_family_name, offers_views, nullptr}; }

}  // namespace viridian::execute::cpu
