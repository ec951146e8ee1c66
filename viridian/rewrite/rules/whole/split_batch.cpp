// Runs a network on a few entries of the batch at a time, so that what it computes stays in the caches: f(x)
// ⇒ Concat(f(x₁), …, f(xₙ)), where x₁, …, xₙ = Split(x) along axis 0. Lym et al. (mini-batch serialization,
// MLSys 2019) do so in training.
#include <algorithm>
#include <map>
#include <set>

#include "viridian/rewrite/batch_flow.hpp"
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

constexpr std::int64_t most_batch_parts = 16;
constexpr std::size_t most_split_nodes = 20'000;  // of the resulting graph

// The number of parts: one entry each, if those are at most 16.
std::int64_t batch_parts(std::int64_t batch) {
    std::int64_t parts = std::min(batch, most_batch_parts);
    while (batch % parts != 0) --parts;
    return parts;
}

std::optional<std::int64_t> batch_extent(const Editor& editor) {
    for (const ValueId input : editor.graph().inputs())
        if (const auto dims = editor.dims(input); dims && !dims->empty() && dims->front() > 1)
            return dims->front();
    return std::nullopt;
}

// The target shape of a Reshape, for `parts` times fewer entries along the first axis.
ValueId smaller_shape(Editor& editor, ValueId shape, std::int64_t parts) {
    Dims dims = *editor.integers(shape);
    if (dims.front() <= 0) return shape;  // the extent of the input, or what the others leave
    dims.front() /= parts;
    return editor.vector_of(dims);
}

bool apply_split_batch(Editor& editor, NodeId at) {
    const auto batch = batch_extent(editor);
    const std::int64_t parts = batch ? batch_parts(*batch) : 1;
    const auto order = topological_order(editor.graph());
    if (parts < 2 || !order.ok()) return false;
    BatchFlow flow(editor, *batch, parts);
    std::vector<NodeId> inside;
    for (const NodeId id : *order) {
        if (flow.follow(id)) inside.push_back(id);
        if (id == at) break;
    }
    if (inside.size() < 2 || inside.back() != at ||
        inside.size() * static_cast<std::size_t>(parts) > most_split_nodes)
        return false;

    std::vector<std::map<ValueId, ValueId>> slice(static_cast<std::size_t>(parts));
    for (const ValueId input : editor.graph().inputs()) {
        if (!flow.holds(input)) continue;
        const Dims sizes(slice.size(), editor.dims(input)->front() / parts);
        const std::vector<ValueId> values = add_split(editor, input, 0, sizes);
        for (std::size_t i = 0; i < slice.size(); ++i) slice[i][input] = values[i];
    }
    std::map<NodeId, ValueId> shapes;
    for (const NodeId id : inside)
        if (editor.node(id).op == op::Reshape)
            shapes[id] = smaller_shape(editor, editor.node(id).inputs[1], parts);
    for (std::size_t i = 0; i < slice.size(); ++i)
        for (const NodeId id : inside) {
            Node one = editor.node(id);
            if (const auto shape = shapes.find(id); shape != shapes.end()) one.inputs[1] = shape->second;
            for (ValueId& input : one.inputs)
                if (const auto found = slice[i].find(input); found != slice[i].end()) input = found->second;
            one.name += fmt::format("/sample{}", i);
            const std::vector<ValueId> outputs = editor.node(id).outputs;
            const std::vector<ValueId> fresh = editor.add_node(std::move(one), outputs.size());
            for (std::size_t o = 0; o < outputs.size(); ++o)
                if (outputs[o] != ValueId::none) slice[i][outputs[o]] = fresh[o];
        }
    editor.keep_origins();

    const std::set<NodeId> gone(inside.begin(), inside.end());
    for (const NodeId id : inside)
        for (const ValueId output : editor.node(id).outputs) {
            if (output == ValueId::none) continue;
            const auto readers = editor.readers(output);
            if (!editor.is_output(output) &&
                std::ranges::all_of(readers, [&](NodeId reader) { return gone.contains(reader); }))
                continue;
            std::vector<ValueId> all;
            for (const auto& values : slice) all.push_back(values.at(output));
            editor.replace(output, add_concat(editor, std::move(all), 0));
        }
    return true;
}

