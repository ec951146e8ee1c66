// Writes sums of products over named axes as products of matrices: Einsum(a, b) ⇒ Transpose(Reshape(A·B)),
// where A is [batch, rows, summed] and B is [batch, summed, columns]. The definition is ONNX Einsum-12.
#include <algorithm>
#include <map>

#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/product/einsum_equation.hpp"

namespace viridian::rewrite {
namespace {

// The letters of `term` that `chosen` accepts, in the order of `order`, then of `term`.
template <class Chosen>
std::string select_letters(const std::string& order, const std::string& term, Chosen chosen) {
    std::string out;
    for (const char c : order)
        if (has_letter(term, c) && !has_letter(out, c) && chosen(c)) out += c;
    for (const char c : term)
        if (!has_letter(out, c) && chosen(c)) out += c;
    return out;
}

ValueId permuted_axes(Editor& editor, ValueId x, const std::string& from, const std::string& to) {
    if (from == to) return x;
    Dims perm;
    for (const char c : to) perm.push_back(static_cast<std::int64_t>(from.find(c)));
    return editor.add(op::Transpose, {x}, {{"perm", perm}});
}

// Sums x over the letters of `term` that are in neither `other` nor the output, and removes them from `term`.
ValueId without_private(Editor& editor, ValueId x, std::string& term, const std::string& other,
                        const std::string& output) {
    Dims axes;
    std::string left;
    for (std::size_t i = 0; i < term.size(); ++i)
        if (has_letter(other, term[i]) || has_letter(output, term[i]))
            left += term[i];
        else
            axes.push_back(static_cast<std::int64_t>(i));
    if (axes.empty()) return x;
    term = left;
    return editor.add(op::ReduceSum, {x, editor.vector_of(axes)}, {{"keepdims", std::int64_t{0}}});
}

ValueId reshaped_groups(Editor& editor, ValueId x, const std::string& letters, std::size_t batches,
                        std::array<std::string_view, 2> groups, const EinsumExtents& extents) {
    if (groups[0].size() == 1 && groups[1].size() == 1) return x;
    Dims dims = extents.of(letters.substr(0, batches));
    for (const std::string_view group : groups) dims.push_back(extents.product(std::string(group)));
    return editor.add(op::Reshape, {x, editor.vector_of(dims)});
}

// Removes the axes of "..." that have one entry in x, but more in another operand.
ValueId without_ones(Editor& editor, ValueId x, std::string& term, const EinsumExtents& extents) {
    const Dims dims = *editor.dims(x);
    std::string left;
    for (std::size_t i = 0; i < term.size(); ++i)
        if (dims[i] == extents.of(term[i])) left += term[i];
    if (left == term) return x;
    term = left;
    return editor.add(op::Reshape, {x, editor.vector_of(extents.of(left))});
}

struct EinsumOperand {
    ValueId value;
    std::string letters;
};

// Σ a·b over the letters that `kept` lacks. The letters that it has come in its order if the product allows.
EinsumOperand multiplied_operands(Editor& editor, EinsumOperand a, EinsumOperand b, const std::string& kept,
                                  const EinsumExtents& extents) {
    ValueId x = without_private(editor, a.value, a.letters, b.letters, kept);
    ValueId y = without_private(editor, b.value, b.letters, a.letters, kept);
    const std::string batch = select_letters(
        kept, a.letters, [&](char c) { return has_letter(b.letters, c) && has_letter(kept, c); });
    const std::string rows =
        select_letters(kept, a.letters, [&](char c) { return !has_letter(b.letters, c); });
    const std::string columns =
        select_letters(kept, b.letters, [&](char c) { return !has_letter(a.letters, c); });
    const std::string summed = select_letters(
        b.letters, a.letters, [&](char c) { return has_letter(b.letters, c) && !has_letter(kept, c); });
    x = permuted_axes(editor, x, a.letters, batch + rows + summed);
    x = reshaped_groups(editor, x, batch + rows + summed, batch.size(), {rows, summed}, extents);
    y = permuted_axes(editor, y, b.letters, batch + summed + columns);
    y = reshaped_groups(editor, y, batch + summed + columns, batch.size(), {summed, columns}, extents);
    ValueId product = editor.add(op::MatMul, {x, y});
    const std::string made = batch + rows + columns;
    if (rows.size() != 1 || columns.size() != 1)
        product = editor.add(op::Reshape, {product, editor.vector_of(extents.of(made))});
    return {product, made};
}

bool apply_einsum_to_matmul(Editor& editor, NodeId at) {
    const Node& einsum = editor.node(at);
    if (einsum.op != op::Einsum) return false;
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
        const ValueId moved = permuted_axes(editor, y, letters, out);
        if (moved == einsum.inputs[0]) return false;  // remove_no_op takes the identity
        editor.replace(einsum.outputs[0], moved);
        return true;
    }
    std::vector<ValueId> values;
    for (std::size_t i = 0; i < dims.size(); ++i)
        values.push_back(without_ones(editor, einsum.inputs[i], equation->terms[i], extents));
    for (const auto& [a, b] : *pairs) {
        const EinsumOperand made =
            multiplied_operands(editor, {values[a], equation->terms[a]}, {values[b], equation->terms[b]},
                                read_beside(*equation, a, b), extents);
        values[a] = made.value;
        equation->terms[a] = made.letters;
        values.erase(values.begin() + static_cast<std::ptrdiff_t>(b));
        equation->terms.erase(equation->terms.begin() + static_cast<std::ptrdiff_t>(b));
    }
    editor.replace(einsum.outputs[0], permuted_axes(editor, values[0], equation->terms[0], out));
    return true;
}

// Makes operands of terms whose "..." stands for `broadcast`, each axis of which may be 1.
struct EinsumAxes {
    std::map<char, std::int64_t> extents;
    Dims broadcast;

