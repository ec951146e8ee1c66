// Sums of products over named axes as one batched product of matrices, between permutations and reshapes.
#include <algorithm>

#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

struct Equation {
    std::vector<std::string> terms;
    std::string output;
};

// Letters alone: no ellipsis, no diagonal. The implicit output holds the letters that occur once, sorted.
std::optional<Equation> parse(std::string text) {
    std::erase(text, ' ');
    Equation equation;
    const std::size_t arrow = text.find("->");
    std::string left = text.substr(0, arrow);
    for (std::size_t start = 0;;) {
        const std::size_t comma = std::min(left.find(',', start), left.size());
        equation.terms.push_back(left.substr(start, comma - start));
        if (comma == left.size()) break;
        start = comma + 1;
    }
    if (arrow != std::string::npos) {
        equation.output = text.substr(arrow + 2);
    } else {
        std::erase(left, ',');
        std::sort(left.begin(), left.end());
        for (const char c : left)
            if (std::count(left.begin(), left.end(), c) == 1) equation.output += c;
    }
    const auto plain = [](std::string term) {
        const bool letters = std::all_of(term.begin(), term.end(), [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        });
        std::sort(term.begin(), term.end());
        return letters && std::adjacent_find(term.begin(), term.end()) == term.end();
    };
    if (!plain(equation.output) || !std::all_of(equation.terms.begin(), equation.terms.end(), plain))
        return std::nullopt;
    return equation;
}

bool has(const std::string& letters, char c) { return letters.find(c) != std::string::npos; }