// Adds a random operator that treats the entries of the batch alone, and updates the dims.
ValueId add_entrywise_operator(RandomGraph& g, ValueId x, Dims& dims) {
    const auto last = static_cast<std::int64_t>(dims.size()) - 1;
    switch (g.extent(0, 9)) {
        case 0:
            return g.add(g.pick<const char*>({"Relu", "Tanh", "Neg"}), {x});
        case 1:
            return g.either_way(op::Add, x, g.constant(g.coin() ? Dims{1, dims.back()} : Dims{dims.back()}));
        case 2: {
            const std::int64_t width = g.extent(1, 5);
            const ValueId w = g.constant({dims.back(), width});
            dims.back() = width;
            return g.add(op::MatMul, {x, w});
        }
        case 3:
            return g.add(op::Softmax, {x}, {{"axis", g.coin() ? last : std::int64_t{-1}}});
        case 4: {
            const ValueId more = g.add(op::Tanh, {x});
            dims.back() *= 2;
            return g.add(op::Concat, {x, more}, {{"axis", last}});
        }
        case 5: {
            if (dims.size() < 3) return g.add(op::Mul, {x, x});
            const ValueId y = g.add(op::Transpose, {x}, {{"perm", Dims{0, 2, 1}}});
            std::swap(dims[1], dims[2]);
            return y;
        }
        case 6: {
            dims = dims.size() == 3 ? Dims{dims[0] * dims[1], dims[2]} : Dims{dims[0], dims[1], 1};
            return g.add(op::Reshape, {x, g.integers(g.coin() ? dims : [&] {
                                           Dims open = dims;
                                           open[g.coin() ? 0 : dims.size() - 1] = -1;
                                           return open;
                                       }())});
        }
        case 7:
            return dims.size() == 3
                       ? g.add(op::MatMul,
                               {g.add(op::MatMul, {x, g.add(op::Transpose, {x}, {{"perm", Dims{0, 2, 1}}})}),
                                x})
                       : g.add(op::Gemm, {x, g.constant({dims[1], dims[1]}), g.constant({dims[1]})});
        case 8:
            return g.add(op::Sub, {x, g.add(op::ReduceMax, {x, g.integers({-1})})});
        default: {
            const std::int64_t first = g.extent(0, dims.back() - 1);
            dims.back() = 1;
            return g.add(op::Gather, {x, g.integers({first})}, {{"axis", std::int64_t{-1}}});
        }
    }
}

Graph network_of_rows(RandomGraph& g, std::int64_t batch) {
    Dims dims = {batch, g.extent(1, 4), g.extent(1, 4)};
    ValueId x = g.input(dims);
    std::vector<ValueId> outputs;
    for (std::int64_t step = g.extent(2, 6); step > 0; --step) {
        x = add_entrywise_operator(g, x, dims);
        if (g.extent(0, 5) == 0) outputs.push_back(x);
    }
    x = g.used(x);
    outputs.push_back(x);
    // An operator that mixes the entries is not split.
    if (g.coin()) outputs.push_back(g.add(op::Sub, {x, g.add(op::ReduceMax, {x, g.integers({0})})}));
    return g.finish(outputs);
}

Graph network_of_images(RandomGraph& g, std::int64_t batch) {
    const std::int64_t channels = g.extent(1, 3), filters = g.extent(1, 4);
    const ValueId x = g.input({batch, channels, g.extent(3, 6), g.extent(3, 5)});
    ValueId y = g.add(op::Conv, {x, g.constant({filters, channels, 3, 3}), g.constant({filters})},
                      {{"pads", Dims{1, 1, 1, 1}}});
    const ValueId pooled = g.add(g.pick<const char*>({"MaxPool", "AveragePool"}), {g.add(op::Relu, {y})},
                                 {{"kernel_shape", Dims{3, 2}}, {"pads", Dims{1, 1, 1, 0}}});
    y = g.add(op::Add, {y, pooled});
    const ValueId flat = g.add(op::Flatten, {g.add(op::GlobalAveragePool, {y})});
    return g.finish({g.coin() ? g.used(flat) : g.add(op::Gemm, {flat, g.constant({filters, 3})}), g.used(y)});
}

Graph split_batch_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t batch = g.pick<std::int64_t>({2, 3, 4, 6, 34});
    return g.coin() && element != ElementType::i64 ? network_of_images(g, batch) : network_of_rows(g, batch);
}

}  // namespace

Rule split_batch() {
    return {
        .name = "split_batch",
        .kind = Kind::whole,
        .source = "Lym et al., mini-batch serialization (MLSys 2019), there for training",
        .equation = "f(x) ⇒ Concat(f(x₁), …, f(xₙ)), where x₁, …, xₙ = Split(x) along axis 0",
        .guards =
            "f is a beginning of the network, in topological order, whose operators each treat the slices "
            "of axis 0 by themselves: element by element, per image, products by row or by matrix, axes "
            "behind the first; single "
            "samples, or at most 16 parts",
        .apply = apply_split_batch,
        .instance = split_batch_instance};
}

}  // namespace viridian::rewrite
