#include "viridian/prove/training.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "viridian/graph/evaluate.hpp"
#include "viridian/prove/proof.hpp"

namespace viridian::prove {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::State;
using graph::StateRole;
using graph::Tensor;
using graph::ValueId;

constexpr double negligible = 0.01;  // of a typical size

// Inputs of an optimiser's node (viridian/gradient/optimizer.hpp): parameter, gradient, rate, count of steps,
// factor of the gradient, moments.
constexpr std::size_t gradient_input = 1, factor_input = 4;

bool is_optimizer(const Graph& graph, const Node& node) {
    return node.phase == graph::Phase::update && node.op.domain() == "viridian" &&
           node.inputs.size() > factor_input && node.inputs[0] != ValueId::none &&
           graph.value(node.inputs[0]).kind == graph::ValueKind::state;
}

bool is_sgd(const graph::Operator& op) { return op.domain() == "viridian" && op.name() == "Sgd"; }

// A state that gradients change, though by no node that we know: w' is compared by w' − w then.
bool trained(const Graph& graph, const State& state) {
    const graph::Value& after = graph.value(state.after);
    if (after.kind != graph::ValueKind::intermediate || !is_floating(after.type.element)) return false;
    return changed_by_gradients(state.role);
}

double stored_roundoff(ElementType type) {
    switch (type) {
        case ElementType::f64:
            return 0x1p-53;
        case ElementType::f16:
            return 0x1p-11;
        case ElementType::bf16:
            return 0x1p-8;
        default:
            return 0x1p-24;
    }
}

Tensor filled(const graph::TensorType& type, double value) {
    Tensor tensor(type.element, type.dims());
    if (type.element == ElementType::f64)
        std::ranges::fill(tensor.mutable_values<double>(), value);
    else if (type.element == ElementType::f32)
        std::ranges::fill(tensor.mutable_values<float>(), static_cast<float>(value));
    return tensor;
}

// What both sides cannot have as a number says nothing of gradients: NaN, or the same infinity.
bool agree_without_number(double found, double expected) {
    return std::isnan(expected) || (found == expected && std::isinf(expected));
}

bool comparable(const Tensor& found, const Tensor& expected) {
    return found.tensor_type() == expected.tensor_type() && same_nan_pattern(found, expected);
}

ResultError plain_error(const Tensor& found, const Tensor& expected, double least = 0) {
    const bool same = comparable(found, expected);
    return {same ? relative_error(found, expected, least) : std::numeric_limits<double>::infinity()};
}

bool is_gradient_of_parameter(const Graph& step, ValueId output) {
    const graph::Value& value = step.value(output);
    if (value.kind != graph::ValueKind::intermediate || !is_floating(value.type.element)) return false;
    const graph::Phase phase = step.node(value.producer).phase;
    return phase == graph::Phase::weight || phase == graph::Phase::update;
}

// Returns a hundredth of the typical norm of each output that is a gradient.
std::vector<std::optional<double>> least_norms(const Graph& step, const std::vector<Tensor>& expected) {
    double squares = 0, count = 0;
    std::vector<std::optional<double>> least;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        least.emplace_back();
        if (!is_gradient_of_parameter(step, step.outputs()[i])) continue;
        least[i] = negligible * std::sqrt(static_cast<double>(expected[i].count()));
        for (std::int64_t k = 0; k < expected[i].count(); ++k) {
            const double x = expected[i].number(k);
            if (!std::isfinite(x)) continue;
            squares += x * x;
            count += 1;
        }
    }
    const double typical = std::sqrt(squares / std::max(count, 1.0));
    for (std::optional<double>& one : least)
        if (one) *one *= typical;
    return least;
}

}  // namespace

bool divides_gradients(const Graph& step, const State& state) {
    if (state.role != StateRole::parameter) return false;
    const graph::Value& after = step.value(state.after);
    if (after.kind == graph::ValueKind::intermediate && is_sgd(step.node(after.producer).op)) return false;
    return std::ranges::any_of(step.states(), [&](const State& other) {
        return other.role == StateRole::moment && other.of == state.before;
    });
}

bool changed_by_gradients(StateRole role) {
    return role == StateRole::parameter || role == StateRole::moment || role == StateRole::accumulator;
}

