// A network that treats its samples one by one may run from end to end on a few of them at a time, so that
// what it computes stays in the caches.
#include <algorithm>
#include <map>
#include <set>

#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/samples.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

constexpr std::int64_t most_parts = 16;
constexpr std::size_t most_nodes = 20'000;  // of the result

// Single samples where that is not too many.
std::int64_t parts_of(std::int64_t batch) {
    std::int64_t parts = std::min(batch, most_parts);
    while (batch % parts != 0) --parts;
    return parts;
}

std::optional<std::int64_t> batch_of(const Editor& editor) {
    for (const ValueId input : editor.graph().inputs())
        if (const auto dims = editor.dims(input); dims && !dims->empty() && dims->front() > 1)
            return dims->front();
    return std::nullopt;
}

// A target shape for `parts` times fewer entries along the first axis.
ValueId smaller_shape(Editor& editor, ValueId shape, std::int64_t parts) {
    Dims dims = *editor.integers(shape);
    if (dims.front() <= 0) return shape;  // as the input has it, or whatever is left
    dims.front() /= parts;
    return editor.vector_of(dims);
}

bool apply(Editor& editor, NodeId at) {
    const auto batch = batch_of(editor);
    const std::int64_t parts = batch ? parts_of(*batch) : 1;
    const auto order = topological_order(editor.graph());
    if (parts < 2 || !order.ok()) return false;
    Samples samples(editor, *batch, parts);
    std::vector<NodeId> inside;
    for (const NodeId id : *order) {
        if (samples.follow(id)) inside.push_back(id);
        if (id == at) break;
    }
    if (inside.size() < 2 || inside.back() != at ||
        inside.size() * static_cast<std::size_t>(parts) > most_nodes)
        return false;

    std::vector<std::map<ValueId, ValueId>> slice(static_cast<std::size_t>(parts));
    for (const ValueId input : editor.graph().inputs()) {
        if (!samples.holds(input)) continue;
        const Dims sizes(slice.size(), editor.dims(input)->front() / parts);
        const std::vector<ValueId> values = add_split(editor, input, 0, sizes);
        for (std::size_t i = 0; i < slice.size(); ++i) slice[i][input] = values[i];
    }
    std::map<NodeId, ValueId> shapes;
    for (const NodeId id : inside)
        if (editor.node(id).op == "Reshape")
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
            const auto& readers = editor.readers(output);
            if (!editor.is_output(output) &&
                std::ranges::all_of(readers, [&](NodeId reader) { return gone.contains(reader); }))
                continue;
            std::vector<ValueId> all;
            for (const auto& values : slice) all.push_back(values.at(output));
            editor.replace(output, add_concat(editor, std::move(all), 0));
        }
    return true;
}

// One of the operators that keep samples apart, and a shape to go on with.
ValueId grow(Sketch& s, ValueId x, Dims& dims) {
    const auto last = static_cast<std::int64_t>(dims.size()) - 1;
    switch (s.extent(0, 9)) {
        case 0:
            return s.add(s.pick<const char*>({"Relu", "Tanh", "Neg"}), {x});
        case 1:
            return s.either_way("Add", x, s.constant(s.coin() ? Dims{1, dims.back()} : Dims{dims.back()}));
        case 2: {
            const std::int64_t width = s.extent(1, 5);
            const ValueId w = s.constant({dims.back(), width});
            dims.back() = width;
            return s.add("MatMul", {x, w});
        }
        case 3:
            return s.add("Softmax", {x}, {{"axis", s.coin() ? last : std::int64_t{-1}}});
        case 4: {
            const ValueId more = s.add("Tanh", {x});
            dims.back() *= 2;
            return s.add("Concat", {x, more}, {{"axis", last}});
        }
        case 5: {
            if (dims.size() < 3) return s.add("Mul", {x, x});
            const ValueId y = s.add("Transpose", {x}, {{"perm", Dims{0, 2, 1}}});
            std::swap(dims[1], dims[2]);
            return y;
        }
        case 6: {
            dims = dims.size() == 3 ? Dims{dims[0] * dims[1], dims[2]} : Dims{dims[0], dims[1], 1};
            return s.add("Reshape", {x, s.integers(s.coin() ? dims : [&] {
                                         Dims open = dims;
                                         open[s.coin() ? 0 : dims.size() - 1] = -1;
                                         return open;
                                     }())});
        }
        case 7:
            return dims.size() == 3
                       ? s.add("MatMul",
                               {s.add("MatMul", {x, s.add("Transpose", {x}, {{"perm", Dims{0, 2, 1}}})}), x})
                       : s.add("Gemm", {x, s.constant({dims[1], dims[1]}), s.constant({dims[1]})});
        case 8:
            return s.add("Sub", {x, s.add("ReduceMax", {x, s.integers({-1})})});
        default: {
            const std::int64_t first = s.extent(0, dims.back() - 1);
            dims.back() = 1;
            return s.add("Gather", {x, s.integers({first})}, {{"axis", std::int64_t{-1}}});
        }
    }
}

Graph of_rows(Sketch& s, std::int64_t batch) {
    Dims dims = {batch, s.extent(1, 4), s.extent(1, 4)};
    ValueId x = s.input(dims);
    std::vector<ValueId> outputs;
    for (std::int64_t step = s.extent(2, 6); step > 0; --step) {
        x = grow(s, x, dims);
        if (s.extent(0, 5) == 0) outputs.push_back(x);
    }
    x = s.used(x);
    outputs.push_back(x);
    // What mixes the samples stays whole.
    if (s.coin()) outputs.push_back(s.add("Sub", {x, s.add("ReduceMax", {x, s.integers({0})})}));
    return s.finish(outputs);
}

Graph of_images(Sketch& s, std::int64_t batch) {
    const std::int64_t channels = s.extent(1, 3), filters = s.extent(1, 4);
    const ValueId x = s.input({batch, channels, s.extent(3, 6), s.extent(3, 5)});
    ValueId y = s.add("Conv", {x, s.constant({filters, channels, 3, 3}), s.constant({filters})},
                      {{"pads", Dims{1, 1, 1, 1}}});
    const ValueId pooled = s.add(s.pick<const char*>({"MaxPool", "AveragePool"}), {s.add("Relu", {y})},
                                 {{"kernel_shape", Dims{3, 2}}, {"pads", Dims{1, 1, 1, 0}}});
    y = s.add("Add", {y, pooled});
    const ValueId flat = s.add("Flatten", {s.add("GlobalAveragePool", {y})});
    return s.finish({s.coin() ? s.used(flat) : s.add("Gemm", {flat, s.constant({filters, 3})}), s.used(y)});
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t batch = s.pick<std::int64_t>({2, 3, 4, 6, 34});
    return s.coin() && element != ElementType::i64 ? of_images(s, batch) : of_rows(s, batch);
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
        .apply = apply,
        .instance = instance};
}

}  // namespace viridian::rewrite
