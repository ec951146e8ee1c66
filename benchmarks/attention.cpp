// rooms: cli
// attention [--db FILE] [--threads N] [--rounds N]: attention by the kernel that keeps its scores in cache,
// and by the best kernels for its parts, each with the conversions that its plan needs. Prices that the
// database lacks are measured; then both plans run in turn. Prints milliseconds (medians of the rounds'
// medians) and how much longer the parts take, with the range of the middle half of the rounds.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>

#include "viridian/cli/model/model_options.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/plan/plan.hpp"
#include "viridian/profile/on_demand.hpp"
#include "viridian/prove/inputs.hpp"
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/search/assign/assign.hpp"

namespace viridian::cli {
namespace {

struct Shape {
    std::int64_t heads, queries, keys, size;
    bool masked = false;
};

constexpr Shape shapes[] = {{12, 197, 197, 64}, {12, 257, 257, 64},      {8, 1500, 1500, 64},
                            {1, 4096, 64, 64},  {1, 4096, 256, 64},      {12, 128, 128, 64, true},
                            {16, 512, 512, 64}, {16, 512, 512, 64, true}};

// Attention as networks contain it: heads are cut from the width of projections by Reshape and Transpose.
graph::Graph network(const Shape& shape) {
    using graph::ValueId;
    graph::Graph graph;
    const auto constant = [&](const std::vector<std::int64_t>& list) {
        const auto count = static_cast<std::int64_t>(list.size());
        return graph.add_constant("shape",
                                  graph::Tensor::of<std::int64_t>(graph::ElementType::i64, {count}, list));
    };
    const std::int64_t width = shape.heads * shape.size;
    const auto input = [&](const char* name, const graph::Dims& dims) {
        return graph.add_input(name, {graph::ElementType::f32, graph::shape_of(dims)});
    };
    const auto heads = [&](const char* name, std::int64_t rows, std::vector<std::int64_t> order) {
        const ValueId x = graph.add(
            "Reshape", {input(name, {1, rows, width}), constant({1, rows, shape.heads, shape.size})});
        return graph.add("Transpose", {x}, {{"perm", std::move(order)}});
    };
    const ValueId q = heads("q", shape.queries, {0, 2, 1, 3}), k = heads("k", shape.keys, {0, 2, 3, 1});
    ValueId scores = graph.add("MatMul", {q, k});
    scores = graph.add("Mul", {scores, graph.add_constant("scale", graph::Tensor::scalar(0.125F))});
    if (shape.masked) scores = graph.add("Add", {scores, input("mask", {1, 1, 1, shape.keys})});
    const ValueId weights = graph.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    const ValueId context = graph.add("MatMul", {weights, heads("v", shape.keys, {0, 2, 1, 3})});
    const ValueId merged =
        graph.add("Transpose", {context}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
    graph.set_outputs({graph.add("Reshape", {merged, constant({1, shape.queries, width})})});
    return graph;
}

bool is_attention(const graph::Graph& graph, const plan::Region& region) {
    return region.nodes.size() > 2 && graph.node(region.nodes.front()).op == graph::op::MatMul &&
           graph.node(region.nodes.back()).op == graph::op::MatMul;
}

struct Plans {
    std::unique_ptr<execute::Executable> kernel, parts;
    double predicted_kernel = 0, predicted_parts = 0;  // seconds
};

Result<Plans> plans_of(const graph::Graph& graph, execute::Device& device, const cost::PriceSource& source) {
    VIRIDIAN_TRY(const std::vector<plan::Region> regions, plan::candidate_regions(graph));
    const auto whole = std::ranges::find_if(regions, [&](const auto& r) { return is_attention(graph, r); });
    std::vector<plan::Region> alone, parts;
    for (const plan::Region& region : regions) {
        const bool inside = std::ranges::any_of(
            region.nodes, [&](graph::NodeId id) { return std::ranges::count(whole->nodes, id) > 0; });
        if (!inside || region == *whole) alone.push_back(region);
        if (region != *whole) parts.push_back(region);
    }
    Plans plans;
    VIRIDIAN_TRY(const search::Objective objective, search::parse_objective("time"));
    const auto prepare = [&](const std::vector<plan::Region>& with,
                             double& predicted) -> Result<std::unique_ptr<execute::Executable>> {
        VIRIDIAN_TRY(const search::Instance instance, search::Instance::make(graph, with, source));
        VIRIDIAN_TRY(search::Outcome outcome, search::solve(instance, objective));
        predicted = outcome.totals.seconds.value;
        VIRIDIAN_TRY(const plan::Plan plan, plan::make_plan(graph, std::move(outcome.assignment)));
        return device.prepare(graph, plan);
    };
    VIRIDIAN_TRY(plans.kernel, prepare(alone, plans.predicted_kernel));
    VIRIDIAN_TRY(plans.parts, prepare(parts, plans.predicted_parts));
    return plans;
}

double median(std::vector<double> list, double at = 0.5) {
    std::ranges::sort(list);
    return list[static_cast<std::size_t>(at * static_cast<double>(list.size() - 1) + 0.5)];
}

// The median of as many runs as fit a tenth of a second, five at least.
Result<double> round_of(execute::Executable& executable, const std::vector<graph::Tensor>& inputs,
                        std::vector<graph::Tensor>& outputs) {
    using clock = std::chrono::steady_clock;
    const auto seconds = [](clock::time_point from) {
        return std::chrono::duration<double>(clock::now() - from).count();
    };
    std::vector<double> runs;
    VIRIDIAN_TRY(executable.run(inputs, outputs));
    for (const auto begin = clock::now(); seconds(begin) < 0.1 || runs.size() < 5;) {
        const auto start = clock::now();
        VIRIDIAN_TRY(executable.run(inputs, outputs));
        runs.push_back(seconds(start));
    }
    return median(std::move(runs));
}

Result<void> row(const Shape& shape, int rounds, execute::Device& device, profile::OnDemand& costs) {
    graph::Graph graph = network(shape);
    VIRIDIAN_TRY(graph::infer_types(graph));
    VIRIDIAN_TRY(rewrite::simplify(graph));
    costs.price_for(graph);
    VIRIDIAN_TRY(const Plans plans, plans_of(graph, device, costs.source()));
    VIRIDIAN_TRY(const auto inputs, prove::seeded_inputs(graph, 1));
    VIRIDIAN_TRY(auto outputs, execute::output_tensors(graph));
    std::vector<double> kernel, parts, ratios;
    for (int i = 0; i < rounds; ++i) {
        const bool kernel_first = i % 2 == 0;
        for (const bool of_kernel : {kernel_first, !kernel_first}) {
            VIRIDIAN_TRY(const double time,
                         round_of(of_kernel ? *plans.kernel : *plans.parts, inputs, outputs));
            (of_kernel ? kernel : parts).push_back(time);
        }
        ratios.push_back(parts.back() / kernel.back());
    }
    const double flop = 4.0 * static_cast<double>(shape.heads * shape.queries * shape.keys * shape.size);
    fmt::print(
        "| {} | {} | {} | {} | {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.0f} | {:.2f} ({:.2f} to {:.2f}) "
        "|\n",
        shape.heads, shape.queries, shape.keys, shape.size, shape.masked ? "yes" : "no",
        1e3 * plans.predicted_parts, 1e3 * median(parts), 1e3 * plans.predicted_kernel, 1e3 * median(kernel),
        flop / median(kernel) / 1e9, median(ratios), median(ratios, 0.25), median(ratios, 0.75));
    std::fflush(stdout);
    return {};
}

Result<void> table(const ModelOptions& options, int rounds) {
    VIRIDIAN_TRY(const auto device, session::open_device(options));
    VIRIDIAN_TRY(cost::Database database, session::open_database(options));
    VIRIDIAN_TRY(const auto energy, profile::EnergyPricer::open({.meter = "model"}, *device));
    profile::OnDemand costs(*device, database, energy,
                            {.protocol = {}, .allowances = session::allowances_text(options)});
    fmt::print(
        "| heads | queries | keys | size | mask | parts, predicted ms | parts ms | kernel, predicted ms | "
        "kernel ms | kernel GFlop/s | parts / kernel |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (const Shape& shape : shapes) VIRIDIAN_TRY(row(shape, rounds, *device, costs));
    return {};
}

}  // namespace
}  // namespace viridian::cli

int main(int count, char** arguments) {
    CLI::App app("Attention by one kernel and by the kernels of its parts");
    viridian::cli::ModelOptions options;
    viridian::cli::add_cost_options(viridian::cli::App(&app), options);
    int rounds = 10;
    app.add_option("--threads", options.threads);
    app.add_option("--rounds", rounds);
    CLI11_PARSE(app, count, arguments);
    const auto done = viridian::cli::table(options, rounds);
    if (!done.ok()) fmt::print("{}\n", done.error().text());
    return done.ok() ? 0 : 1;
}
