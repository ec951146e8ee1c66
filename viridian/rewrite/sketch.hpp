#pragma once
// Builds the random graphs on which rules are certified: odd, unequal extents, constants that are small whole
// numbers (so that they mean the same in the field).
#include "viridian/base/random.hpp"
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

class Sketch {
  public:
    Sketch(Random& random, ElementType element) : random_(random), element_(element) {}

    Graph graph;

    [[nodiscard]] std::int64_t extent(std::int64_t low, std::int64_t high) {
        return random_.between(low, high);
    }
    [[nodiscard]] bool coin() { return random_.chance(0.5); }
    template <class T>
    [[nodiscard]] T pick(std::initializer_list<T> choices) {
        return choices.begin()[random_.below(choices.size())];
    }
    [[nodiscard]] Dims permutation(std::int64_t rank);

    ValueId input(const Dims& dims);     // of the element type
    ValueId constant(const Dims& dims);  // whole numbers in [-4, 4] but 0
    ValueId positive(const Dims& dims);  // whole numbers in [1, 5]
    ValueId filled(const Dims& dims, double value);
    ValueId scalar(double value) { return filled({}, value); }
    ValueId integers(const Dims& values);  // an i64 vector

    ValueId add(std::string op, std::vector<ValueId> inputs, Attributes attributes = {}) {
        return graph.add(std::move(op), std::move(inputs), std::move(attributes));
    }
    // a and b in either order: operators that commute are written both ways.
    ValueId either_way(std::string op, ValueId a, ValueId b) {
        return coin() ? add(std::move(op), {a, b}) : add(std::move(op), {b, a});
    }
    // An element-wise function after `value`, so that it is not an output of the graph.
    ValueId used(ValueId value) { return add("Tanh", {value}); }
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
