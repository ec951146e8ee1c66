#include "viridian/cli/optimize_recorded.hpp"

#include <chrono>

#include "viridian/cli/optimize_parts.hpp"
#include "viridian/cli/optimize_result.hpp"
#include "viridian/cli/sidecar.hpp"
#include "viridian/cli/written.hpp"
#include "viridian/cost/recorded.hpp"
#include "viridian/execute/proof.hpp"
#include "viridian/report/page.hpp"

namespace viridian::cli {
namespace {

Result<cost::Recorded> open_prices(const std::string& file) {
    VIRIDIAN_TRY(const std::string text, read_file(file, std::uint64_t{1} << 28));
    VIRIDIAN_TRY(const Json json, parse_json(text, file));
    auto recorded = cost::recorded_from_json(json);
    if (!recorded.ok()) return std::move(recorded).error().within(fmt::format("while reading `{}`", file));
    return recorded;
}

}  // namespace

Result<Answer> optimize_recorded(const RecordedJob& job, Progress& progress, const Interrupt& interrupt) {
    const auto started = std::chrono::steady_clock::now();
    VIRIDIAN_TRY(const cost::Recorded prices, open_prices(job.prices));
    cost::Recording recording;
    recording.device = prices.device;
    const cost::Source source = job.record ? recording.listen(prices.source) : prices.source;

    progress.show("reading the model");
    VIRIDIAN_TRY(const graph::Graph original, load_model(job.model));
    rewrite::Certificate certificate;
    VIRIDIAN_TRY(const graph::Graph folded, fold(original, job.search.without, certificate));
    graph::Graph rewritten = folded;
    VIRIDIAN_TRY(rewrite::Outcome rewrites, rewrite::simplify(rewritten, {.without = job.search.without}));
    append(certificate, std::move(rewrites.certificate));

    search::AssignOptions solver = job.solver, first = job.solver;
    first.solver = search::Solver::first;
    search::Objective unlimited = job.objective;  // limits are relative to this very plan
    unlimited.limit.reset();
    VIRIDIAN_TRY(Planned baseline, make_plan_only(folded, source, unlimited, first));
    solver.start = baseline.totals;
    VIRIDIAN_TRY(search::OuterResult found,
                 search_graphs(rewritten, source, job.objective, solver, job.search, progress, interrupt));
    append(certificate, std::move(found.certificate));
    VIRIDIAN_TRY(const graph::Graph written, as_read_again(found.graph, job.search.without));
    VIRIDIAN_TRY(Planned optimized, make_plan_only(written, source, job.objective, solver));
    for (Planned* planned : {&baseline, &optimized}) {
        planned->plan.device = prices.device;
        planned->plan.library = prices.schema;
    }
    VIRIDIAN_TRY(const std::vector<cost::Price> steps, step_prices(optimized, source));

    const plan::Assignment& assignment = optimized.plan.assignment;
    Json result = {{"schema", "viridian.optimize/1"},
                   {"model", Path(job.model.model).filename().string()},
                   {"device", prices.device},
                   {"recorded", {{"file", Path(job.prices).filename().string()}, {"schema", prices.schema}}},
                   {"objective", search::text(job.objective)},
                   {"meter", "none: prices from a file"},
                   {"baseline", predicted_json(baseline)},
                   {"optimized", predicted_json(optimized)},
                   {"assignment", assignment_json(assignment)},
                   {"rewrites", rewrites_json(certificate)},
                   {"search", search_json(job.search, found)},
                   {"layers", layers_json(optimized, steps, {})},
                   {"files", job.files.json(false)}};
    if (job.search.frontier) {
        progress.show("best trades of time against energy");
        VIRIDIAN_TRY(result["frontier"], frontier_of(optimized.graph, source, solver));
    }
    result["elapsed_seconds"] =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();

    progress.show("writing");
    VIRIDIAN_TRY(const std::string page, report::page(result));
    const Json sidecar =
        sidecar_json(optimized.graph, optimized.plan,
                     {search::text(job.objective), execute::rounds(optimized.graph, optimized.plan),
                      std::nullopt, job.search.without});
    VIRIDIAN_TRY(job.files.write(
        {.model = optimized.graph,
         .bf16 = {},
         .plan = sidecar.dump(1) + "\n",
         .page = page,
         .certificate = rewrite::to_json({certificate, structural_hash(found.graph)}).dump(1) + "\n",
         .record = to_text(recording)}));
    return Answer{result, recorded_text(result)};
}

}  // namespace viridian::cli
