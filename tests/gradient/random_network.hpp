#pragma once
// Random networks for tests of whole gradients: values that several nodes read, several outputs, branches
// that nothing reads, shared inputs, broadcasting. All operators are smooth, and values stay small, so that
// finite differences are exact to many digits.
#include <algorithm>
#include <set>

#include "viridian/gradient/check/instance.hpp"
#include "viridian/gradient/rule.hpp"

namespace viridian::gradient {

class RandomNetwork {
  public:
    // Adds a network of about `size` operators to `i`, with one to three outputs.
    RandomNetwork(Instance& i, std::size_t size) : i_(i) {
        for (std::int64_t k = i_.extent(1, 3); k > 0; --k) keep(i_.input(i_.extents(i_.extent(1, 3), 4)), 2);
        while (i_.graph.nodes().size() < size) grow();
        const std::int64_t outputs = i_.extent(1, 3);
        for (std::int64_t k = 0; k < outputs; ++k) i_.output(k == 0 ? values_.back().term : any().term);
    }

  private:
    struct Value {
        Term term;
        double bound = 2;  // about the largest magnitude
    };

    const Dims& dims(Term x) { return i_.b.dims(x); }
    static std::int64_t count(const Dims& dims) { return *graph::element_count(dims); }

    void keep(Term term, double bound) {
        if (bound > 4) {
            term = apply(op::Tanh, term);
            bound = 1;
        }
        while (count(dims(term)) > 60) term = mean(term, {0}, false);
        values_.push_back({term, bound});
    }

    // Prefers what was made last.
    Value any() {
        const auto last = static_cast<std::int64_t>(values_.size()) - 1;
        const std::int64_t k =
            i_.coin() ? i_.extent(std::max<std::int64_t>(0, last - 2), last) : i_.extent(0, last);
        return values_[static_cast<std::size_t>(k)];
    }

    // A value that broadcasts with x: an older one, or a new input.
    Value partner(Term x) {
        for (int attempt = 0; attempt < 4; ++attempt) {
            const Value other = any();
            if (const auto both = graph::broadcast(dims(x), dims(other.term));
                both.ok() && count(*both) <= 120)
                return other;
        }
        return {i_.input(i_.broadcast_of(dims(x))), 2};
    }

    void grow() {
        const Value v = any();
        switch (i_.extent(0, 5)) {
            case 0:
                return unary(v);
            case 1:
                return binary(v);
            case 2:
                return product(v);
            case 3:
                return move(v);
            case 4:
                return parts(v);
            default:
                return reduce(v);
        }
    }

    void unary(const Value& v) {
        const graph::KnownOperator op =
            i_.pick({op::Tanh, op::Sigmoid, op::Sin, op::Cos, op::Erf, op::Atan, op::Softplus, op::Gelu,
                     op::Mish, op::Swish, op::Neg, op::Identity, op::Asinh});
        keep(apply(op, v.term), std::max(1.0, v.bound));
    }

    void binary(const Value& v) {
        const Value w = partner(v.term);
        const Term x = v.term, y = w.term;
        switch (i_.extent(0, 5)) {
            case 0:
                return keep(x + y, v.bound + w.bound);
            case 1:
                return keep(x - y, v.bound + w.bound);
            case 2:
                return keep(x * y, v.bound * w.bound);
            case 3:
                return keep(x / (square(y) + 1), v.bound);
            case 4:
                return keep(i_.b.add(op::Mean, {x, y, x}), std::max(v.bound, w.bound));
            default:
                return keep(where(i_.truths(i_.broadcast_of(dims(x))), x, y), std::max(v.bound, w.bound));
        }
    }

