// rooms: cli
// drift MODEL.onnx --db FILE [--seconds N]: how the kernels of the best plan change with the state of the
// machine. Prints one line per timing: seconds since the start, which, flop, bytes, weight bytes, median, and
// the probes.
#include <CLI/CLI.hpp>
#include <chrono>
#include <map>

#include "viridian/base/hash.hpp"
#include "viridian/cli/model/model_options.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/optimize/planned.hpp"
#include "viridian/optimize/prices/costs.hpp"
#include "viridian/profile/weights.hpp"

namespace viridian::cli {
namespace {

using Clock = std::chrono::steady_clock;

Result<graph::Graph> product(std::int64_t m, std::int64_t k, std::int64_t n) {
    graph::Graph graph;
    const graph::ValueId a = graph.add_input("a", {graph::ElementType::f32, graph::shape_of({m, k})});
    const graph::ValueId b = graph.add_input("b", {graph::ElementType::f32, graph::shape_of({k, n})});
    graph.set_outputs({graph.add("MatMul", {a, b}, {}, "probe")});
    VIRIDIAN_TRY(graph::infer_types(graph));
    return graph;
}

struct Subject {
    std::string name;
    const graph::Graph* graph;
    plan::Region region;
    plan::Choice choice;
    double weights = 0, price = 0;
};

Result<void> benchmark(const ModelOptions& options, double seconds, std::size_t most) {
    VIRIDIAN_TRY(const graph::Graph graph, session::load_model(options));
    VIRIDIAN_TRY(const auto device, session::open_device(options));
    VIRIDIAN_TRY(cost::Database database, session::open_database(options));
    VIRIDIAN_TRY(const auto costs,
                 optimize::MeasuredCosts::open(*device, database, {.meter = "model"}, "f32"));
    costs->price_for(graph);
    VIRIDIAN_TRY(const search::Instance instance, search::Instance::of(graph, costs->source()));
    VIRIDIAN_TRY(search::Outcome outcome, search::solve(instance, {}));
    VIRIDIAN_TRY(plan::Plan plan, plan::make_plan(graph, std::move(outcome.assignment)));
    std::map<std::string, Subject> by;
    for (const plan::Step& step : plan.steps) {
        if (step.kind != plan::Step::Kind::kernel) continue;
        plan::Region region = step.region;
        region.dies.assign(region.inputs.size(), true);
        const std::string key = plan::signature(graph, region) + step.choice.key();
        auto& s = by.try_emplace(key, Subject{}).first->second;
        s.name = fmt::format("{}:{:x}", step.choice.kernel, Hash().add(key).value() & 0xffff);
        s.graph = &graph, s.region = region, s.choice = step.choice;
        s.weights = static_cast<double>(profile::weight_bytes(graph, region, step.choice).value);
        s.price += step.price ? step.price->seconds.value : 0;
    }
    std::vector<Subject> all;
    for (auto& [key, s] : by) all.push_back(s);
    std::ranges::sort(all, [](const Subject& a, const Subject& b) { return a.price > b.price; });
    if (all.size() > most) all.resize(most);
    const bool cached = profile::weights_stay_cached(graph);
    std::vector<graph::Graph> products;
    for (const auto& [m, k, n] :
         {std::array{256, 256, 256}, {64, 1024, 64}, {512, 512, 512}, {128, 128, 128}}) {
        VIRIDIAN_TRY(products.emplace_back(), product(m, k, n));
    }
    std::vector<Subject> probes;
    for (const auto& one : products) {
        plan::Region region = plan::make_region(one, graph::uses(one), {one.nodes().front()});
        VIRIDIAN_TRY(const auto choices, device->choices(one, region));
        probes.push_back({fmt::format("product{}", probes.size()), &one, region, choices.front()});
    }
    const graph::Dims dims = {1, 64, 56, 56};
    const plan::Format plain{plan::plain(4), graph::ElementType::f32, {}};
    const plan::Format blocked{plan::channels_last(4), graph::ElementType::f32, {}};
    std::vector<char> memory(std::size_t{200} << 20U, 1);
    std::size_t at = 0;
    const auto begin = Clock::now();
    const auto since = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    const execute::TimingProtocol quick = {0.01, Seconds(3e-3), 5, true};
    const auto probe = [&](const std::string& which) -> Result<void> {
        std::string line = fmt::format("probe {:.3f} {}", since(), which);
        for (const Subject& p : probes) {
            VIRIDIAN_TRY(const auto t, device->time(*p.graph, p.region, p.choice, quick));
            line += fmt::format(" {:.3f} {:.3f}", 1e6 * t.minimum.value, 1e6 * t.median.value);
        }
        VIRIDIAN_TRY(const auto t, device->time_conversion(dims, plain, blocked, quick));
        line += fmt::format(" {:.3f} {:.3f}", 1e6 * t.minimum.value, 1e6 * t.median.value);
        line += fmt::format(" {:.4f}", 1e6 * device->core_to_core_latency().value);
        constexpr std::size_t chunk = std::size_t{16} << 20U;
        if (at + chunk > memory.size()) at = 0;
        const double s = since();
        std::uint64_t sum = 0;
        for (std::size_t i = at; i < at + chunk; i += 8)
            sum += *reinterpret_cast<const std::uint64_t*>(&memory[i]);
        line += fmt::format(" {:.3f}", 1e6 * (since() - s));
        at += chunk;
        fmt::print("{} {}\n", line, sum & 1U);
        return {};
    };
    while (since() < seconds) {
        for (const Subject& s : all) {
            VIRIDIAN_TRY(probe("before"));
            const profile::Work work = profile::Work::of(*s.graph, s.region);
            VIRIDIAN_TRY(const auto t,
                         device->time(*s.graph, s.region, s.choice, {0.01, Seconds(15e-3), 3, cached}));
            fmt::print("kernel {:.3f} {} {} {} {} {:.3f} {:.3f} {:.3f} {}\n", since(), s.name, work.flop,
                       work.bytes, s.weights, 1e6 * t.minimum.value, 1e6 * t.median.value, 1e6 * s.price,
                       cached ? 1 : 0);
        }
        VIRIDIAN_TRY(probe("after"));
    }
    return {};
}

}  // namespace
}  // namespace viridian::cli

int main(int count, char** arguments) {
    CLI::App app("How kernels change with the state of the machine");
    viridian::cli::ModelOptions options;
    double seconds = 60;
    std::size_t most = 30;
    viridian::cli::add_model_options(viridian::cli::App(&app), options);
    viridian::cli::add_cost_options(viridian::cli::App(&app), options);
    app.add_option("--seconds", seconds, "How long");
    app.add_option("--most", most, "Kernels");
    CLI11_PARSE(app, count, arguments);
    const auto done = viridian::cli::benchmark(options, seconds, most);
    if (!done.ok()) fmt::print(stderr, "{}\n", done.error().text());
    return done.ok() ? 0 : 1;
}
