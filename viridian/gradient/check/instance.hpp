#pragma once
// An Instance is a random graph that holds an operator whose gradient rule is checked. Its inputs are f64,
// and the gradient with respect to each of them is checked.
#include "viridian/base/random.hpp"
#include "viridian/gradient/term.hpp"

namespace viridian::gradient {

// A Domain says from which numbers an input is drawn. Finite differences need a neighbourhood in which the
// operator is smooth, so kinks are avoided by `margin`.
struct Domain {
    double low = -2;
    double high = 2;
    std::vector<double> kinks = {};
    double margin = 0.05;
    bool distinct = false;  // all elements of the tensor differ by at least `margin`: for maxima
};

class Instance {
  public:
    explicit Instance(Random& random) : b(graph), random_(random) {}
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    Graph graph;
    Builder b;

    // Adds an input whose gradient is checked.
    Term input(const Dims& dims, Domain domain = {});
    // Adds a constant of whole numbers in [-3, 3] without 0, or of the numbers in `domain`.
    Term constant(const Dims& dims);
    Term constant(const Dims& dims, const Domain& domain);
    // Adds a constant i64 tensor of numbers in [low, high].
    Term indices(const Dims& dims, std::int64_t low, std::int64_t high);
    Term truths(const Dims& dims);  // a constant tensor of truth values
    // Makes `term` an output, through which gradients arrive.
    void output(Term term) { outputs_.push_back(term.id); }
    // Adds the operator and makes its output an output of the graph.
    Term apply(graph::Operator op, std::vector<Term> inputs, Attributes attributes = {});

    [[nodiscard]] std::int64_t extent(std::int64_t low, std::int64_t high) {
        return random_.between(low, high);
    }
    [[nodiscard]] bool coin() { return random_.chance(0.5); }
    [[nodiscard]] double uniform(double low, double high) { return random_.uniform(low, high); }
    template <class T>
    [[nodiscard]] T pick(std::initializer_list<T> choices) {
        return choices.begin()[random_.below(choices.size())];
    }
    // Draws `rank` extents between 1 and `most`, or now and then 3 for each, so that exchanged axes still
    // fit.
    [[nodiscard]] Dims extents(std::int64_t rank, std::int64_t most = 5);
    // Draws dims that broadcast to `dims`: some axes are 1, and leading axes may be missing.
    [[nodiscard]] Dims broadcast_of(const Dims& dims);
    [[nodiscard]] Dims permutation(std::int64_t rank);

    // Draws the elements of a tensor from `domain`.
    [[nodiscard]] std::vector<double> draw(std::int64_t count, const Domain& domain);

    [[nodiscard]] const std::vector<ValueId>& outputs() const { return outputs_; }
    [[nodiscard]] const std::vector<Domain>& domains() const { return domains_; }

  private:
    Random& random_;
    std::vector<Domain> domains_;  // of the inputs
    std::vector<ValueId> outputs_;
};

}  // namespace viridian::gradient
