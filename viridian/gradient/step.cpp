#include "viridian/gradient/step.hpp"

#include <algorithm>

#include "viridian/gradient/differentiate.hpp"
#include "viridian/gradient/dropout.hpp"
#include "viridian/gradient/update.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::gradient {
namespace {

// Adds the state that sums the gradients of the site's parameter over micro-batches.
ValueId add_accumulator(Graph& graph, const UpdateSite& site) {
    const graph::TensorType type = graph.value(site.parameter).type;
    return graph.add_state(site.state.name + std::string(accumulator_suffix),
                           Tensor(type.element, type.dims()), graph::StateRole::accumulator, site.parameter);
}

class StepMaker {
  public:
    StepMaker(const graph::Graph& forward, const StepOptions& options) : options_(options), b(step_.graph) {
        step_.graph = forward;
    }

    Result<Step> make(bool accumulates) {
        Graph& graph = step_.graph;
        VIRIDIAN_TRY(const std::vector<Parameter> parameters, find_parameters(graph, options_.parameters));
        std::vector<Parameter> trained;
        for (const Parameter& parameter : parameters)
            if (parameter.trained)
                trained.push_back(parameter);
            else
                step_.frozen.push_back(parameter.name);
        VIRIDIAN_TRY(check_precision(trained));
        VIRIDIAN_TRY(check_decays(trained));
        for (const Parameter& parameter : trained)
            graph.make_state(parameter.value, graph::StateRole::parameter);
        const std::vector<ValueId> inputs = differentiated_inputs();
        VIRIDIAN_TRY(keep_statistics());
        VIRIDIAN_TRY(draw_masks());
        for (const Parameter& parameter : trained) graph.set_after(parameter.value, parameter.value);
        VIRIDIAN_TRY(rewrite::simplify(graph));  // parameters are no constants now, so all of them stay
        for (const Parameter& parameter : trained)
            sites_.push_back(
                {.parameter = parameter.value, .state = {.name = parameter.name, .axis = 0, .parts = {}}});
        VIRIDIAN_TRY(stack_parameters());
        const std::vector<ValueId> predictions = graph.outputs();
        VIRIDIAN_TRY(const Loss loss, add_loss(graph, options_.loss));
        if (loss.labels != ValueId::none) step_.labels = graph.value(loss.labels).name;
        std::vector<ValueId> of;
        for (UpdateSite& site : sites_) {
            of.push_back(site.parameter);
            site.reader = first_reader(site.parameter);
        }
        of.insert(of.end(), inputs.begin(), inputs.end());
        VIRIDIAN_TRY(const std::vector<ValueId> gradients, differentiate_loss(loss, of, sites_.size()));
        std::vector<ValueId> outputs;
        if (loss.value != ValueId::none) {
            if (graph.value(loss.value).kind == graph::ValueKind::intermediate &&
                options_.loss.kind != LossKind::output)
                graph.set_name(loss.value, std::string(loss_output));
            outputs.push_back(loss.value);
        }
        for (const ValueId prediction : predictions)
            if (prediction != loss.value) outputs.push_back(prediction);
        for (std::size_t i = 0; i < sites_.size(); ++i) sites_[i].gradient = gradients[i];
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (const ValueId gradient = gradients[sites_.size() + i]; gradient != ValueId::none)
                outputs.push_back(named_gradient(inputs[i], gradient));
        if (accumulates) {
            accumulate();
        } else {
            Updates updates = add_updates(graph, options_, sites_);
            step_.parameters = std::move(updates.parameters);
            std::ranges::move(updates.stacked, std::back_inserter(step_.stacked));
            outputs.insert(outputs.end(), updates.outputs.begin(), updates.outputs.end());
        }
        graph.set_outputs(std::move(outputs));
        graph::remove_dead_nodes(graph);
        VIRIDIAN_TRY(infer_types(graph));
        return std::move(step_);
    }

    // What the last step that was made trains.
    [[nodiscard]] const std::vector<UpdateSite>& sites() const { return sites_; }

  private:
    // Updates of parameters in f16 or bf16 would vanish in rounding, and the optimiser's epsilon with them.
    Result<void> check_precision(const std::vector<Parameter>& trained) {
        for (const Parameter& parameter : trained) {
            const graph::Value& value = step_.graph.value(parameter.value);
            if (value.type.element != ElementType::f32 && value.type.element != ElementType::f64)
                return fail(ErrorCode::unsupported, "export the model in f32, or freeze it with --freeze",
                            "parameter `{}` is {}, and only f32 and f64 are trained", value.name,
                            text(value.type));
        }
        return {};
    }

