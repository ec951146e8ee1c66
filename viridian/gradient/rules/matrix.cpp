// Matrix products.
#include <algorithm>
#include <numeric>

#include "viridian/gradient/rules/families.hpp"

namespace viridian::gradient {
namespace {

using Terms = std::vector<Term>;

// The dims of a matrix product's operand as a matrix: a vector is a row on the left and a column on the
// right.
Dims left_dims(Dims dims) {
    if (dims.size() == 1) dims.insert(dims.begin(), 1);
    return dims;
}
Dims right_dims(Dims dims) {
    if (dims.size() == 1) dims.push_back(1);
    return dims;
}

// All rows of a stack of matrices as one matrix.
Term flat(Term x) {
    const Dims dims = x.builder->dims(x);
    return reshape(x, {std::accumulate(dims.begin(), dims.end() - 1, std::int64_t{1}, std::multiplies<>()),
                       dims.back()});
}

// aᵀ · g of matrices. An operator that reads `a` as it lies needs no transposed copy.
Term times_transposed(Term a, Term g) {
    return a.builder->add(op::Gemm, {a, g}, {{"transA", std::int64_t{1}}});
}

// The gradient of b in a · b, a matrix, as one product over all rows. Where b is the transpose of a weight,
// the product has the weight's order, so that the Transpose that follows it undoes this one.
Term shared_gradient(Term a, Term b, Term g) {
    const graph::Node* made = b.builder->graph().producer(b.id);
    const bool transposed = made != nullptr && made->op == op::Transpose;
    return transposed ? swap_last(times_transposed(flat(g), flat(a))) : times_transposed(flat(a), flat(g));
}

Terms matmul_rule(Site& s) {
    const Term a = reshape(s.x(0), left_dims(s.dims(s.x(0))));
    const Term b = reshape(s.x(1), right_dims(s.dims(s.x(1))));
    Dims rows = s.dims(s.y());  // with the axes that vectors lost
    if (s.rank(s.x(1)) == 1) rows.push_back(1);
    if (s.rank(s.x(0)) == 1) rows.insert(rows.end() - 1, 1);
    const Term g = reshape(s.g(), rows);
    Term da, db;
    if (s.wants(0)) da = like(reduce_to(matmul(g, swap_last(b)), a), s.x(0));
    if (s.wants(1)) {
        const bool shared = s.rank(b) == 2 && s.rank(g) == s.rank(a);
        const Term product = shared ? shared_gradient(a, b, g) : matmul(swap_last(a), g);
        db = like(reduce_to(product, b), s.x(1));
    }
    return {da, db};
}

void matmul_instance(Instance& i) {
    const bool square = i.extent(0, 4) == 0;  // where exchanged operands keep their types
    const std::int64_t m = square ? 3 : i.extent(1, 4), k = square ? 3 : i.extent(1, 5),
                       n = square ? 3 : i.extent(1, 4);
    const Dims batch = i.extents(i.extent(0, 2), 3);
    Dims a = i.broadcast_of(batch), b = i.coin() ? i.broadcast_of(batch) : Dims();
    a.insert(a.end(), {m, k});
    b.insert(b.end(), {k, n});
    if (i.extent(0, 5) == 0) a = {k};
    if (i.extent(0, 5) == 0) b = {k};
    i.apply(op::MatMul, {i.input(a), i.input(b)});
}

Terms gemm_rule(Site& s) {
    const bool turn_a = s.integer("transA", 0) != 0, turn_b = s.integer("transB", 0) != 0;
    const double alpha = s.real("alpha", 1), beta = s.real("beta", 1);
    const auto gemm = [&](Term a, bool turn_left, Term b, bool turn_right) {
        return s.b.add(
            op::Gemm, {a, b},
            {{"alpha", alpha}, {"transA", std::int64_t{turn_left}}, {"transB", std::int64_t{turn_right}}});
    };
    Term da, db, dc;
    if (s.wants(0)) da = turn_a ? gemm(s.x(1), turn_b, s.g(), true) : gemm(s.g(), false, s.x(1), !turn_b);
    if (s.wants(1)) db = turn_b ? gemm(s.g(), true, s.x(0), turn_a) : gemm(s.x(0), !turn_a, s.g(), false);
    if (s.wants(2)) dc = reduce_to(s.g(), s.x(2)) * beta;
    return {da, db, dc};
}

void gemm_instance(Instance& i) {
    const std::int64_t m = i.extent(1, 4), k = i.extent(1, 5), n = i.extent(1, 4);
    const bool turn_a = i.coin(), turn_b = i.coin();
    Terms inputs = {i.input(turn_a ? Dims{k, m} : Dims{m, k}), i.input(turn_b ? Dims{n, k} : Dims{k, n})};
    if (i.coin()) inputs.push_back(i.input(i.broadcast_of({m, n})));
    i.apply(op::Gemm, inputs,
            {{"alpha", i.pick({1.0, 2.0, 3.0})},
             {"beta", i.pick({1.0, 2.0})},
             {"transA", std::int64_t{turn_a}},
             {"transB", std::int64_t{turn_b}}});
}

// --- Einsum: the gradient of an operand is the Einsum of g and the other operands.

struct Equation {
    std::vector<std::string> operands;
    std::string result;
};

// Letters for the axes that "..." stands for, counted from the last.
constexpr std::string_view spare = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

// Replaces "..." by letters and writes the result's letters if the equation leaves them out.
Equation parse(const Site& s) {
    std::string text = s.node().get("equation", std::string());
    std::erase(text, ' ');
    const auto arrow = text.find("->");
    std::string left = text.substr(0, arrow);
    Equation equation;
    for (std::size_t start = 0; start <= left.size();) {
        const std::size_t comma = std::min(left.find(',', start), left.size());
        equation.operands.push_back(left.substr(start, comma - start));
        start = comma + 1;
    }
    std::size_t most = 0;
    for (const char letter : text)
        if (letter >= 'A' && letter <= 'Z') s.refuse("its equation has capital letters");
    for (std::size_t i = 0; i < equation.operands.size(); ++i) {
        std::string& letters = equation.operands[i];
        const auto dots = letters.find("...");
        if (dots == std::string::npos) continue;
        const auto count = static_cast<std::size_t>(s.rank(s.x(i))) - (letters.size() - 3);
        most = std::max(most, count);
        letters.replace(dots, 3, spare.substr(spare.size() - count));
    }
    if (arrow != std::string::npos) {
        equation.result = text.substr(arrow + 2);
        const auto dots = equation.result.find("...");
        if (dots != std::string::npos) equation.result.replace(dots, 3, spare.substr(spare.size() - most));
        return equation;
    }
    equation.result = spare.substr(spare.size() - most);
    std::string once;
    for (char letter = 'a'; letter <= 'z'; ++letter)
        if (std::ranges::count(left, letter) == 1) once.push_back(letter);
    equation.result += once;
    return equation;
}

Term einsum_gradient(Site& s, const Equation& equation, std::size_t k) {
    const std::string& letters = equation.operands[k];
    std::string inputs = equation.result, found;
    Terms operands = {s.g()};
    for (std::size_t i = 0; i < equation.operands.size(); ++i)
        if (i != k) {
            inputs += "," + equation.operands[i];
            operands.push_back(s.x(i));
        }
    for (const char letter : letters)
        if (inputs.find(letter) != std::string::npos) found.push_back(letter);
    Term gradient = s.b.add(op::Einsum, operands, {{"equation", inputs + "->" + found}});
    // Axes that the product sums by themselves are equal copies; axes of extent 1 were broadcast.
    const Dims own = s.dims(s.x(k)), made = s.dims(gradient);
    Dims with_ones, whole, summed;
    std::size_t next = 0;
    for (std::size_t axis = 0; axis < letters.size(); ++axis) {
        const bool present = found.find(letters[axis]) != std::string::npos;
        with_ones.push_back(present ? made[next] : 1);
        whole.push_back(present ? made[next] : own[axis]);
        if (present && own[axis] == 1 && made[next] != 1) summed.push_back(static_cast<std::int64_t>(axis));
        if (present) ++next;
    }
    gradient = sum(expand(reshape(gradient, with_ones), whole), summed);
    return like(gradient, s.x(k));
}

Terms einsum_rule(Site& s) {
    const Equation equation = parse(s);
    for (const std::string& letters : equation.operands)
        for (const char letter : letters)
            if (std::ranges::count(letters, letter) > 1) s.refuse("its equation takes a diagonal");
    Terms gradients;
    for (std::size_t k = 0; k < equation.operands.size(); ++k)
        gradients.push_back(s.wants(k) ? einsum_gradient(s, equation, k) : Term());
    return gradients;
}

void einsum_instance(Instance& i) {
    const std::int64_t a = i.extent(1, 3), b = i.extent(1, 4), c = i.extent(1, 3), d = i.extent(1, 3);
    const auto one = [&](const char* equation, const std::vector<Dims>& operands) {
        Terms inputs;
        for (const Dims& dims : operands) inputs.push_back(i.input(dims));
        i.apply(op::Einsum, inputs, {{"equation", std::string(equation)}});
    };
    switch (i.extent(0, 6)) {
        case 0:
            return one("ij,jk->ik", {{a, b}, {b, c}});
        case 1:
            return one("bhid,bhjd->bhij", {{a, b, c, d}, {a, b, 2, d}});
        case 2:
            return one("ij->j", {{a, b}});
        case 3:
            return one("ij,ik,jl->kl", {{a, b}, {a, c}, {b, d}});
        case 4:
            return one("...ij,...jk->...ik", {{2, 1, a, b}, {3, b, c}});
        case 5:
            return one("ij,jk", {{a, b}, {b, c}});
        default:
            return one("i,j->ji", {{a}, {b}});
    }
}

}  // namespace

std::vector<Rule> matrix_rules() {
    using enum Rule::Form;
    return {{op::MatMul, "dA = g·Bᵀ, dB = Aᵀ·g", multilinear, matmul_rule, matmul_instance},
            {op::Gemm, "dA = α·g·Bᵀ, dB = α·Aᵀ·g, dC = β·g", multilinear, gemm_rule, gemm_instance},
            {op::Einsum, "dX_k = Einsum of g and the other operands, with X_k's letters as the result",
             multilinear, einsum_rule, einsum_instance}};
}

}  // namespace viridian::gradient
