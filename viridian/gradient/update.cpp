#include "viridian/gradient/update.hpp"

#include <algorithm>
#include <numeric>

#include "viridian/gradient/scalar.hpp"

namespace viridian::gradient {
namespace {

class UpdateMaker {
  public:
    UpdateMaker(Graph& graph, const StepOptions& options) : graph_(graph), options_(options), b(graph) {}

    Updates make(const std::vector<UpdateSite>& sites) {
        const bool updates = options_.optimizer.kind != OptimizerKind::none;
        b.at(nullptr, graph::Phase::update);
        ElementType element = ElementType::f32;
        for (const UpdateSite& site : sites)
            if (graph_.value(site.parameter).type.element == ElementType::f64) element = ElementType::f64;
        Term rate, count;
        if (updates) {
            rate = b.value(graph_.add_input(std::string(rate_input), {element, graph::Shape{}}));
            count = cast(b.value(step_count(graph_)), element);
        }
        const Term factor = clip(sites, element);
        for (const UpdateSite& site : sites) {
            if (site.gradient == ValueId::none) continue;
            b.at(site.reader ? &*site.reader : nullptr, graph::Phase::update);
            if (updates)
                update(site, rate, count, factor);
            else
                for (const std::string& name : site.names()) made_.parameters.push_back({name, 0, {}, {}});
            if (options_.gradient_outputs) add_outputs(site);
        }
        return std::move(made_);
    }

  private:
    // Outputs with names of their own, because two parameters may have one gradient, which may be an input.
    void add_outputs(const UpdateSite& site) {
        const Term gradient = b.value(site.gradient);
        const auto add = [&](Term one, const std::string& name) {
            const ValueId named = b.add(op::Identity, {one}).id;
            graph_.set_name(named, name + ".gradient");
            made_.outputs.push_back(named);
        };
        if (site.state.parts.empty()) return add(gradient, site.state.name);
        std::int64_t first = 0;
        for (const StackedPart& part : site.state.parts) {
            add(slice(gradient, site.state.axis, first, first + part.extent), part.name);
            first += part.extent;
        }
    }

    void update(const UpdateSite& site, Term rate, Term count, Term factor) {
        const Term w = b.value(site.parameter);
        const std::size_t first = made_.parameters.size();
        for (const std::string& name : site.names()) {
            Decay decay = decay_of(name, b.rank(w), options_.optimizer.decay, options_.decays);
            made_.parameters.push_back({name, decay.value, std::move(decay.reason), {}});
        }
        const double decay = made_.parameters[first].decay;  // of all, if they are stacked
        std::vector<Term> moments;
        for (const std::string& moment : moments_of(options_.optimizer)) {
            const ValueId state =
                graph_.add_state(site.state.name + "." + moment, Tensor(b.element(w), b.dims(w)),
                                 graph::StateRole::moment, site.parameter);
            moments.push_back(b.value(state));
            name_moments(site, moment, graph_.value(state).name, first);
        }
        const Update made =
            add_update(options_.optimizer, decay, w, b.value(site.gradient), moments,
                       cast(rate, b.element(w)), cast(count, b.element(w)), cast(factor, b.element(w)));
        graph_.set_after(site.parameter, made.parameter.id);
        for (std::size_t k = 0; k < moments.size(); ++k) graph_.set_after(moments[k].id, made.moments[k].id);
    }

    // Tells the parameters of `site`, from number `first` on, what `state`, their moment, is called.
    void name_moments(const UpdateSite& site, const std::string& moment, const std::string& state,
                      std::size_t first) {
        if (site.state.parts.empty()) return made_.parameters[first].moments.push_back(state);
        StackedState& stacked = made_.stacked.emplace_back(site.state);
        stacked.name = state;
        for (StackedPart& part : stacked.parts) {
            part.name += "." + moment;
            made_.parameters[first++].moments.push_back(part.name);
        }
    }

    // The factor min(1, most / norm) by which all gradients are multiplied, with PyTorch's guard against a
    // norm of 0 (Pascanu et al. 2013). The norm becomes an output.
    Term clip(const std::vector<UpdateSite>& sites, ElementType element) {
        const Term one = b.constant(scalar_of(element, 1));
        if (options_.clip_norm <= 0) return one;
        std::vector<Term> parts;
        for (const UpdateSite& site : sites)
            if (site.gradient != ValueId::none) {
                const Term g = b.value(site.gradient);
                Dims axes(b.dims(g).size());
                std::iota(axes.begin(), axes.end(), 0);
                parts.push_back(
                    cast(b.add(op::ReduceSumSquare, {g, b.integers(axes)}, {{"keepdims", std::int64_t{0}}}),
                         element));
            }
        const Term norm = sqrt(b.add(op::Sum, parts));
        graph_.set_name(norm.id, std::string(norm_output));
        made_.outputs.push_back(norm.id);
        return b.add(op::Min, {one, options_.clip_norm / (norm + 1e-6)});
    }

    Graph& graph_;
    const StepOptions& options_;
    Builder b;
    Updates made_;
};

}  // namespace

std::vector<std::string> UpdateSite::names() const {
    if (state.parts.empty()) return {state.name};
    std::vector<std::string> names;
    for (const StackedPart& part : state.parts) names.push_back(part.name);
    return names;
}

ValueId step_count(Graph& graph) {
    for (const graph::State& state : graph.states())
        if (graph.value(state.before).name == count_state) return state.before;
    const ValueId count =
        graph.add_state(std::string(count_state), Tensor::scalar(std::int64_t{0}), graph::StateRole::counter);
    Builder b(graph);
    b.at(nullptr, graph::Phase::update);
    graph.set_after(count, (b.value(count) + 1).id);
    return count;
}

Updates add_updates(Graph& graph, const StepOptions& options, const std::vector<UpdateSite>& sites) {
    return UpdateMaker(graph, options).make(sites);
}

}  // namespace viridian::gradient
