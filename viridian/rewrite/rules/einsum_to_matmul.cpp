// Sums of products over named axes as one batched product of matrices, between permutations and reshapes.
#include <algorithm>

#include "viridian/rewrite/rules/einsum_equation.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

// The letters of `term` that `chosen` accepts, in the order of `order`, then of `term`.
template <class Chosen>
std::string select(const std::string& order, const std::string& term, Chosen chosen) {
    std::string out;
    for (const char c : order)
        if (has(term, c) && !has(out, c) && chosen(c)) out += c;
    for (const char c : term)
        if (!has(out, c) && chosen(c)) out += c;
    return out;
}

ValueId permuted(Editor& editor, ValueId x, const std::string& from, const std::string& to) {
    if (from == to) return x;
    Dims perm;
    for (const char c : to) perm.push_back(static_cast<std::int64_t>(from.find(c)));
    return editor.add("Transpose", {x}, {{"perm", perm}});
}

// `term` without the letters that are in neither `other` nor the output: they are summed at once.
ValueId without_private(Editor& editor, ValueId x, std::string& term, const std::string& other,
                        const std::string& output) {
    Dims axes;
    std::string left;
    for (std::size_t i = 0; i < term.size(); ++i)
        if (has(other, term[i]) || has(output, term[i]))
            left += term[i];
        else
            axes.push_back(static_cast<std::int64_t>(i));
    if (axes.empty()) return x;
    term = left;
    return editor.add("ReduceSum", {x, editor.vector_of(axes)}, {{"keepdims", std::int64_t{0}}});
}

ValueId reshaped(Editor& editor, ValueId x, const std::string& letters, std::size_t batches,
                 std::array<std::string_view, 2> groups, const EinsumExtents& extents) {
    if (groups[0].size() == 1 && groups[1].size() == 1) return x;
    Dims dims = extents.of(letters.substr(0, batches));
    for (const std::string_view group : groups) dims.push_back(extents.product(std::string(group)));
    return editor.add("Reshape", {x, editor.vector_of(dims)});
}

// Axes of "..." with one entry where another operand has more.
ValueId without_ones(Editor& editor, ValueId x, std::string& term, const EinsumExtents& extents) {
    const Dims dims = *editor.dims(x);
    std::string left;
    for (std::size_t i = 0; i < term.size(); ++i)
        if (dims[i] == extents.of(term[i])) left += term[i];
    if (left == term) return x;
    term = left;
    return editor.add("Reshape", {x, editor.vector_of(extents.of(left))});
}

struct Operand {
    ValueId value;
    std::string letters;
};

// Σ a·b over the letters that `kept` lacks; those it has come in its order where the product lets them.
Operand multiplied(Editor& editor, Operand a, Operand b, const std::string& kept,
                   const EinsumExtents& extents) {
    ValueId x = without_private(editor, a.value, a.letters, b.letters, kept);
    ValueId y = without_private(editor, b.value, b.letters, a.letters, kept);
    const std::string batch =
        select(kept, a.letters, [&](char c) { return has(b.letters, c) && has(kept, c); });
    const std::string rows = select(kept, a.letters, [&](char c) { return !has(b.letters, c); });
    const std::string columns = select(kept, b.letters, [&](char c) { return !has(a.letters, c); });
    const std::string summed =
        select(b.letters, a.letters, [&](char c) { return has(b.letters, c) && !has(kept, c); });
    x = permuted(editor, x, a.letters, batch + rows + summed);
    x = reshaped(editor, x, batch + rows + summed, batch.size(), {rows, summed}, extents);
    y = permuted(editor, y, b.letters, batch + summed + columns);
    y = reshaped(editor, y, batch + summed + columns, batch.size(), {summed, columns}, extents);
    ValueId product = editor.add("MatMul", {x, y});
    const std::string made = batch + rows + columns;
    if (rows.size() != 1 || columns.size() != 1)
        product = editor.add("Reshape", {product, editor.vector_of(extents.of(made))});
    return {product, made};
}

bool apply(Editor& editor, NodeId at) {
    const Node& einsum = editor.node(at);
    if (einsum.op != "Einsum" || !einsum.domain.empty()) return false;
    std::vector<Dims> dims;
    for (const ValueId input : einsum.inputs) {
        const auto known = editor.dims(input);
        if (!known || std::count(known->begin(), known->end(), 0) > 0) return false;
        dims.push_back(*known);
    }
    auto equation = EinsumEquation::of(einsum.get("equation", std::string()), dims);
    if (!equation) return false;
    EinsumExtents extents;
    for (std::size_t i = 0; i < dims.size(); ++i)
        if (!extents.add(equation->terms[i], dims[i])) return false;
    const auto pairs = einsum_pairs(*equation, extents);
    if (!pairs) return false;
    const std::string& out = equation->output;
    if (dims.size() == 1) {
        std::string letters = equation->terms[0];
        const ValueId y = without_private(editor, einsum.inputs[0], letters, "", out);
        const ValueId moved = permuted(editor, y, letters, out);
        if (moved == einsum.inputs[0]) return false;  // the identity is remove_no_op's
        editor.replace(einsum.outputs[0], moved);
        return true;
    }
    std::vector<ValueId> values;
    for (std::size_t i = 0; i < dims.size(); ++i)
        values.push_back(without_ones(editor, einsum.inputs[i], equation->terms[i], extents));
    for (const auto& [a, b] : *pairs) {
        const Operand made =
            multiplied(editor, {values[a], equation->terms[a]}, {values[b], equation->terms[b]},
                       read_beside(*equation, a, b), extents);
        values[a] = made.value;
        equation->terms[a] = made.letters;
        values.erase(values.begin() + static_cast<std::ptrdiff_t>(b));
        equation->terms.erase(equation->terms.begin() + static_cast<std::ptrdiff_t>(b));
    }
    editor.replace(einsum.outputs[0], permuted(editor, values[0], equation->terms[0], out));
    return true;
}