double update_error(const Tensor& found, const Tensor& expected, const Tensor& before) {
    if (!comparable(found, expected)) return std::numeric_limits<double>::infinity();
    double off = 0, changed = 0, size = 0;
    for (std::int64_t k = 0; k < expected.count(); ++k) {
        const double x = found.number(k), y = expected.number(k), z = before.number(k);
        if (agree_without_number(x, y)) continue;
        off += (x - y) * (x - y);
        if (std::isfinite(y - z)) changed += (y - z) * (y - z);
        size += y * y;
    }
    const double beyond = std::sqrt(off) - 2 * stored_roundoff(expected.type()) * std::sqrt(size);
    if (beyond <= 0) return 0;
    const double error = beyond / std::sqrt(changed);
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

Result<std::vector<Tensor>> without_gradients(const Graph& step, const std::vector<Tensor>& given) {
    Graph cut = step;
    std::vector<bool> updated(step.node_slots());
    for (const NodeId id : step.nodes()) {
        Node node = step.node(id);
        if (!is_optimizer(step, node)) continue;
        updated[index(id)] = true;
        const graph::TensorType zero = step.value(node.inputs[gradient_input]).type;
        const graph::TensorType one = step.value(node.inputs[factor_input]).type;
        node.inputs[gradient_input] = cut.add_constant("no gradient", filled(zero, 0));
        node.inputs[factor_input] = cut.add_constant("no factor", filled(one, 1));
        cut.set_node(id, std::move(node));
    }
    std::vector<bool> wanted;
    bool any = false;
    for (const State& state : step.states()) {
        const graph::Value& after = step.value(state.after);
        const bool update = after.kind == graph::ValueKind::intermediate && updated[index(after.producer)];
        wanted.push_back(update);
        any = any || update;
        if (!update) cut.set_after(state.before, state.before);
    }
    std::vector<Tensor> values(step.states().size());
    if (any) {
        cut.set_outputs({});
        graph::remove_dead_nodes(cut);
        VIRIDIAN_TRY(values, graph::evaluate(cut, given));
    }
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!wanted[i])
            values[i] = trained(step, step.states()[i]) ? given[step.inputs().size() + i] : Tensor();
    return values;
}

// Judges new states; `expected` and `base` hold no outputs.
class ResultJudge::States {
  public:
    States(const Graph& graph, std::vector<Tensor> expected, std::vector<Tensor> base, double allowed)
        : graph_(graph), expected_(std::move(expected)), base_(std::move(base)), allowed_(allowed) {
        std::map<std::string, double> squares;
        std::map<std::string, double> counts;
        for (std::size_t i = 0; i < base_.size(); ++i) {
            if (!changes(i)) continue;
            const std::string name = kind(i);
            for (std::int64_t k = 0; k < expected_[i].count(); ++k) {
                const double added = added_to(i, k);
                if (!std::isfinite(added)) continue;
                squares[name] += added * added;
                counts[name] += 1;
                largest_[name] = std::max(largest_[name], std::abs(added));
            }
            squares.try_emplace(name);
        }
        for (const auto& [kind, sum] : squares) typical_[kind] = std::sqrt(sum / std::max(counts[kind], 1.0));
    }

    [[nodiscard]] ResultError error(std::size_t i, const Tensor& found) const {
        return changes(i) ? update_error(i, found) : plain_error(found, expected_[i]);
    }

  private:
    [[nodiscard]] bool changes(std::size_t i) const { return base_[i].type() != ElementType::undefined; }

    [[nodiscard]] ResultError update_error(std::size_t i, const Tensor& found) const {
        const Tensor& expected = expected_[i];
        if (!comparable(found, expected)) return {std::numeric_limits<double>::infinity(), true};
        const std::optional<std::size_t> moment = first_moment(i);
        const auto largest = largest_.find(kind(i));
        const double most = largest == largest_.end() ? 0 : 2 * largest->second;
        const double least_moment = moment ? least_of(*moment) : 0;
        double off = 0, added = 0, size = 0, elements = 0;
        for (std::int64_t k = 0; k < expected.count(); ++k) {
            if (agree_without_number(found.number(k), expected.number(k))) continue;
            double difference = std::abs(found.number(k) - expected.number(k));
            if (moment && std::abs(added_to(*moment, k)) < least_moment) {
                difference = std::max(difference - most, 0.0);
                off += difference * difference;
                continue;
            }
            const double addition = added_to(i, k);
            off += difference * difference;
            added += addition * addition;
            size += expected.number(k) * expected.number(k);
            elements += 1;
        }
        const double rounding = 2 * stored_roundoff(expected.type()) * std::sqrt(size);
        const double beyond = std::sqrt(off) - rounding;
        if (beyond <= 0) return {0, true};
        const double least = negligible * typical_.at(kind(i)) * std::sqrt(elements);
        const double error = beyond / std::max(std::sqrt(added), least);
        return {std::isnan(error) ? std::numeric_limits<double>::infinity() : error, true};
    }

