// A grid of parts, joined along one axis and then along another: either may come first.
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

// The extents of a concatenation's parts along its axis, where all are known.
std::optional<Dims> sizes_of(const Editor& editor, const Node& joined, std::int64_t axis) {
    Dims sizes;
    for (const ValueId part : joined.inputs) {
        const auto dims = editor.dims(part);
        if (!dims) return std::nullopt;
        sizes.push_back((*dims)[static_cast<std::size_t>(axis)]);
    }
    return sizes;
}

bool apply(Editor& editor, NodeId at) {
    const Node& outer = editor.node(at);
    if (outer.op != "Concat" || !outer.domain.empty() || outer.inputs.size() < 2) return false;
    const Node* first = editor.producer(outer.inputs[0], "Concat");
    const auto along = axis_of(editor, outer);
    const auto across = first != nullptr ? axis_of(editor, *first) : std::nullopt;
    if (!along || !across || *along == *across || first->inputs.size() < 2) return false;
    const auto sizes = sizes_of(editor, *first, *across);
    if (!sizes) return false;
    std::vector<std::vector<ValueId>> columns(sizes->size());
    for (const ValueId input : outer.inputs) {
        const Node* row = editor.producer(input, "Concat");
        if (row == nullptr || !editor.used_once(input) || axis_of(editor, *row) != across ||
            sizes_of(editor, *row, *across) != sizes)
            return false;
        for (std::size_t i = 0; i < columns.size(); ++i) columns[i].push_back(row->inputs[i]);
    }
    std::vector<ValueId> parts;
    for (const auto& column : columns) parts.push_back(add_concat(editor, column, *along));
    editor.replace(outer.outputs[0], add_concat(editor, parts, *across));
    return true;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims axes = s.permutation(3);
    const std::int64_t along = axes[0], across = axes[1];
    Dims dims = {s.extent(1, 3), s.extent(1, 4), s.extent(1, 5)};
    Dims widths;
    for (std::int64_t n = s.extent(2, 3); n > 0; --n) widths.push_back(s.extent(1, 4));
    std::vector<ValueId> rows;
    for (std::int64_t n = s.extent(2, 3); n > 0; --n) {
        dims[static_cast<std::size_t>(along)] = s.extent(1, 3);
        std::vector<ValueId> row;
        for (const std::int64_t width : widths) {
            dims[static_cast<std::size_t>(across)] = width;
            row.push_back(s.input(dims));
        }
        rows.push_back(s.add("Concat", row, {{"axis", across - (s.coin() ? 3 : 0)}}));
    }
    return s.finish({s.add("Concat", rows, {{"axis", along - (s.coin() ? 3 : 0)}})});
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
        .apply = apply,
        .instance = instance};
}

}  // namespace viridian::rewrite