// An operand of a term whose "..." stands for `broadcast`, each axis of which may be 1.
struct Axes {
    std::map<char, std::int64_t> extents;
    Dims broadcast;

    ValueId operand(Sketch& s, const std::string& term, bool ones) const {
        Dims dims;
        for (std::size_t i = 0; i < term.size(); ++i) {
            if (term[i] != '.') {
                dims.push_back(extents.at(term[i]));
                continue;
            }
            for (const std::int64_t n : broadcast) dims.push_back(ones && s.coin() ? 1 : n);
            i += 2;
        }
        return s.input(dims);
    }
};

// A chain of three with a letter or axes of "..." before it, and maybe a batch.
Graph chain(Sketch& s) {
    Axes axes{{{'b', s.extent(1, 3)},
               {'h', s.extent(1, 2)},
               {'i', s.extent(1, 4)},
               {'j', s.extent(1, 3)},
               {'k', s.extent(1, 4)}},
              {s.extent(1, 2), s.extent(1, 3)}};
    const std::string b = s.coin() ? "b" : "...";
    const std::string h = s.coin() ? "h" : "";
    const std::array terms = {h + b + "i", h + "ij", "jk" + h};
    const std::string out = s.coin() ? h + b + "k" : "k" + b + h;
    std::vector<ValueId> inputs;
    for (const std::string& term : terms) inputs.push_back(axes.operand(s, term, false));
    return s.finish(
        {s.add("Einsum", inputs, {{"equation", terms[0] + "," + terms[1] + "," + terms[2] + "->" + out}})});
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    if (s.extent(0, 3) == 0) return chain(s);
    // Each letter: in a, in b, in the output; every kind may occur several times.
    static constexpr std::array kinds = {std::array{true, true, true},   std::array{true, false, true},
                                         std::array{false, true, true},  std::array{true, true, false},
                                         std::array{true, false, false}, std::array{false, true, false}};
    std::array<std::string, 3> terms;
    Axes axes;
    const auto put = [&](std::size_t t, const std::string& letters) {
        terms[t].insert(static_cast<std::size_t>(s.extent(0, static_cast<std::int64_t>(terms[t].size()))),
                        letters);
    };
    const std::int64_t count = s.extent(2, 6);
    for (std::int64_t i = 0; i < count; ++i) {
        const char c = static_cast<char>('a' + i);
        axes.extents[c] = s.extent(1, 3);
        const auto& kind = kinds[i < 2 ? 3 : static_cast<std::size_t>(s.extent(0, 5))];
        for (std::size_t t = 0; t < 3; ++t)
            if (kind[t]) put(t, std::string(1, c));
    }
    if (s.extent(0, 4) == 0) {  // a permutation, or a sum over some axes
        std::string sorted = terms[0];
        std::reverse(sorted.begin(), sorted.end());
        if (s.coin() && sorted.size() > 2) sorted.pop_back();
        const ValueId a = axes.operand(s, terms[0], false);
        return s.finish({s.add("Einsum", {a}, {{"equation", terms[0] + " -> " + sorted}})});
    }
    if (s.coin()) {
        for (std::int64_t i = s.extent(1, 2); i > 0; --i) axes.broadcast.push_back(s.extent(1, 3));
        const bool both = s.coin();
        for (std::size_t t = 0; t < 3; ++t)
            if (t != 1 || both) put(t, "...");
    }
    const ValueId a = axes.operand(s, terms[0], true);
    return s.finish({s.add("Einsum", {a, axes.operand(s, terms[1], true)},
                           {{"equation", terms[0] + "," + terms[1] + "->" + terms[2]}})});
}

}  // namespace

Rule einsum_to_matmul() {
    return {
        .name = "einsum_to_matmul",
        .source = "ONNX Einsum-12; issue 3",
        .equation =
            "Einsum(a, b) ⇒ Transpose(Reshape(A·B)), A [batch, rows, summed] and B [batch, summed, "
            "columns] being a and b permuted and reshaped; Einsum(a, b, c, …) ⇒ such products of two; "
            "Einsum(a) ⇒ Transpose(ReduceSum(a))",
        .guards =
            "every letter once in an operand and of one known extent, but axes of \"...\", which broadcast; "
            "letters of one operand alone that the output lacks are summed first; of three operands or "
            "more the two that make least come first, and nothing between is larger than every operand "
            "and the result",
        .polynomial = true,
        .apply = apply,
        .instance = instance};
}

}  // namespace viridian::rewrite