    ValueId operand(RandomGraph& g, const std::string& term, bool ones) const {
        Dims dims;
        for (std::size_t i = 0; i < term.size(); ++i) {
            if (term[i] != '.') {
                dims.push_back(extents.at(term[i]));
                continue;
            }
            for (const std::int64_t n : broadcast) dims.push_back(ones && g.coin() ? 1 : n);
            i += 2;
        }
        return g.input(dims);
    }
};

// A random chain of three operands with a letter or axes of "..." before it, and maybe a batch.
Graph einsum_chain(RandomGraph& g) {
    EinsumAxes axes{{{'b', g.extent(1, 3)},
                     {'h', g.extent(1, 2)},
                     {'i', g.extent(1, 4)},
                     {'j', g.extent(1, 3)},
                     {'k', g.extent(1, 4)}},
                    {g.extent(1, 2), g.extent(1, 3)}};
    const std::string b = g.coin() ? "b" : "...";
    const std::string h = g.coin() ? "h" : "";
    const std::array terms = {h + b + "i", h + "ij", "jk" + h};
    const std::string out = g.coin() ? h + b + "k" : "k" + b + h;
    std::vector<ValueId> inputs;
    for (const std::string& term : terms) inputs.push_back(axes.operand(g, term, false));
    return g.finish(
        {g.add(op::Einsum, inputs, {{"equation", terms[0] + "," + terms[1] + "," + terms[2] + "->" + out}})});
}

Graph einsum_to_matmul_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    if (g.extent(0, 3) == 0) return einsum_chain(g);
    // Each letter: in a, in b, in the output; every kind may occur several times.
    static constexpr std::array kinds = {std::array{true, true, true},   std::array{true, false, true},
                                         std::array{false, true, true},  std::array{true, true, false},
                                         std::array{true, false, false}, std::array{false, true, false}};
    std::array<std::string, 3> terms;
    EinsumAxes axes;
    const auto put = [&](std::size_t t, const std::string& letters) {
        terms[t].insert(static_cast<std::size_t>(g.extent(0, static_cast<std::int64_t>(terms[t].size()))),
                        letters);
    };
    const std::int64_t count = g.extent(2, 6);
    for (std::int64_t i = 0; i < count; ++i) {
        const char c = static_cast<char>('a' + i);
        axes.extents[c] = g.extent(1, 3);
        const auto& kind = kinds[i < 2 ? 3 : static_cast<std::size_t>(g.extent(0, 5))];
        for (std::size_t t = 0; t < 3; ++t)
            if (kind[t]) put(t, std::string(1, c));
    }
    if (g.extent(0, 4) == 0) {  // a permutation, or a sum over some axes
        std::string sorted = terms[0];
        std::reverse(sorted.begin(), sorted.end());
        if (g.coin() && sorted.size() > 2) sorted.pop_back();
        const ValueId a = axes.operand(g, terms[0], false);
        return g.finish({g.add(op::Einsum, {a}, {{"equation", terms[0] + " -> " + sorted}})});
    }
    if (g.coin()) {
        for (std::int64_t i = g.extent(1, 2); i > 0; --i) axes.broadcast.push_back(g.extent(1, 3));
        const bool both = g.coin();
        for (std::size_t t = 0; t < 3; ++t)
            if (t != 1 || both) put(t, "...");
    }
    const ValueId a = axes.operand(g, terms[0], true);
    return g.finish({g.add(op::Einsum, {a, axes.operand(g, terms[1], true)},
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
        .apply = apply_einsum_to_matmul,
        .instance = einsum_to_matmul_instance};
}

}  // namespace viridian::rewrite
