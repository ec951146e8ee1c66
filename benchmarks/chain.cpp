// rooms: cli
// chain MODEL.onnx --db FILE [--threads N] [--steps N]: where the time of a steady-state run goes. Prints the
// wall time of a run against the sum of its own events and of the database's entries, what recording costs,
// the N steps that lose most against the roofline, max(flop / --peak, constant bytes / --bandwidth), and with
// --kinds the same summed by kind of step. With --allow bf16 regions that read bf16 have twice the peak.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <map>

#include "viridian/base/system/preemptions.hpp"
#include "viridian/cli/model/model_options.hpp"
#include "viridian/graph/data_flow.hpp"
#include "viridian/optimize/planned.hpp"
#include "viridian/prove/inputs.hpp"
#include "viridian/prove/proof.hpp"
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/trace/record/recorder.hpp"
#include "viridian/trace/source.hpp"

namespace viridian::cli {
namespace {

struct Roofline {
    double peak = 486e9;      // flop/s
    double bandwidth = 30e9;  // bytes/s
};

constexpr std::size_t few = 7;

// What a step does at least.
struct Work {
    double flop = 0, bytes = 0;  // bytes: of constants, as the kernel reads them
    bool bf16 = false;
    [[nodiscard]] double by_flop(const Roofline& roofline) const {
        return flop / (bf16 ? 2 * roofline.peak : roofline.peak);
    }
    [[nodiscard]] double by_bytes(const Roofline& roofline) const { return bytes / roofline.bandwidth; }
    [[nodiscard]] double bound(const Roofline& roofline) const {
        return std::max(by_flop(roofline), by_bytes(roofline));
    }
};

struct Runs {
    std::vector<double> plain, recorded;  // wall seconds
    std::vector<double> events;           // sum of the events of each recorded run
    std::vector<double> steps;            // medians
};

double wall(execute::Executable& executable, const std::vector<graph::Tensor>& inputs,
            std::vector<graph::Tensor>& outputs, Result<void>& ran) {
    const auto start = std::chrono::steady_clock::now();
    ran = executable.run(inputs, outputs);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Runs with and without a recorder in turn.
Result<Runs> measure(optimize::PlannedModel& planned, double seconds) {
    VIRIDIAN_TRY(const auto inputs, prove::seeded_inputs(planned.graph, 1));
    VIRIDIAN_TRY(auto outputs, execute::output_tensors(planned.graph));
    const std::size_t steps = planned.plan.steps.size();
    trace::Recorder recorder(1, static_cast<std::uint32_t>(steps));
    std::vector<std::vector<double>> times(steps);
    Runs runs;
    Result<void> ran;
    for (int i = 0; i < 5; ++i) VIRIDIAN_TRY(planned.executable->run(inputs, outputs));
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
        const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        const bool enough = runs.plain.size() >= few;
        if (spent > seconds && (enough || spent > 4 * seconds)) break;
        const std::int64_t before = preemptions();
        const double plain = wall(*planned.executable, inputs, outputs, ran);
        VIRIDIAN_TRY(std::move(ran));
        // Runs during which something else had a processor say nothing, unless nearly all are such.
        const auto calm = [&] { return preemptions() == before || (spent > 2 * seconds && !enough); };
        planned.executable->record(&recorder);
        VIRIDIAN_TRY(planned.executable->run(inputs, outputs));  // its caches hold the events' names
        recorder.clear();
        const double recorded = wall(*planned.executable, inputs, outputs, ran);
        planned.executable->record(nullptr);
        VIRIDIAN_TRY(std::move(ran));
        if (!calm()) {
            recorder.clear();
            continue;
        }
        runs.plain.push_back(plain);
        runs.recorded.push_back(recorded);
        const auto source = recorder.finish();
        double sum = 0;
        std::size_t next = 0;
        for (;;) {
            VIRIDIAN_TRY(const auto batch, source->next());
            if (batch.empty()) break;
            for (const trace::Event& event : batch) {
                const double took = static_cast<double>(event.end - event.start) * 1e-9;
                sum += took;
                times[next++].push_back(took);
            }
        }
        recorder.clear();
        runs.events.push_back(sum);
        VIRIDIAN_TRY(planned.executable->run(inputs, outputs));
    }
    for (auto& list : times) runs.steps.push_back(summarize(std::move(list)).median);
    return runs;
}

Work work_of(const optimize::PlannedModel& planned, const plan::Step& step,
             const std::map<graph::NodeId, const graph::NodeFlow*>& flows) {
    Work work;
    if (step.kind != plan::Step::Kind::kernel) return work;
    for (const plan::Format& format : step.choice.inputs)
        work.bf16 = work.bf16 || format.element == graph::ElementType::bf16;
    for (const auto id : step.region.nodes) work.flop += flows.at(id)->flop.value;
    for (const auto id : step.region.constants)
        work.bytes += static_cast<double>(planned.graph.constant(id)->byte_count()) * (work.bf16 ? 0.5 : 1.0);
    return work;
}

// The operator that a region is for, with its window; what else a step does.
std::string kind_of(const optimize::PlannedModel& planned, const plan::Step& step) {
    if (step.kind != plan::Step::Kind::kernel) return "conversion, copy";
    for (const graph::NodeId id : step.region.nodes) {
        const graph::Node& node = planned.graph.node(id);
        if (node.op != graph::op::Conv) continue;
        const graph::Dims& weights = planned.graph.value(node.inputs[1]).type.dims();
        const bool depthwise = weights[1] == 1;
        return fmt::format("{} {}", depthwise ? "Conv, depthwise" : "Conv",
                           fmt::join(weights.begin() + 2, weights.end(), "×"));
    }
    const auto& operators = step.region.nodes;
    const auto product = std::find_if(operators.begin(), operators.end(), [&](graph::NodeId id) {
        return planned.graph.node(id).op == graph::op::MatMul || planned.graph.node(id).op == graph::op::Gemm;
    });
    if (product == operators.end()) return std::string(planned.graph.node(operators[0]).op.name());
    return step.region.constants.empty() ? "MatMul of activations" : "MatMul, Gemm";
}

Result<void> print_kinds(const optimize::PlannedModel& planned, const std::vector<double>& ran,
                         const Roofline& roofline) {
    VIRIDIAN_TRY(const graph::DataFlow flow, graph::data_flow(planned.graph));
    std::map<graph::NodeId, const graph::NodeFlow*> flows;
    for (const graph::NodeFlow& node : flow.nodes) flows[node.node] = &node;
    struct Row {
        std::string kind;
        int steps = 0;
        double ran = 0, by_flop = 0, by_bytes = 0, bound = 0;
    };
    std::map<std::string, Row> kinds;
    double total = 0, bound = 0;
    for (std::size_t i = 0; i < ran.size(); ++i) {
        const plan::Step& step = planned.plan.steps[i];
        const Work work = work_of(planned, step, flows);
        const std::string kind = kind_of(planned, step) + (work.bf16 ? ", bf16" : "");
        Row& row = kinds[kind];
        row.kind = kind;
        ++row.steps;
        row.ran += ran[i];
        row.by_flop += work.by_flop(roofline);
        row.by_bytes += work.by_bytes(roofline);
        row.bound += work.bound(roofline);
        total += ran[i];
        bound += work.bound(roofline);
    }
    std::vector<Row> rows;
    for (auto& [kind, row] : kinds) rows.push_back(std::move(row));
    std::ranges::stable_sort(rows, [](const Row& a, const Row& b) { return a.ran > b.ran; });
    fmt::print(
        "| kind | steps | ms | share | by flop, ms | by weights, ms | bound / ran "
        "|\n|---|---|---|---|---|---|---|\n");
    for (const Row& row : rows)
        fmt::print("| {} | {} | {:.3f} | {:.1f} % | {:.3f} | {:.3f} | {:.2f} |\n", row.kind, row.steps,
                   1e3 * row.ran, 100 * row.ran / total, 1e3 * row.by_flop, 1e3 * row.by_bytes,
                   row.ran > 0 ? row.bound / row.ran : 0);
    fmt::print("| all | {} | {:.3f} | | | | {:.2f} |\n", ran.size(), 1e3 * total, bound / total);
    return {};
}

Result<void> print_steps(const optimize::PlannedModel& planned, const std::vector<double>& ran,
                         const std::vector<cost::Price>& prices, const Roofline& roofline, std::size_t most,
                         execute::Device* again) {
    VIRIDIAN_TRY(const graph::DataFlow flow, graph::data_flow(planned.graph));
    std::map<graph::NodeId, const graph::NodeFlow*> flows;
    for (const graph::NodeFlow& node : flow.nodes) flows[node.node] = &node;
    struct Row {
        std::string name, kernel, shape;
        double ran, predicted, flop, bytes, bound, now;
    };
    std::vector<Row> rows;
    for (std::size_t i = 0; i < ran.size(); ++i) {
        const plan::Step& step = planned.plan.steps[i];
        const Work work = work_of(planned, step, flows);
        Row row{
            "convert", "", "", ran[i], prices[i].seconds.value, work.flop, work.bytes, work.bound(roofline),
            0};
        if (step.kind == plan::Step::Kind::kernel) {
            row.name = planned.graph.node(step.region.nodes[0]).name;
            row.kernel = step.choice.kernel;
            if (!step.region.constants.empty())
                row.shape = text(planned.graph.value(step.region.constants[0]).type);
        }
        if (again != nullptr && step.kind == plan::Step::Kind::kernel) {
            VIRIDIAN_TRY(const execute::Timing timing,
                         again->time(planned.graph, step.region, step.choice, {.budget = Seconds(0.1)}));
            row.now = timing.median.value;
        }
        if (!step.outputs.empty()) {
            const plan::Buffer& to = planned.plan.buffers[step.outputs[0]];
            row.shape += fmt::format(" -> [{}]", fmt::join(to.dims, ","));
        }
        rows.push_back(std::move(row));
    }
    std::ranges::stable_sort(rows,
                             [](const Row& a, const Row& b) { return a.ran - a.bound > b.ran - b.bound; });
    fmt::print("{:>9} {:>9} {:>9} {:>9} {:>8} {:>7}  step\n", "ran us", "db us", "now us", "bound us",
               "GFlop/s", "MB");
    for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
        const Row& row = rows[i];
        fmt::print("{:9.1f} {:9.1f} {:9.1f} {:9.1f} {:8.0f} {:7.2f}  {} {} {}\n", 1e6 * row.ran,
                   1e6 * row.predicted, 1e6 * row.now, 1e6 * row.bound, row.flop / row.ran * 1e-9,
                   row.bytes * 1e-6, row.kernel, row.shape, row.name);
    }
    double bound = 0;
    for (const Row& row : rows) bound += row.bound;
    fmt::print("sum of the roofline's bounds: {:.3f} ms\n", 1e3 * bound);
    return {};
}

Result<void> benchmark(const ModelOptions& options, double seconds, std::size_t steps,
                       const Roofline& roofline, bool again, bool kinds) {
    VIRIDIAN_TRY(graph::Graph graph, session::load_model(options));
    VIRIDIAN_TRY(rewrite::simplify(graph));
    VIRIDIAN_TRY(const auto device, session::open_device(options));
    VIRIDIAN_TRY(cost::Database database, session::open_database(options));
    VIRIDIAN_TRY(const auto energy, profile::EnergyPricer::open({.meter = "model"}, *device));
    profile::OnDemand costs(*device, database, energy,
                            {.protocol = {}, .allowances = session::allowances_text(options)});
    costs.price_for(graph);
    VIRIDIAN_TRY(optimize::PlannedModel planned,
                 optimize::make_planned(std::move(graph), device.get(), costs.source(), {}, {}));
    const std::vector<cost::Price>& prices = planned.prices;
    double predicted = 0;
    for (const cost::Price& price : prices) predicted += price.seconds.value;
    VIRIDIAN_TRY(Runs runs, measure(planned, seconds));
    const auto count = runs.plain.size();
    if (steps > 0)
        VIRIDIAN_TRY(
            print_steps(planned, runs.steps, prices, roofline, steps, again ? device.get() : nullptr));
    if (kinds) VIRIDIAN_TRY(print_kinds(planned, runs.steps, roofline));
    std::vector<double> ratios;  // of each run to its own events
    for (std::size_t i = 0; i < count; ++i) ratios.push_back(runs.recorded[i] / runs.events[i]);
    const Summary over_events = summarize(std::move(ratios));
    const Summary plain = summarize(std::move(runs.plain));
    const Summary recorded = summarize(std::move(runs.recorded));
    fmt::print(
        "{}: {:.3f} ms a run (minimum {:.3f}, {} runs); {:.3f} x the sum of its events, {:.3f} x the "
        "database's entries ({:.3f} ms); recording {:+.2f} % (minima {:+.2f} %)\n",
        options.model, 1e3 * plain.median, 1e3 * plain.minimum, count, over_events.median,
        plain.median / predicted, 1e3 * predicted, 100 * (recorded.median / plain.median - 1),
        100 * (recorded.minimum / plain.minimum - 1));
    return {};
}

}  // namespace
}  // namespace viridian::cli

int main(int count, char** arguments) {
    CLI::App app("Where the time of a run goes");
    viridian::cli::ModelOptions options;
    viridian::cli::Roofline roofline;
    double seconds = 2;
    std::size_t steps = 0;
    bool again = false, kinds = false;
    viridian::cli::add_model_options(viridian::cli::App(&app), options);
    viridian::cli::add_cost_options(viridian::cli::App(&app), options);
    app.add_option("--seconds", seconds, "How long to run")->capture_default_str();
    app.add_option("--steps", steps, "How many steps to list")->capture_default_str();
    app.add_flag("--again", again, "Time every listed step once more on its own");
    app.add_flag("--kinds", kinds, "Sums by kind of step");
    app.add_option("--peak", roofline.peak, "Flop per second of all threads")->capture_default_str();
    app.add_option("--bandwidth", roofline.bandwidth, "Bytes per second from memory")->capture_default_str();
    CLI11_PARSE(app, count, arguments);
    const auto done = viridian::cli::benchmark(options, seconds, steps, roofline, again, kinds);
    if (!done.ok()) fmt::print(stderr, "{}\n", done.error().text());
    return done.ok() ? 0 : 1;
}
