#include "viridian/cli/prove_plan.hpp"

#include <algorithm>

#include "viridian/graph/data_flow.hpp"

namespace viridian::cli {
namespace {

const execute::RegionCheck* worst_of(const std::vector<execute::RegionCheck>& checks) {
    const auto worst = std::ranges::max_element(checks, {}, &execute::RegionCheck::error);
    return worst == checks.end() ? nullptr : &*worst;
}

}  // namespace

Result<bool> is_large(const graph::Graph& graph) {
    VIRIDIAN_TRY(const graph::DataFlow flow, graph::data_flow(graph));
    Flop sum;
    for (const graph::NodeFlow& node : flow.nodes) sum += node.flop;
    return sum > large_model;
}

Result<Proven> plan_and_prove(const graph::Graph& graph, const Question& question, execute::Device& device,
                              profile::OnDemand& costs, const search::Objective& objective,
                              const search::AssignOptions& solver) {
    constexpr int attempts = 4;
    for (int attempt = 1;; ++attempt) {
        Proven proven;
        proven.reused = question.expected.reused;
        VIRIDIAN_TRY(proven.planned, make_planned(graph, device, costs.source(), objective, solver));
        const Planned& planned = proven.planned;
        const double allowed = execute::allowed_error(planned.plan);
        VIRIDIAN_TRY(proven.proof, execute::prove(question.original, question.inputs,
                                                  question.expected.outputs, *planned.executable, allowed));
        std::vector<execute::RegionCheck> checks;
        if (question.by_region || !proven.proof.passed()) {
            VIRIDIAN_TRY(
                checks, execute::check_regions(device, planned.graph, planned.plan, question.inputs.front()));
        }
        const execute::RegionCheck* worst = worst_of(checks);
        if (proven.proof.passed() && (worst == nullptr || worst->error <= allowed)) {
            proven.regions = std::move(checks);
            return proven;
        }
        if (attempt == attempts || worst == nullptr)
            return fail(
                ErrorCode::not_equal, "please report it with the model; nothing was written",
                "no plan gives the original's outputs; the worst kernel is `{}` at node `{}` (error {:.1e})",
                worst == nullptr ? "none" : worst->kernel, worst == nullptr ? "" : worst->node,
                worst == nullptr ? 0.0 : worst->error);
        costs.forbidden.push_back(worst->kernel);
    }
}

Json Proven::json() const {
    Json outputs = Json::array();
    for (const execute::OutputAgreement& output : proof.outputs)
        outputs.push_back({{"name", output.name},
                           {"error", output.error},
                           {"allowed", output.allowed},
                           {"same_nan", output.same_nan}});
    Json json = {{"outputs", std::move(outputs)},
                 {"inputs", proof.inputs},
                 {"reference_reused", reused},
                 {"passed", proof.passed()}};
    if (const execute::RegionCheck* worst = worst_of(regions); worst != nullptr)
        json["kernels"] = {{"checked", regions.size()},
                           {"error", worst->error},
                           {"worst", {{"node", worst->node}, {"kernel", worst->kernel}}}};
    return json;
}

}  // namespace viridian::cli
