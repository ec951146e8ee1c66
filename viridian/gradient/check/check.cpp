#include "viridian/gradient/check/check.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/gradient/differentiate.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::gradient {
namespace {

using graph::Array;
using graph::PrimeField;
using graph::Rounding;

template <class Scalar>
using Arrays = std::vector<Array<Scalar>>;

// Evaluates the question at `inputs` (its inputs and seeds).
template <class Scalar>
Result<Arrays<Scalar>> answer(const Question& question, const Arrays<Scalar>& inputs) {
    return evaluate(question.graph, inputs, Rounding::none);
}

template <class Scalar>
Scalar inner(const Array<Scalar>& a, const Array<Scalar>& b) {
    Scalar sum{};
    for (std::size_t i = 0; i < a.real.size(); ++i) sum += a.real[i] * b.real[i];
    return sum;
}

// ⟨u, y⟩ over all original outputs.
template <class Scalar>
Scalar projection(const Question& question, const Arrays<Scalar>& answers, const Arrays<Scalar>& inputs) {
    Scalar sum{};
    for (std::size_t k = 0; k < question.outputs; ++k) sum += inner(answers[k], inputs[question.inputs + k]);
    return sum;
}

template <class Scalar>
Arrays<Scalar> moved(Arrays<Scalar> inputs, std::size_t i, const std::vector<Scalar>& direction, Scalar by) {
    for (std::size_t k = 0; k < direction.size(); ++k) inputs[i].real[k] += direction[k] * by;
    return inputs;
}

PrimeField draw_element(Random& random) {
    return {static_cast<std::int64_t>(random.below(PrimeField::prime))};
}

Result<void> check_exactly(const Question& question, std::uint64_t seed) {
    Random random(seed);
    Arrays<PrimeField> inputs;
    for (const ValueId id : question.graph.inputs()) {
        const graph::TensorType& type = question.graph.value(id).type;
        Array<PrimeField>& array = inputs.emplace_back(type.element, type.dims());
        for (PrimeField& value : array.real) value = draw_element(random);
    }
    VIRIDIAN_TRY(const Arrays<PrimeField> here, answer(question, inputs));
    for (std::size_t i = 0; i < question.inputs; ++i) {
        std::vector<PrimeField> direction(inputs[i].real.size());
        for (PrimeField& value : direction) value = draw_element(random);
        VIRIDIAN_TRY(const Arrays<PrimeField> there, answer(question, moved(inputs, i, direction, {1})));
        const PrimeField difference =
            projection(question, there, inputs) - projection(question, here, inputs);
        PrimeField expected;
        for (std::size_t k = 0; k < direction.size(); ++k)
            expected += here[question.outputs + i].real[k] * direction[k];
        if (!(difference == expected))
            return fail(ErrorCode::not_equal, "correct the rule",
                        "the gradient of input {} is wrong (exactly, over the prime field)", i);
    }
    return {};
}

Result<Arrays<double>> draw_inputs(const Question& question, Random& random) {
    Instance drawing(random);
    Arrays<double> inputs;
    for (std::size_t i = 0; i < question.graph.inputs().size(); ++i) {
        const graph::TensorType& type = question.graph.value(question.graph.inputs()[i]).type;
        Array<double>& array = inputs.emplace_back(type.element, type.dims());
        array.real = drawing.draw(array.count(), i < question.inputs ? question.domains[i] : Domain());
    }
    return inputs;
}

// The derivative of ⟨u, y⟩ along `direction` of input i, by central differences with steps h, h/2 and h/4 and
// two Richardson extrapolations.
Result<double> difference(const Question& question, const Arrays<double>& inputs, std::size_t i,
                          const std::vector<double>& direction) {
    double table[3] = {};
    double h = 4e-3;
    for (double& entry : table) {
        VIRIDIAN_TRY(const Arrays<double> plus, answer(question, moved(inputs, i, direction, h)));
        VIRIDIAN_TRY(const Arrays<double> minus, answer(question, moved(inputs, i, direction, -h)));
        entry = (projection(question, plus, inputs) - projection(question, minus, inputs)) / (2 * h);
        h /= 2;
    }
    const double first = (4 * table[1] - table[0]) / 3;
    const double second = (4 * table[2] - table[1]) / 3;
    return (16 * second - first) / 15;
}

Result<void> check_numerically(const Question& question, std::uint64_t seed) {
    Random random(seed);
    VIRIDIAN_TRY(const Arrays<double> inputs, draw_inputs(question, random));
    VIRIDIAN_TRY(const Arrays<double> here, answer(question, inputs));
    for (std::size_t i = 0; i < question.inputs; ++i) {
        if (inputs[i].real.empty()) continue;
        std::vector<double> direction(inputs[i].real.size());
        double length = 0;
        for (double& value : direction) length = std::max(length, std::abs(value = random.uniform(-1, 1)));
        for (double& value : direction) value /= length;
        VIRIDIAN_TRY(const double found, difference(question, inputs, i, direction));
        double expected = 0;
        double scale = 1e-3;
        for (std::size_t k = 0; k < direction.size(); ++k) {
            const double term = here[question.outputs + i].real[k] * direction[k];
            expected += term;
            scale += std::abs(term);
        }
        const double error = std::abs(found - expected) / scale;
        if (!(error <= 1e-7))
            return fail(ErrorCode::not_equal, "correct the rule",
                        "the gradient of input {} differs by {:.3g} from the difference quotient", i, error);
    }
    return {};
}

}  // namespace

Result<Question> ask(Instance& instance) {
    Question question;
    question.graph = std::move(instance.graph);
    question.domains = instance.domains();
    Graph& graph = question.graph;
    question.inputs = graph.inputs().size();
    question.outputs = instance.outputs().size();
    const std::vector<ValueId> of = graph.inputs();
    std::vector<Seed> seeds;
    for (const ValueId output : instance.outputs())
        seeds.push_back({output, graph.add_input("u", graph.value(output).type)});
    question.first_new = graph.node_slots();
    VIRIDIAN_TRY(std::vector<ValueId> gradients, differentiate(graph, of, seeds));
    for (std::size_t i = 0; i < gradients.size(); ++i)
        if (gradients[i] == ValueId::none)
            gradients[i] =
                graph.add_constant("zeros", Tensor(ElementType::f64, graph.value(of[i]).type.dims()));
    std::vector<ValueId> outputs = instance.outputs();
    outputs.insert(outputs.end(), gradients.begin(), gradients.end());
    graph.set_outputs(std::move(outputs));
    return question;
}

Result<Question> ask(const Rule& rule, std::uint64_t seed) {
    Random random(seed);
    Instance instance(random);
    try {
        rule.instance(instance);
    } catch (const Refusal& refusal) {
        return refusal.error;
    }
    return ask(instance);
}

Result<void> check(const Question& question, Rule::Form form, std::uint64_t seed) {
    return form == Rule::Form::multilinear ? check_exactly(question, seed)
                                           : check_numerically(question, seed);
}

}  // namespace viridian::gradient