    // A decay of no trained parameter would do nothing.
    Result<void> check_decays(const std::vector<Parameter>& trained) {
        std::vector<std::string> names;
        for (const Parameter& parameter : trained) names.push_back(parameter.name);
        for (const DecayRule& rule : options_.decays) VIRIDIAN_TRY(check_matches_one(rule.pattern, names));
        return {};
    }

    // A stack takes the place of the first of its parameters.
    Result<void> stack_parameters() {
        if (options_.stacking != Stacking::separate && options_.optimizer.kind == OptimizerKind::lamb)
            return fail(ErrorCode::invalid_argument, "leave --stack out, or choose another --optimizer",
                        "lamb scales the update of each parameter by norms, so parameters cannot be stacked");
        const auto decay = [&](ValueId state) {
            const graph::Value& value = step_.graph.value(state);
            return decay_of(value.name, static_cast<std::int64_t>(value.type.dims().size()),
                            options_.optimizer.decay, options_.decays)
                .value;
        };
        VIRIDIAN_TRY(const ValueId loss_of, loss_output_of(step_.graph, options_.loss));
        VIRIDIAN_TRY(std::vector<Stack> stacks,
                     stack_weights(step_.graph, options_.stacking, loss_of, decay));
        for (Stack& stack : stacks) {
            const auto at = [&](ValueId id) { return std::ranges::find(sites_, id, &UpdateSite::parameter); };
            step_.stacked.push_back(stack.state);
            *at(stack.replaced[0]) = {.parameter = stack.value, .state = std::move(stack.state)};
            for (const ValueId id : std::span(stack.replaced).subspan(1)) sites_.erase(at(id));
        }
        return {};
    }

    // Running means and variances that a normalisation in training mode computes become states.
    Result<void> keep_statistics() {
        Graph& graph = step_.graph;
        for (const NodeId id : graph.nodes()) {
            const Node node = graph.node(id);
            if (node.op != op::BatchNormalization || node.integer("training_mode", 0) == 0) continue;
            for (std::size_t i = 1; i <= 2; ++i) {
                const ValueId before = node.input(i + 2);
                if (graph.constant(before) == nullptr)
                    return fail(ErrorCode::unsupported, "export the model with a tensor of its own for it",
                                "the running statistic `{}` of node `{}` is a parameter or a statistic of "
                                "another node too",
                                graph.value(before).name, node.name);
                const std::string name = graph.value(before).name;
                ValueId after = node.output(i);
                if (after == ValueId::none) after = graph.add_output(id, i, name + ".after");
                graph.make_state(before, graph::StateRole::statistic);
                graph.set_after(before, after);
                step_.statistics.push_back(name);
            }
        }
        return {};
    }

    // Dropout draws from the seed, the step and the number of the sample.
    Result<void> draw_masks() {
        Graph& graph = step_.graph;
        const auto draws = [&](NodeId id) {
            const Node& node = graph.node(id);
            return node.op == op::Dropout && node.input(2) != ValueId::none;
        };
        if (std::ranges::none_of(graph.nodes(), draws)) return {};
        const graph::TensorType number{ElementType::i64, graph::Shape{}};
        const MaskInputs inputs{.seed = graph.add_input(std::string(seed_input), number),
                                .step = step_count(graph),
                                .first_sample = graph.add_input(std::string(first_sample_input), number)};
        VIRIDIAN_TRY(expand_dropouts(graph, inputs));
        return {};
    }

    // The inputs of the network whose gradients are asked for.
    [[nodiscard]] std::vector<ValueId> differentiated_inputs() const {
        std::vector<ValueId> inputs;
        if (!options_.input_gradients) return inputs;
        for (const ValueId id : step_.graph.inputs())
            if (is_floating(step_.graph.value(id).type.element)) inputs.push_back(id);
        return inputs;
    }

    // An output of its own for the gradient of an input, because two inputs may have one gradient.
    ValueId named_gradient(ValueId input, ValueId gradient) {
        b.at(nullptr, graph::Phase::backward);
        const ValueId named = b.add(op::Identity, {b.value(gradient)}).id;
        step_.graph.set_name(named, step_.graph.value(input).name + ".gradient");
        return named;
    }