    // States of one kind have gradients of one unit: parameters; first moments; second moments; accumulators.
    [[nodiscard]] std::string kind(std::size_t i) const {
        const State& state = graph_.states()[i];
        const std::string& name = graph_.value(state.before).name;
        std::string role(name_of(state.role));
        if (state.of == ValueId::none) return role;
        const std::string& of = graph_.value(state.of).name;
        return role + (name.starts_with(of) ? name.substr(of.size()) : name);
    }

    // That of a weight whose optimiser divides gradients by their size; SGD does not.
    [[nodiscard]] std::optional<std::size_t> first_moment(std::size_t i) const {
        const std::vector<State>& states = graph_.states();
        if (!divides_gradients(graph_, states[i])) return std::nullopt;
        for (std::size_t k = 0; k < states.size(); ++k)
            if (states[k].role == StateRole::moment && states[k].of == states[i].before && changes(k) &&
                expected_[k].dims() == expected_[i].dims())
                return k;
        return std::nullopt;
    }

    // Returns the smallest addition to a moment that still tells the sign of the gradient: a hundredth of the
    // typical one or, if that is larger, min(10 · allowed_, 1/2) of the root mean square in this moment.
    [[nodiscard]] double least_of(std::size_t moment) const {
        const double least = negligible * typical_.at(kind(moment));
        const double part = std::min(10 * allowed_, 0.5);
        if (part <= negligible) return least;
        double squares = 0;
        for (std::int64_t k = 0; k < expected_[moment].count(); ++k)
            if (const double added = added_to(moment, k); std::isfinite(added)) squares += added * added;
        const auto count = static_cast<double>(std::max<std::int64_t>(expected_[moment].count(), 1));
        return std::max(least, part * std::sqrt(squares / count));
    }

    // What gradients should add to an element of a state.
    [[nodiscard]] double added_to(std::size_t state, std::int64_t element) const {
        return expected_[state].number(element) - base_[state].number(element);
    }

    const Graph& graph_;
    std::vector<Tensor> expected_, base_;
    double allowed_;
    // By kind of state, what gradients add to an element: the root of the mean square, and the largest size.
    std::map<std::string, double> typical_, largest_;
};

ResultJudge::ResultJudge(std::vector<Tensor> outputs, std::vector<std::optional<double>> least,
                         std::unique_ptr<States> states)
    : outputs_(std::move(outputs)), least_(std::move(least)), states_(std::move(states)) {}
ResultJudge::ResultJudge(ResultJudge&&) noexcept = default;
ResultJudge& ResultJudge::operator=(ResultJudge&&) noexcept = default;
ResultJudge::~ResultJudge() = default;

Result<ResultJudge> ResultJudge::make(const Graph& step, const std::vector<Tensor>& given,
                                      std::vector<Tensor> expected, double allowed) {
    std::unique_ptr<States> states;
    const auto first_state = expected.begin() + static_cast<std::ptrdiff_t>(step.outputs().size());
    if (!step.states().empty()) {
        VIRIDIAN_TRY(std::vector<Tensor> base, without_gradients(step, given));
        states = std::make_unique<States>(step, std::vector<Tensor>(first_state, expected.end()),
                                          std::move(base), allowed);
    }
    expected.erase(first_state, expected.end());
    std::vector<std::optional<double>> least = least_norms(step, expected);
    return ResultJudge(std::move(expected), std::move(least), std::move(states));
}

ResultError ResultJudge::error(std::size_t result, const Tensor& found) const {
    if (result < outputs_.size()) {
        ResultError error = plain_error(found, outputs_[result], least_[result].value_or(0));
        error.is_gradient = least_[result].has_value();
        return error;
    }
    return states_->error(result - outputs_.size(), found);
}

Result<std::vector<ResultError>> result_errors(const Graph& original, const std::vector<Tensor>& given,
                                               const std::vector<Tensor>& expected,
                                               const std::vector<Tensor>& found, double allowed) {
    VIRIDIAN_TRY(const ResultJudge judge, ResultJudge::make(original, given, expected, allowed));
    std::vector<ResultError> errors;
    for (std::size_t i = 0; i < expected.size(); ++i) errors.push_back(judge.error(i, found[i]));
    return errors;
}

}  // namespace viridian::prove