// The letters of `term` that `chosen` accepts, in the order of `order`, then of `term`.
template <class Chosen>
std::string select(const std::string& order, const std::string& term, Chosen chosen) {
    std::string out;
    for (const char c : order)
        if (has(term, c) && chosen(c)) out += c;
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

class Extents {
  public:
    // False where a letter stands for two extents (a broadcast of 1).
    bool add(const std::string& term, const Dims& dims) {
        if (term.size() != dims.size()) return false;
        for (std::size_t i = 0; i < term.size(); ++i)
            if (const auto [at, fresh] = known_.try_emplace(term[i], dims[i]);
                !fresh && at->second != dims[i])
                return false;
        return true;
    }
    [[nodiscard]] Dims of(const std::string& letters) const {
        Dims dims;
        for (const char c : letters) dims.push_back(known_.at(c));
        return dims;
    }
    [[nodiscard]] std::int64_t product(const std::string& letters) const {
        std::int64_t all = 1;
        for (const char c : letters) all *= known_.at(c);
        return all;
    }

  private:
    std::map<char, std::int64_t> known_;
};

ValueId reshaped(Editor& editor, ValueId x, const std::string& letters, std::size_t batches,
                 std::array<std::string_view, 2> groups, const Extents& extents) {
    if (groups[0].size() == 1 && groups[1].size() == 1) return x;
    Dims dims = extents.of(letters.substr(0, batches));
    for (const std::string_view group : groups) dims.push_back(extents.product(std::string(group)));
    return editor.add("Reshape", {x, editor.vector_of(dims)});
}

bool apply(Editor& editor, NodeId at) {
    const Node& einsum = editor.node(at);
    if (einsum.op != "Einsum" || !einsum.domain.empty()) return false;
    auto equation = parse(einsum.get("equation", std::string()));
    if (!equation || equation->terms.size() != einsum.inputs.size() || einsum.inputs.size() > 2) return false;
    Extents extents;
    for (std::size_t i = 0; i < einsum.inputs.size(); ++i) {
        const auto dims = editor.dims(einsum.inputs[i]);
        if (!dims || !extents.add(equation->terms[i], *dims) || std::count(dims->begin(), dims->end(), 0) > 0)
            return false;
    }
    const std::string& out = equation->output;
    std::string a = equation->terms[0], b = equation->terms.size() > 1 ? equation->terms[1] : "";
    for (const char c : out)
        if (!has(a, c) && !has(b, c)) return false;
    if (einsum.inputs.size() == 1) {
        const ValueId y = without_private(editor, einsum.inputs[0], a, "", out);
        const ValueId moved = permuted(editor, y, a, out);
        if (moved == einsum.inputs[0]) return false;  // the identity is remove_no_op's
        editor.replace(einsum.outputs[0], moved);
        return true;
    }
    ValueId x = without_private(editor, einsum.inputs[0], a, b, out);
    ValueId y = without_private(editor, einsum.inputs[1], b, a, out);
    const std::string batch = select(out, a, [&](char c) { return has(b, c) && has(out, c); });
    const std::string rows = select(out, a, [&](char c) { return !has(b, c); });
    const std::string columns = select(out, b, [&](char c) { return !has(a, c); });
    const std::string summed = select(b, a, [&](char c) { return has(b, c) && !has(out, c); });
    x = permuted(editor, x, a, batch + rows + summed);
    x = reshaped(editor, x, batch + rows + summed, batch.size(), {rows, summed}, extents);
    y = permuted(editor, y, b, batch + summed + columns);
    y = reshaped(editor, y, batch + summed + columns, batch.size(), {summed, columns}, extents);
    ValueId product = editor.add("MatMul", {x, y});
    const std::string made = batch + rows + columns;
    if (rows.size() != 1 || columns.size() != 1)
        product = editor.add("Reshape", {product, editor.vector_of(extents.of(made))});
    editor.replace(einsum.outputs[0], permuted(editor, product, made, out));
    return true;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    // Each letter: in a, in b, in the output; every kind may occur several times.
    static constexpr std::array kinds = {std::array{true, true, true},   std::array{true, false, true},
                                         std::array{false, true, true},  std::array{true, true, false},
                                         std::array{true, false, false}, std::array{false, true, false}};
    std::array<std::string, 3> terms;
    std::map<char, std::int64_t> extents;
    const std::int64_t letters = s.extent(2, 6);
    for (std::int64_t i = 0; i < letters; ++i) {
        const char c = static_cast<char>('a' + i);
        extents[c] = s.extent(1, 3);
        const auto& kind = kinds[i < 2 ? 3 : static_cast<std::size_t>(s.extent(0, 5))];
        for (std::size_t t = 0; t < 3; ++t)
            if (kind[t])
                terms[t].insert(terms[t].begin() + s.extent(0, static_cast<std::int64_t>(terms[t].size())),
                                c);
    }
    const auto operand = [&](const std::string& term) {
        Dims dims;
        for (const char c : term) dims.push_back(extents[c]);
        return s.input(dims);
    };
    const bool alone = s.extent(0, 4) == 0;
    std::string sorted = terms[0];
    if (alone) {  // a permutation, or a sum over some axes
        std::reverse(sorted.begin(), sorted.end());
        if (s.coin() && sorted.size() > 2) sorted.pop_back();
        return s.finish({s.add("Einsum", {operand(terms[0])}, {{"equation", terms[0] + " -> " + sorted}})});
    }
    const ValueId a = operand(terms[0]);
    return s.finish({s.add("Einsum", {a, operand(terms[1])},
                           {{"equation", terms[0] + "," + terms[1] + "->" + terms[2]}})});
}

}  // namespace

Rule einsum_to_matmul() {
    return {.name = "einsum_to_matmul",
            .source = "ONNX Einsum-12; issue 3",
            .equation =
                "Einsum(a, b) ⇒ Transpose(Reshape(A·B)), A [batch, rows, summed] and B [batch, summed, "
                "columns] being a and b permuted and reshaped; Einsum(a) ⇒ Transpose(ReduceSum(a))",
            .guards =
                "one or two operands, every letter once in each and of one known extent, no ellipsis; "
                "letters of one operand alone that the output lacks are summed first",
            .polynomial = true,
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
