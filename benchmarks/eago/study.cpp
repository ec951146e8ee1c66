#include "study.hpp"

#include <algorithm>
#include <set>

#include "viridian/base/json.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/optimize/job.hpp"
#include "viridian/search/assign/solvers.hpp"
#include "viridian/zoo/zoo.hpp"

namespace viridian::eago {

Figures Row::predicted() const {
    const search::Metrics& totals = planned.totals;
    return {1e3 * totals.seconds.value, (totals.joules / totals.seconds).value, 1e3 * totals.joules.value};
}

Figures Row::ran() const {
    const double seconds = actual->seconds.median, joules = actual->energy.value.value;
    return {1e3 * seconds, joules / seconds, 1e3 * joules};
}

Result<Study> Study::make(Laboratory& laboratory, const std::string& network, const Budget& budget) {
    Study study(laboratory, budget);
    VIRIDIAN_TRY(graph::Graph built, zoo::build(network));
    VIRIDIAN_TRY(graph::infer_types(built));
    rewrite::Certificate ignored;
    VIRIDIAN_TRY(study.origin_, optimize::fold(built, {}, ignored));
    study.simplified_ = study.origin_;
    VIRIDIAN_TRY(rewrite::simplify(study.simplified_));
    laboratory.price_for(study.origin_);
    study.keep(study.origin_);
    study.keep(study.simplified_);
    return study;
}

void Study::keep(const graph::Graph& graph) {
    const std::uint64_t hash = structural_hash(graph);
    if (std::find(hashes_.begin(), hashes_.end(), hash) != hashes_.end()) return;
    hashes_.push_back(hash);
    kept_.push_back(graph);
}

Result<Row> Study::origin_row() {
    search::AssignOptions first;
    first.solver = &search::first_solver;
    VIRIDIAN_TRY(optimize::PlannedModel planned,
                 optimize::make_planned(origin_, nullptr, laboratory_->source, {}, first));
    start_ = planned.totals;
    return Row{"origin", "", std::move(planned), {}};
}

Result<search::OuterResult> Study::outer(const graph::Graph& from, const std::string& objective,
                                         const cost::PriceSource& source, double alpha,
                                         std::vector<Visit>* visits) {
    VIRIDIAN_TRY(const search::Objective wanted, search::parse_objective(objective));
    search::OuterOptions options;
    options.method = search::OuterMethod::backtracking;  // EAGO, Algorithm 1
    options.alpha = alpha;
    options.most_graphs = budget_.graphs;
    options.time_limit = budget_.seconds;
    options.assign.start = start_;
    if (visits != nullptr)
        options.visited = [visits](const graph::Graph& graph, const search::Outcome& outcome) {
            visits->push_back({graph, outcome.totals});
        };
    VIRIDIAN_TRY(search::OuterResult found, search::outer_search(from, source, wanted, options));
    priced_ += found.graphs;
    return found;
}

Result<Row> Study::restricted(const std::string& name, const std::string& objective,
                              const cost::PriceSource& source) {
    VIRIDIAN_TRY(const search::OuterResult found, outer(simplified_, objective, source, 1.05));
    VIRIDIAN_TRY(const search::Objective wanted, search::parse_objective(objective));
    search::AssignOptions options;
    options.start = start_;
    VIRIDIAN_TRY(optimize::PlannedModel planned,
                 optimize::make_planned(found.graph, nullptr, source, wanted, options));
    return Row{name, objective, std::move(planned), {}};
}

Result<Row> Study::assigned(const std::string& name, const std::string& objective,
                            const cost::PriceSource& source) {
    VIRIDIAN_TRY(const search::Objective wanted, search::parse_objective(objective));
    search::AssignOptions options;
    options.start = start_;
    VIRIDIAN_TRY(optimize::PlannedModel planned,
                 optimize::make_planned(origin_, nullptr, source, wanted, options));
    return Row{name, objective, std::move(planned), {}};
}

Result<void> Study::search(const std::string& objective) {
    VIRIDIAN_TRY(const search::OuterResult found, outer(simplified_, objective, laboratory_->source, 1.05));
    keep(found.graph);
    return {};
}

Result<Row> Study::best(const std::string& name, const std::string& objective) {
    VIRIDIAN_TRY(const search::Objective wanted, search::parse_objective(objective));
    search::AssignOptions options;
    options.start = start_;
    std::optional<optimize::PlannedModel> least;
    for (const graph::Graph& graph : kept_) {
        VIRIDIAN_TRY(optimize::PlannedModel planned,
                     optimize::make_planned(graph, nullptr, laboratory_->source, wanted, options));
        if (!least || planned.plan.assignment.value < least->plan.assignment.value)
            least = std::move(planned);
    }
    return Row{name, objective, std::move(*least), {}};
}

Result<std::vector<Study::Visit>> Study::visits(const std::string& objective, double alpha) {
    std::vector<Visit> all;
    VIRIDIAN_TRY(outer(origin_, objective, laboratory_->source, alpha, &all));
    return all;
}

std::size_t distinct(const std::vector<Row>& rows) {
    std::set<std::string> plans;
    for (const Row& row : rows) {
        const Json json = plan::to_json(row.planned.graph, row.planned.plan);
        plans.insert(fmt::format("{:016x} {}", row.planned.plan.graph_hash, json["regions"].dump()));
    }
    return plans.size();
}

Result<void> run_rows(Laboratory& laboratory, std::vector<Row>& rows) {
    if (!laboratory.runs()) return {};
    std::vector<optimize::PlannedModel*> plans;
    for (Row& row : rows) plans.push_back(&row.planned);
    VIRIDIAN_TRY(const std::vector<Actual> actual, run_all(laboratory, plans));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].actual = actual[i];
    return {};
}

}  // namespace viridian::eago
