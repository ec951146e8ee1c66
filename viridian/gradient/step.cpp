#include "viridian/gradient/step.hpp"

#include <algorithm>
#include <numeric>

#include "viridian/gradient/differentiate.hpp"
#include "viridian/gradient/dropout.hpp"
#include "viridian/gradient/scalar.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::gradient {
namespace {

class StepMaker {
  public:
    StepMaker(const graph::Graph& forward, const StepOptions& options) : options_(options), b(step_.graph) {
        step_.graph = forward;
    }

    Result<Step> make() {
        Graph& graph = step_.graph;
        VIRIDIAN_TRY(const std::vector<Parameter> parameters, find_parameters(graph, options_.parameters));
        std::vector<Parameter> trained;
        for (const Parameter& parameter : parameters)
            if (parameter.trained)
                trained.push_back(parameter);
            else
                step_.frozen.push_back(parameter.name);
        VIRIDIAN_TRY(check_precision(trained));
        for (const Parameter& parameter : trained)
            graph.make_state(parameter.value, graph::StateRole::parameter);
        VIRIDIAN_TRY(keep_statistics());
        VIRIDIAN_TRY(draw_masks());
        for (const Parameter& parameter : trained) graph.set_after(parameter.value, parameter.value);
        VIRIDIAN_TRY(rewrite::simplify(graph));  // parameters are no constants now, so all of them stay
        const std::vector<ValueId> predictions = graph.outputs();
        VIRIDIAN_TRY(const Loss loss, add_loss(graph, options_.loss));
        if (loss.labels != ValueId::none) step_.labels = graph.value(loss.labels).name;
        VIRIDIAN_TRY(const std::vector<ValueId> gradients, differentiate_loss(loss, trained));
        std::vector<ValueId> outputs;
        if (loss.value != ValueId::none) {
            if (graph.value(loss.value).kind == graph::ValueKind::intermediate &&
                options_.loss.kind != LossKind::output)
                graph.set_name(loss.value, std::string(loss_output));
            outputs.push_back(loss.value);
        }
        for (const ValueId prediction : predictions)
            if (prediction != loss.value) outputs.push_back(prediction);
        update(trained, gradients, outputs);
        graph.set_outputs(std::move(outputs));
        graph::remove_dead_nodes(graph);
        VIRIDIAN_TRY(infer_types(graph));
        return std::move(step_);
    }

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

    // Adds the state that counts steps, if it is not there yet.
    void count_steps() {
        Graph& graph = step_.graph;
        if (count_ != ValueId::none) return;
        count_ = graph.add_state(std::string(count_state), Tensor::scalar(std::int64_t{0}),
                                 graph::StateRole::counter);
        b.at(nullptr, graph::Phase::update);
        graph.set_after(count_, (b.value(count_) + 1).id);
    }

    // Dropout draws from the seed, the step and the number of the sample.
    Result<void> draw_masks() {
        Graph& graph = step_.graph;
        const auto draws = [&](NodeId id) {
            const Node& node = graph.node(id);
            return node.op == op::Dropout && node.input(2) != ValueId::none;
        };
        if (std::ranges::none_of(graph.nodes(), draws)) return {};
        count_steps();
        const graph::TensorType number{ElementType::i64, graph::Shape{}};
        const MaskInputs inputs{.seed = graph.add_input(std::string(seed_input), number),
                                .step = count_,
                                .first_sample = graph.add_input(std::string(first_sample_input), number)};
        VIRIDIAN_TRY(expand_dropouts(graph, inputs));
        return {};
    }

    Result<std::vector<ValueId>> differentiate_loss(const Loss& loss, const std::vector<Parameter>& trained) {
        Graph& graph = step_.graph;
        Seed seed{loss.of, loss.gradient};
        if (loss.gradient == ValueId::none) {
            VIRIDIAN_TRY(infer_types(graph));
            const Term one = b.number(1, b.value(loss.value));
            seed = {loss.value, like(one, b.value(loss.value)).id};
        }
        std::vector<ValueId> of;
        for (const Parameter& parameter : trained) of.push_back(parameter.value);
        VIRIDIAN_TRY(std::vector<ValueId> gradients, differentiate(graph, of, std::span(&seed, 1)));
        if (std::ranges::all_of(gradients, [](ValueId g) { return g == ValueId::none; }))
            return fail(ErrorCode::mismatch, "see the network's parameters with `viridian inspect`",
                        "the loss depends on no parameter that is trained");
        return gradients;
    }

