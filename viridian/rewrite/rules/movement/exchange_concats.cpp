// Joins a grid of parts along the other axis first: [p: [q: a, b], [q: c, d]] ⇒ [q: [p: a, c], [p: b, d]],
// where p and q are the axes. TASO and Tensat state that concatenations along two axes commute.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

// The extents of a concatenation's parts along its axis, if all are known.
std::optional<Dims> extents_of_parts(const Editor& editor, const Node& joined, std::int64_t axis) {
    Dims sizes;
    for (const ValueId part : joined.inputs) {
        const auto dims = editor.dims(part);
        if (!dims) return std::nullopt;
        sizes.push_back((*dims)[static_cast<std::size_t>(axis)]);
    }
    return sizes;
}

bool apply_exchange_concats(Editor& editor, NodeId at) {
    const Node& outer = editor.node(at);
    if (outer.op != op::Concat || outer.inputs.size() < 2) return false;
    const Node* first = editor.producer(outer.inputs[0], op::Concat);
    const auto along = axis_of(editor, outer);
    const auto across = first != nullptr ? axis_of(editor, *first) : std::nullopt;
    if (!along || !across || *along == *across || first->inputs.size() < 2) return false;
    const auto sizes = extents_of_parts(editor, *first, *across);
    if (!sizes) return false;
    std::vector<std::vector<ValueId>> columns(sizes->size());
    for (const ValueId input : outer.inputs) {
        const Node* row = editor.producer(input, op::Concat);
        if (row == nullptr || !editor.used_once(input) || axis_of(editor, *row) != across ||
            extents_of_parts(editor, *row, *across) != sizes)
            return false;
        for (std::size_t i = 0; i < columns.size(); ++i) columns[i].push_back(row->inputs[i]);
    }
    std::vector<ValueId> parts;
    for (const auto& column : columns) parts.push_back(add_concat(editor, column, *along));
    editor.replace(outer.outputs[0], add_concat(editor, parts, *across));
    return true;
}

Graph exchange_concats_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims axes = g.permutation(3);
    const std::int64_t along = axes[0], across = axes[1];
    Dims dims = {g.extent(1, 3), g.extent(1, 4), g.extent(1, 5)};
    Dims widths;
    for (std::int64_t n = g.extent(2, 3); n > 0; --n) widths.push_back(g.extent(1, 4));
    std::vector<ValueId> rows;
    for (std::int64_t n = g.extent(2, 3); n > 0; --n) {
        dims[static_cast<std::size_t>(along)] = g.extent(1, 3);
        std::vector<ValueId> row;
        for (const std::int64_t width : widths) {
            dims[static_cast<std::size_t>(across)] = width;
            row.push_back(g.input(dims));
        }
        rows.push_back(g.add(op::Concat, row, {{"axis", across - (g.coin() ? 3 : 0)}}));
    }
    return g.finish({g.add(op::Concat, rows, {{"axis", along - (g.coin() ? 3 : 0)}})});
}

}  // namespace

Rule exchange_concats() {
    return {
        .name = "exchange_concats",
        .kind = Kind::alternative,
        .source = "TASO; Tensat (concatenations along two axes commute)",
        .equation =
            "[p: [q: a, b], [q: c, d]] ⇒ [q: [p: a, c], [p: b, d]], joined along p and q; more rows and "
            "columns alike",
        .guards = "p ≠ q, every row has parts of the same known extents along q; nothing else reads the rows",
        .polynomial = true,
        .apply = apply_exchange_concats,
        .instance = exchange_concats_instance};
}

}  // namespace viridian::rewrite