    void product(const Value& v) {
        const Dims d = dims(v.term);
        const std::int64_t inner = d.empty() ? 1 : d.back(), columns = i_.extent(1, 4);
        if (d.empty()) return keep(v.term * i_.constant({}), 3 * v.bound);
        switch (i_.extent(0, 2)) {
            case 0:
                return keep(matmul(v.term, i_.input({inner, columns})) / static_cast<double>(inner),
                            2 * v.bound);
            case 1:
                return keep(i_.b.add(op::Gemm,
                                     {reshape(v.term, {count(d) / inner, inner}), i_.input({columns, inner}),
                                      i_.input({columns})},
                                     {{"transB", std::int64_t{1}}, {"alpha", 0.5}}),
                            static_cast<double>(inner) * v.bound + 2);
            default:
                return keep(
                    i_.b.add(op::Einsum, {reshape(v.term, {count(d) / inner, inner}), i_.input({inner})},
                             {{"equation", std::string("ij,j->i")}}),
                    2 * static_cast<double>(inner) * v.bound);
        }
    }

    void move(const Value& v) {
        const Dims d = dims(v.term);
        const auto rank = static_cast<std::int64_t>(d.size());
        if (rank == 0) return keep(expand(v.term, i_.extents(2, 3)), v.bound);
        const std::int64_t axis = i_.extent(0, rank - 1);
        const std::int64_t extent = d[static_cast<std::size_t>(axis)];
        switch (i_.extent(0, 6)) {
            case 0:
                return keep(transpose(v.term, i_.permutation(rank)), v.bound);
            case 1:
                return keep(reshape(v.term, {count(d) / d.back(), d.back()}), v.bound);
            case 2:
                return keep(pad(v.term, Dims(d.size(), i_.extent(0, 1)), Dims(d.size(), i_.extent(0, 1))),
                            v.bound);
            case 3:
                return keep(i_.b.add(op::Gather, {v.term, i_.indices({i_.extent(1, 4)}, -extent, extent - 1)},
                                     {{"axis", axis}}),
                            v.bound);
            case 4:
                return keep(i_.b.add(op::Tile, {v.term, i_.b.integers(Dims(d.size(), i_.extent(1, 2)))}),
                            v.bound);
            case 5:
                return keep(
                    i_.b.add(op::CumSum, {v.term, i_.b.integers({axis})}) / static_cast<double>(extent),
                    v.bound);
            default: {
                Dims wider = d;
                wider.insert(wider.begin(), i_.extent(1, 3));
                return keep(expand(v.term, wider), v.bound);
            }
        }
    }

    void parts(const Value& v) {
        const Dims d = dims(v.term);
        const auto rank = static_cast<std::int64_t>(d.size());
        if (rank == 0) return unary(v);
        const std::int64_t axis = i_.extent(0, rank - 1);
        const std::int64_t extent = d[static_cast<std::size_t>(axis)];
        switch (i_.extent(0, 2)) {
            case 0: {
                const Value w = any();
                return keep(concat({v.term, dims(w.term) == d ? w.term : v.term, v.term}, axis),
                            std::max(v.bound, w.bound));
            }
            case 1:
                return keep(slice(v.term, axis, extent / 3, extent), v.bound);
            default: {
                if (extent < 2) return unary(v);
                for (const Term part :
                     i_.b.add(op::Split, {v.term, i_.b.integers({1, extent - 1})}, {{"axis", axis}}, 2))
                    keep(part, v.bound);
            }
        }
    }

    void reduce(const Value& v) {
        const Dims d = dims(v.term);
        if (d.empty()) return unary(v);
        const std::int64_t axis = i_.extent(0, static_cast<std::int64_t>(d.size()) - 1);
        const graph::KnownOperator op = i_.pick({op::ReduceMean, op::ReduceSum, op::ReduceLogSumExp,
                                                 op::ReduceSumSquare, op::Softmax, op::LogSoftmax});
        if (op == op::Softmax || op == op::LogSoftmax) {
            if (find_rule(op) == nullptr) return unary(v);
            return keep(i_.b.add(op, {v.term}, {{"axis", axis}}), 2 * v.bound + 2);
        }
        const double extent = static_cast<double>(d[static_cast<std::size_t>(axis)]);
        keep(i_.b.add(op, {v.term, i_.b.integers({axis})}, {{"keepdims", std::int64_t{i_.coin()}}}),
             op == op::ReduceMean ? v.bound : extent * v.bound * v.bound + 2);
    }

    Instance& i_;
    std::vector<Value> values_;
};

}  // namespace viridian::gradient
