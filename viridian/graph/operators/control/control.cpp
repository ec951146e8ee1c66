// If, Loop, Scan. Bodies see nothing but what they are handed; captured values are trailing inputs (attribute
// "captures" says how many for Loop and Scan).
#include <algorithm>

#include "viridian/graph/infer_bodies.hpp"
#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/reference/stacking.hpp"

namespace viridian::graph {
namespace {

// More would be a loop that never ends.
constexpr std::int64_t iteration_limit = std::int64_t{1} << 24;

Result<void> infer_if(Inference& inference) {
    const Node& node = inference.node();
    if (node.bodies.size() != 2)
        return fail(ErrorCode::malformed, "export the model again", "If has {} branches", node.bodies.size());
    const auto yes = output_types(*node.bodies[0]);
    const auto no = output_types(*node.bodies[1]);
    if (yes.size() != no.size() || yes.size() < node.outputs.size())
        return fail(ErrorCode::malformed, "export the model again", "If's branches give {} and {} values",
                    yes.size(), no.size());
    for (std::size_t i = 0; i < yes.size(); ++i) {
        const TensorType both = join(yes[i], no[i]);
        inference.set(i, both.element, both.shape);
    }
    return {};
}

template <class Scalar>
std::vector<Array<Scalar>> copies(const Call<Scalar>& call, std::size_t start, std::size_t end) {
    std::vector<Array<Scalar>> arrays;
    for (std::size_t i = start; i < end; ++i)
        arrays.push_back(call.input(i) == nullptr ? Array<Scalar>() : *call.input(i));
    return arrays;
}

Result<bool> truth(bool floating, const std::vector<std::int64_t>& integer) {
    if (floating || integer.size() != 1)
        return fail(ErrorCode::mismatch, "check the model", "a condition must be one truth value");
    return integer[0] != 0;
}

constexpr auto if_kernel = [](auto& call) -> Result<void> {
    VIRIDIAN_TRY(const bool yes, truth(call.input(0)->floating(), call.input(0)->integer));
    if (call.node.bodies.size() != 2)
        return fail(ErrorCode::malformed, "export the model again", "If has {} branches",
                    call.node.bodies.size());
    VIRIDIAN_TRY(call.outputs, call.run_body(yes ? 0 : 1, copies(call, 1, call.inputs.size())));
    return {};
};

Result<std::size_t> captures_of(const Node& node, std::size_t fixed, std::size_t given) {
    const std::int64_t captures = node.integer("captures", 0);
    if (node.bodies.size() != 1 || captures < 0 || static_cast<std::size_t>(captures) + fixed > given)
        return fail(ErrorCode::malformed, "export the model again", "{} has {} bodies and {} captures",
                    node.op, node.bodies.size(), captures);
    return static_cast<std::size_t>(captures);
}

Result<void> infer_loop_outputs(Inference& inference) {
    VIRIDIAN_TRY(const std::size_t captures, captures_of(inference.node(), 2, inference.input_count()));
    const Graph& body = *inference.node().bodies[0];
    const std::size_t states = inference.input_count() - 2 - captures;
    const auto outputs = output_types(body);
    if (outputs.size() < states + 1)
        return fail(ErrorCode::malformed, "export the model again",
                    "Loop's body gives {} values for {} states", outputs.size(), states);
    for (std::size_t i = 0; i + 1 < outputs.size(); ++i) {
        TensorType type = outputs[i + 1];
        if (i < states)
            type = body.value(body.inputs()[i + 2]).type;  // holds in every iteration, none included
        else if (type.shape)
            type.shape->insert(type.shape->begin(), Dimension());
        inference.set(i, type.element, type.shape);
    }
    return {};
}

constexpr auto loop = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(const std::size_t captures, captures_of(call.node, 2, call.inputs.size()));
    const std::size_t states = call.inputs.size() - 2 - captures;
    std::int64_t most = iteration_limit + 1;
    if (call.input(0) != nullptr && call.input(0)->count() == 1 && !call.input(0)->floating())
        most = call.input(0)->integer[0];
    bool going = true;
    if (call.input(1) != nullptr) {
        VIRIDIAN_TRY(going, truth(call.input(1)->floating(), call.input(1)->integer));
    }
    std::vector<Array<Scalar>> state = copies(call, 2, 2 + states);
    const std::vector<Array<Scalar>> captured = copies(call, 2 + states, call.inputs.size());
    const auto types = output_types(*call.node.bodies[0]);
    std::vector<Stack<Scalar>> stacks;
    for (std::size_t i = states + 1; i < types.size(); ++i) stacks.emplace_back(types[i], *call.budget);
    for (std::int64_t iteration = 0; going && iteration < most; ++iteration) {
        if (iteration == iteration_limit)
            return fail(ErrorCode::limit_exceeded, "check the model",
                        "Loop has not ended after {} iterations", iteration);
        std::vector<Array<Scalar>> arguments;
        arguments.emplace_back(ElementType::i64, Dims{}).integer[0] = iteration;
        arguments.emplace_back(ElementType::boolean, Dims{}).integer[0] = 1;
        std::move(state.begin(), state.end(), std::back_inserter(arguments));
        arguments.insert(arguments.end(), captured.begin(), captured.end());
        VIRIDIAN_TRY(std::vector<Array<Scalar>> results, call.run_body(0, std::move(arguments)));
        if (results.size() != 1 + states + stacks.size())
            return fail(ErrorCode::malformed, "export the model again", "Loop's body gives {} values",
                        results.size());
        VIRIDIAN_TRY(going, truth(results[0].floating(), results[0].integer));
        for (std::size_t i = 0; i < states; ++i) state[i] = std::move(results[i + 1]);
        for (std::size_t i = 0; i < stacks.size(); ++i) VIRIDIAN_TRY(stacks[i].push(results[i + 1 + states]));
    }
    for (Stack<Scalar>& stack : stacks) {
        VIRIDIAN_TRY(Array<Scalar> whole, std::move(stack).finish());
        state.push_back(std::move(whole));
    }
    state.resize(call.outputs.size());
    call.outputs = std::move(state);
    return {};
};

struct ScanPlan {
    std::size_t states = 0, scanned = 0, captures = 0;
    Dims in_axes, in_directions, out_axes, out_directions;