    // The gradients of the loss with respect to each value of `of`, the first of which are `parameters`
    // parameters.
    Result<std::vector<ValueId>> differentiate_loss(const Loss& loss, const std::vector<ValueId>& of,
                                                    std::size_t parameters) {
        Graph& graph = step_.graph;
        Seed seed{loss.of, loss.gradient};
        if (loss.gradient == ValueId::none) {
            VIRIDIAN_TRY(infer_types(graph));
            const Term one = b.number(1, b.value(loss.value));
            seed = {loss.value, like(one, b.value(loss.value)).id};
        }
        VIRIDIAN_TRY(std::vector<ValueId> gradients, differentiate(graph, of, std::span(&seed, 1)));
        if (std::ranges::all_of(std::span(gradients).first(parameters),
                                [](ValueId g) { return g == ValueId::none; }))
            return fail(ErrorCode::mismatch, "see the network's parameters with `viridian inspect`",
                        "the loss depends on no parameter that is trained");
        return gradients;
    }

    std::optional<Node> first_reader(ValueId parameter) {
        const Graph& graph = step_.graph;
        const graph::Uses uses = graph::uses(graph);
        const std::span<const NodeId> readers = uses.readers(parameter);
        return readers.empty() ? std::nullopt : std::optional(graph.node(readers[0]));
    }

    // Accumulators become states, to which every run adds the gradients of its micro-batch.
    void accumulate() {
        Graph& graph = step_.graph;
        for (const UpdateSite& site : sites_) {
            if (site.gradient == ValueId::none) continue;
            b.at(site.reader ? &*site.reader : nullptr, graph::Phase::weight);
            const ValueId sum = add_accumulator(graph, site);
            graph.set_after(sum, (b.value(sum) + b.value(site.gradient)).id);
        }
        // Only the other graph counts steps, so that all micro-batches of a step draw from the same number.
        for (const graph::State& state : std::vector(graph.states()))
            if (state.role == graph::StateRole::counter) graph.set_after(state.before, state.before);
    }

    const StepOptions& options_;
    Step step_;
    Builder b;
    std::vector<UpdateSite> sites_;
};

// The graph that uses up the accumulators of `step`: it updates the parameters by them, and leaves zeros. It
// tells `step` what it trains.
Result<Graph> apply_graph(const StepOptions& options, const std::vector<UpdateSite>& sites, Step& step) {
    const Graph& accumulate = step.graph;
    Graph graph;
    graph.name = accumulate.name;
    std::vector<UpdateSite> here;
    for (const UpdateSite& site : sites) {
        if (site.gradient == ValueId::none) continue;
        UpdateSite& one = here.emplace_back(site);
        one.parameter = graph.add_state(site.state.name, *accumulate.first_value(site.parameter));
        graph.set_after(one.parameter, one.parameter);
        one.gradient = add_accumulator(graph, one);
    }
    for (const graph::State& state : accumulate.states())  // masks are drawn anew even if nothing is updated
        if (state.role == graph::StateRole::counter) static_cast<void>(step_count(graph));
    Updates updates = add_updates(graph, options, here);
    step.parameters = std::move(updates.parameters);
    std::ranges::move(updates.stacked, std::back_inserter(step.stacked));
    Builder b(graph);
    for (const UpdateSite& site : here) {
        b.at(site.reader ? &*site.reader : nullptr, graph::Phase::update);
        const Term sum = b.value(site.gradient);
        graph.set_after(site.gradient, expand(b.number(0, sum), b.dims(sum)).id);
    }
    graph.set_outputs(std::move(updates.outputs));
    VIRIDIAN_TRY(infer_types(graph));
    return graph;
}

}  // namespace

Result<Step> training_step(const graph::Graph& forward, const StepOptions& options) {
    try {
        VIRIDIAN_TRY(Step step, StepMaker(forward, options).make(false));
        if (options.memory) VIRIDIAN_TRY(fit(step.graph, *options.memory, options.need));
        return step;
    } catch (const Refusal& refusal) {
        return refusal.error;
    }
}

Result<AccumulatedStep> accumulated_step(const graph::Graph& forward, const StepOptions& options) {
    if (options.loss.kind == LossKind::output)
        return fail(ErrorCode::unsupported, "choose a loss of --loss, or a larger --batch",
                    "the network computes its loss itself, so the losses of micro-batches cannot be summed");
    StepOptions summed = options;
    summed.loss.external_count = true;
    try {
        StepMaker maker(forward, summed);
        AccumulatedStep made;
        VIRIDIAN_TRY(made.accumulate, maker.make(true));
        VIRIDIAN_TRY(made.apply, apply_graph(summed, maker.sites(), made.accumulate));
        if (options.memory) {  // the limit applies to each graph separately
            VIRIDIAN_TRY(fit(made.accumulate.graph, *options.memory, options.need));
            VIRIDIAN_TRY(fit(made.apply, *options.memory, options.need));
        }
        return made;
    } catch (const Refusal& refusal) {
        return refusal.error;
    }
}

}  // namespace viridian::gradient