    // Adds the updates of all parameters, and the outputs that the options ask for.
    void update(const std::vector<Parameter>& trained, const std::vector<ValueId>& gradients,
                std::vector<ValueId>& outputs) {
        Graph& graph = step_.graph;
        const bool updates = options_.optimizer.kind != OptimizerKind::none;
        b.at(nullptr, graph::Phase::update);
        ElementType element = ElementType::f32;
        for (const Parameter& parameter : trained)
            if (graph.value(parameter.value).type.element == ElementType::f64) element = ElementType::f64;
        Term rate, count;
        if (updates) {
            rate = b.value(graph.add_input(std::string(rate_input), {element, graph::Shape{}}));
            count_steps();
            count = cast(b.value(count_), element);
        }
        const Term factor = clip(gradients, element, outputs);
        for (std::size_t i = 0; i < trained.size(); ++i) {
            if (gradients[i] != ValueId::none && updates)
                update_one(trained[i], gradients[i], rate, count, factor);
            else if (gradients[i] != ValueId::none)
                step_.parameters.push_back({trained[i].name, 0, {}, {}});
            if (options_.gradient_outputs && gradients[i] != ValueId::none) {
                // A name of its own, because two parameters may have one gradient, which may be an input.
                const ValueId named = b.add(op::Identity, {b.value(gradients[i])}).id;
                graph.set_name(named, trained[i].name + ".gradient");
                outputs.push_back(named);
            }
        }
    }

    void update_one(const Parameter& parameter, ValueId gradient, Term rate, Term count, Term factor) {
        Graph& graph = step_.graph;
        const Term w = b.value(parameter.value);
        const Decay decay = decay_of(parameter.name, b.rank(w), options_.optimizer.decay, options_.decays);
        Trained& trained =
            step_.parameters.emplace_back(Trained{parameter.name, decay.value, decay.reason, {}});
        std::vector<Term> moments;
        for (const std::string& name : moments_of(options_.optimizer)) {
            const std::string full = parameter.name + "." + name;
            const ValueId state = graph.add_state(full, Tensor(b.element(w), b.dims(w)),
                                                  graph::StateRole::moment, parameter.value);
            moments.push_back(b.value(state));
            trained.moments.push_back(graph.value(state).name);
        }
        const Update made =
            add_update(options_.optimizer, decay.value, w, b.value(gradient), moments,
                       cast(rate, b.element(w)), cast(count, b.element(w)), cast(factor, b.element(w)));
        graph.set_after(parameter.value, made.parameter.id);
        for (std::size_t k = 0; k < moments.size(); ++k) graph.set_after(moments[k].id, made.moments[k].id);
    }

    // The factor min(1, most / norm) by which all gradients are multiplied, with PyTorch's guard against a
    // norm of 0 (Pascanu et al. 2013). The norm becomes an output.
    Term clip(const std::vector<ValueId>& gradients, ElementType element, std::vector<ValueId>& outputs) {
        const Term one = b.constant(scalar_of(element, 1));
        if (options_.clip_norm <= 0) return one;
        std::vector<Term> parts;
        for (const ValueId gradient : gradients)
            if (gradient != ValueId::none) {
                const Term g = b.value(gradient);
                Dims axes(b.dims(g).size());
                std::iota(axes.begin(), axes.end(), 0);
                parts.push_back(
                    cast(b.add(op::ReduceSumSquare, {g, b.integers(axes)}, {{"keepdims", std::int64_t{0}}}),
                         element));
            }
        const Term norm = sqrt(b.add(op::Sum, parts));
        step_.graph.set_name(norm.id, std::string(norm_output));
        outputs.push_back(norm.id);
        return b.add(op::Min, {one, options_.clip_norm / (norm + 1e-6)});
    }

    const StepOptions& options_;
    Step step_;
    Builder b;
    ValueId count_ = ValueId::none;
};

}  // namespace

Result<Step> training_step(const graph::Graph& forward, const StepOptions& options) {
    try {
        return StepMaker(forward, options).make();
    } catch (const Refusal& refusal) {
        return refusal.error;
    }
}

}  // namespace viridian::gradient
