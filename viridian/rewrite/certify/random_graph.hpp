#pragma once
// A RandomGraph builds the random graphs on which rules are certified. Extents are odd and unequal, and
// constants are small whole numbers, so that they mean the same in double precision and in the prime field.
#include "viridian/base/random.hpp"
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

class RandomGraph {
  public:
    // Draws from `random`, which outlives the graph. Inputs and constants are of type `element`.
    RandomGraph(Random& random, ElementType element) : random_(random), element_(element) {}

    Graph graph;

    // Draws a whole number in [low, high].
    [[nodiscard]] std::int64_t extent(std::int64_t low, std::int64_t high) {
        return random_.between(low, high);
    }
    // Draws true or false.
    [[nodiscard]] bool coin() { return random_.chance(0.5); }
    template <class T>
    [[nodiscard]] T pick(std::initializer_list<T> choices) {
        return choices.begin()[random_.below(choices.size())];
    }
    // Draws a permutation of `rank` axes.
    [[nodiscard]] Dims permutation(std::int64_t rank);

    // These add an input or a constant, and return its value.
    ValueId input(const Dims& dims);
    ValueId constant(const Dims& dims);  // of whole numbers in [-4, 4] except 0
    ValueId positive(const Dims& dims);  // of whole numbers in [1, 5]
    // Adds a constant whose elements all are `value`.
    ValueId filled(const Dims& dims, double value);
    ValueId scalar(double value) { return filled({}, value); }
    ValueId integers(const Dims& values);  // an i64 vector

    ValueId add(graph::Operator op, std::vector<ValueId> inputs, Attributes attributes = {}) {
        return graph.add(std::move(op), std::move(inputs), std::move(attributes));
    }
    // Adds `op` of a and b in either order, because operators that commute are written both ways.
    ValueId either_way(graph::Operator op, ValueId a, ValueId b) {
        return coin() ? add(std::move(op), {a, b}) : add(std::move(op), {b, a});
    }
    // Splits `x` along `axis` into parts of these sizes.
    std::vector<ValueId> split(ValueId x, std::int64_t axis, const Dims& sizes);
    // Adds an element-wise function behind `value`, so that it is no output of the graph.
    ValueId used(ValueId value) { return add("Tanh", {value}); }
    // Returns the graph with these outputs. Call it once, at the end.
    Graph finish(std::vector<ValueId> outputs) {
        graph.set_outputs(std::move(outputs));
        return std::move(graph);
    }

  private:
    template <class Draw>
    ValueId tensor(const Dims& dims, Draw draw);

    Random& random_;
    ElementType element_;
};

}  // namespace viridian::rewrite