    static Result<ScanPlan> of(const Node& node, std::size_t given) {
        ScanPlan plan;
        VIRIDIAN_TRY(plan.captures, captures_of(node, 1, given));
        const std::int64_t scanned = node.integer("num_scan_inputs", 0);
        const std::size_t outputs = node.bodies[0]->outputs().size();
        if (scanned < 1 || static_cast<std::size_t>(scanned) + plan.captures > given ||
            outputs < given - plan.captures - static_cast<std::size_t>(scanned))
            return fail(ErrorCode::malformed, "export the model again", "Scan over {} of {} inputs", scanned,
                        given);
        plan.scanned = static_cast<std::size_t>(scanned);
        plan.states = given - plan.captures - plan.scanned;
        const auto list = [&](const char* key, std::size_t count) {
            Dims values = node.get(key, Dims());
            values.resize(count, 0);
            return values;
        };
        plan.in_axes = list("scan_input_axes", plan.scanned);
        plan.in_directions = list("scan_input_directions", plan.scanned);
        plan.out_axes = list("scan_output_axes", outputs - plan.states);
        plan.out_directions = list("scan_output_directions", outputs - plan.states);
        return plan;
    }
};

Result<void> infer_scan_outputs(Inference& inference) {
    VIRIDIAN_TRY(const ScanPlan plan, ScanPlan::of(inference.node(), inference.input_count()));
    Dimension length;
    if (const auto& shape = inference.shape(plan.states)) {
        VIRIDIAN_TRY(const std::int64_t axis,
                     normalize_axis(plan.in_axes[0], static_cast<std::int64_t>(shape->size())));
        length = (*shape)[static_cast<std::size_t>(axis)];
    }
    const auto outputs = output_types(*inference.node().bodies[0]);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        TensorType type = outputs[i];
        if (i >= plan.states && type.shape) {
            VIRIDIAN_TRY(const std::int64_t axis,
                         normalize_axis(plan.out_axes[i - plan.states],
                                        static_cast<std::int64_t>(type.shape->size()) + 1));
            type.shape->insert(type.shape->begin() + axis, length);
        }
        inference.set(i, type.element, type.shape);
    }
    return {};
}

constexpr auto scan = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(const ScanPlan plan, ScanPlan::of(call.node, call.inputs.size()));
    std::vector<Array<Scalar>> state = copies(call, 0, plan.states);
    const std::size_t first_capture = plan.states + plan.scanned;
    const std::vector<Array<Scalar>> captured = copies(call, first_capture, call.inputs.size());
    std::optional<std::int64_t> length;
    for (std::size_t i = 0; i < plan.scanned; ++i) {
        const Array<Scalar>& x = *call.input(plan.states + i);
        VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(plan.in_axes[i], x.rank()));
        const std::int64_t steps = x.dims[static_cast<std::size_t>(axis)];
        if (length && *length != steps)
            return fail(ErrorCode::mismatch, "check the model's inputs", "Scan over axes of {} and {}",
                        *length, steps);
        length = steps;
    }
    const auto types = output_types(*call.node.bodies[0]);
    std::vector<Stack<Scalar>> stacks;
    for (std::size_t i = plan.states; i < types.size(); ++i) stacks.emplace_back(types[i], *call.budget);
    for (std::int64_t step = 0; step < *length; ++step) {
        std::vector<Array<Scalar>> arguments = std::move(state);
        for (std::size_t i = 0; i < plan.scanned; ++i)
            arguments.push_back(slice_along(*call.input(plan.states + i), plan.in_axes[i],
                                            plan.in_directions[i] != 0 ? *length - 1 - step : step));
        arguments.insert(arguments.end(), captured.begin(), captured.end());
        VIRIDIAN_TRY(std::vector<Array<Scalar>> results, call.run_body(0, std::move(arguments)));
        state.assign(std::make_move_iterator(results.begin()),
                     std::make_move_iterator(results.begin() + static_cast<std::ptrdiff_t>(plan.states)));
        for (std::size_t i = 0; i < stacks.size(); ++i)
            VIRIDIAN_TRY(stacks[i].push(results[plan.states + i]));
    }
    for (std::size_t i = 0; i < stacks.size(); ++i) {
        if (plan.out_directions[i] != 0) stacks[i].reverse();
        VIRIDIAN_TRY(Array<Scalar> stacked, std::move(stacks[i]).finish());
        VIRIDIAN_TRY(Array<Scalar> whole, move_first_axis(std::move(stacked), plan.out_axes[i]));
        state.push_back(std::move(whole));
    }
    state.resize(call.outputs.size());
    call.outputs = std::move(state);
    return {};
};

// One less than unbounded: inputs of these may be left out.
constexpr int many = unbounded - 1;

}  // namespace

std::span<const OperatorRow> control_operators() {
    static constexpr OperatorRow rows[] = {
        control_row("If", {1, many}, infer_if, polynomial_kernel(if_kernel), {.outputs = {1, many}}),
        control_row("Loop", {0, many}, infer_loop_outputs, polynomial_kernel(loop), {.outputs = {0, many}}),
        control_row("Scan", {1, many}, infer_scan_outputs, polynomial_kernel(scan), {.outputs = {1, many}}),
    };
    return rows;
}

}  // namespace viridian::graph
