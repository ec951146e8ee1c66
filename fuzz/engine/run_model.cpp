#include "fuzz/engine/run_model.hpp"

#include <cstdio>

#include "tests/support/greedy.hpp"
#include "tests/support/guarded_run.hpp"
#include "viridian/base/random.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/graph/data_flow.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/prove/inputs.hpp"
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/search/assign/solvers.hpp"
#include "viridian/session/open.hpp"

namespace viridian::fuzz {
namespace {

constexpr std::int64_t most_nodes = 400;
constexpr std::size_t most_run_nodes = 60;
constexpr double most_flop = 1e6,
                 most_moved = 4e6;  // with sanitizers, a quarter of a second on reference kernels
constexpr int threads = 2;

rewrite::Options verified() {
    rewrite::Options options;
    options.verify = true;
    return options;
}

session::ModelOptions budget() {
    session::ModelOptions options;
    options.model = "fuzz";
    options.memory = "64MiB";
    return options;
}

std::uint64_t hash_of(std::string_view text, std::uint64_t hash) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return hash;
}

// Whatever the input, it may be wrong and the machine may be too small, but we have no bug.
template <class T>
bool good(const Result<T>& result) {
    if (result.ok()) return true;
    if (result.error().kind() != ErrorKind::bug) return false;
    std::fprintf(stderr, "an error of ours: %s\n", result.error().text().c_str());
    __builtin_trap();
}

execute::Device& processor() {
    static const std::unique_ptr<execute::Device> device = [] {
        auto with_bf16 =
            execute::make_cpu_device({.threads = threads, .pin = false, .allowances = {.bf16 = true}});
        if (with_bf16.ok()) return std::move(with_bf16).value();
        return execute::make_cpu_device({.threads = threads, .pin = false, .allowances = {}}).value();
    }();
    return *device;
}

// All kernels of the processor at prices that follow from their names and `seed`; reference kernels are dear.
cost::PriceSource made_up_prices(std::uint64_t seed) {
    const auto price = [](std::uint64_t hash, double factor) {
        const Seconds s(factor * Random(hash).uniform(1e-6, 1e-4));
        const Joules j(factor * Random(hash + 1).uniform(1e-5, 1e-3));
        return cost::Price{s, s, s, {j, j, j, {Provenance::Kind::estimated, "made up"}}};
    };
    return {[=](const graph::Graph& graph,
                const plan::Region& region) -> Result<std::vector<cost::PricedChoice>> {
                VIRIDIAN_TRY(std::vector<plan::Choice> choices, processor().choices(graph, region));
                std::vector<cost::PricedChoice> priced;
                for (plan::Choice& choice : choices) {
                    if (choice.aliasing == plan::Aliasing::overwrite && !region.dies[choice.overwritten])
                        continue;
                    const bool slow = choice.variant.algorithm == plan::Algorithm::reference;
                    const cost::Price its = price(hash_of(choice.key(), seed), slow ? 20 : 1);
                    priced.push_back({std::move(choice), its});
                }
                return priced;
            },
            [=](const graph::Dims& dims, const plan::Format& from, const plan::Format& to) {
                const std::uint64_t hash = hash_of(text(from), hash_of(text(to), seed + dims.size()));
                return Result<cost::Price>(price(hash, 0.1));
            }};
}

// Binds what the inputs leave open, as a user would with --dim.
Result<void> bind_symbols(graph::Graph& graph, Random& random) {
    for (const graph::ValueId id : std::vector(graph.inputs())) {
        if (!graph.value(id).type.shape) continue;
        for (const graph::Dimension& dimension : graph::Shape(*graph.value(id).type.shape)) {
            if (dimension.symbol().empty()) continue;
            if (auto bound = graph::bind_dimension(graph, dimension.symbol(), random.between(1, 4));
                !bound.ok() && bound.error().code != ErrorCode::missing_entry)
                return bound;
        }
    }
    if (auto error = graph::free_dimensions_error(graph)) return *std::move(error);
    return {};
}

// Whether a run is short. What bodies and data-dependent shapes take is not counted, so those do not run.
bool short_enough(const graph::Graph& graph) {
    const auto flow = graph::data_flow(graph);
    if (!good(flow) || flow->nodes.size() > most_run_nodes) return false;
    double flop = 0, moved = 0;
    for (const graph::NodeFlow& node : flow->nodes) {
        if (!node.counted && node.operator_class == graph::OperatorClass::control) return false;
        flop += static_cast<double>(node.flop.value);
        moved += static_cast<double>(node.read.value) + static_cast<double>(node.written.value);
    }
    return flop <= most_flop && moved <= most_moved;
}

// Indices, lengths and shapes that no model means, and numbers that are none.
void make_hostile(std::vector<graph::Tensor>& inputs, Random& random) {
    constexpr std::int64_t integers[] = {INT64_MIN, INT64_MAX, -1, -2, 7, 1000000, INT32_MIN, INT32_MAX};
    constexpr float numbers[] = {NAN, INFINITY, -INFINITY, 1e30F, -1e-42F, 0.0F, -0.0F, 3e9F};
    for (graph::Tensor& tensor : inputs)
        for (std::int64_t i = 0; i < std::min<std::int64_t>(tensor.count(), 64); ++i) {
            const auto at = static_cast<std::size_t>(i);
            if (!random.chance(0.3)) continue;
            if (tensor.type() == graph::ElementType::i64)
                tensor.mutable_values<std::int64_t>()[at] = integers[random.below(std::size(integers))];
            else if (tensor.type() == graph::ElementType::i32)
                tensor.mutable_values<std::int32_t>()[at] =
                    static_cast<std::int32_t>(integers[random.below(std::size(integers))]);
            else if (tensor.type() == graph::ElementType::f32)
                tensor.mutable_values<float>()[at] = numbers[random.below(std::size(numbers))];
        }
}

// Now and then one of the graphs that a search would go on with.
Result<void> take_alternative(graph::Graph& graph, Random& random) {
    if (!random.chance(0.25)) return {};
    VIRIDIAN_TRY(std::vector<rewrite::Alternative> others, rewrite::alternatives(graph, verified()));
    if (!others.empty()) graph = std::move(others[random.below(others.size())].graph);
    return {};
}

Result<plan::Plan> make_plan(const graph::Graph& graph, Random& random) {
    search::AssignOptions options;
    options.exact.most_entries = 1e4;
    options.exact.time_limit = Seconds(0.02);
    VIRIDIAN_TRY(const search::Instance instance,
                 search::Instance::of(graph, made_up_prices(random.next()), options));
    search::Objective objective;
    if (random.chance(0.3)) objective.terms[0].metric = search::Metric::energy;
    VIRIDIAN_TRY(search::Outcome outcome, search::solve(instance, objective, options));
    return plan::make_plan(graph, std::move(outcome.assignment));
}

// One run of every step with every tensor beside a guard page, mostly behind it.
Result<void> run_guarded(const graph::Graph& graph, const plan::Plan& plan,
                         const std::vector<graph::Tensor>& inputs, Random& random) {
    static const execute::cpu::Context context = tests::guarded_context(threads);
    const auto guard = random.chance(0.8) ? tests::Guard::behind : tests::Guard::before;
    VIRIDIAN_TRY(tests::run_guarded(context, graph, plan, inputs, guard));
    return {};
}

Result<void> run(const graph::Graph& graph, plan::Plan& plan, Random& random) {
    VIRIDIAN_TRY(std::vector<graph::Tensor> inputs, prove::seeded_inputs(graph, random.next()));
    VIRIDIAN_TRY(execute::check_offered(processor(), graph, plan));
    VIRIDIAN_TRY(const std::unique_ptr<execute::Executable> executable, processor().prepare(graph, plan));
    VIRIDIAN_TRY(std::vector<graph::Tensor> outputs, execute::output_tensors(graph));
    const auto usual = executable->run(inputs, outputs);
    std::vector<graph::Tensor> hostile = inputs;
    make_hostile(hostile, random);
    good(executable->run(hostile, outputs));
    good(run_guarded(graph, plan, random.chance(0.5) ? hostile : inputs, random));
    return usual;
}

// A guarded run of the k-th kernel of every node, which no price may ever choose.
Result<void> run_another(const graph::Graph& graph, Random& random) {
    const std::size_t k = random.below(6);
    const auto pick = [k](const plan::Region&, const std::vector<plan::Choice>& choices) {
        return std::min(k, choices.size() - 1);
    };
    VIRIDIAN_TRY(plan::Assignment assignment,
                 execute::assign(processor(), graph, execute::single_node_regions(graph), pick));
    VIRIDIAN_TRY(const plan::Plan plan, plan::make_plan(graph, std::move(assignment)));
    VIRIDIAN_TRY(session::check_memory(graph, plan, budget()));
    VIRIDIAN_TRY(std::vector<graph::Tensor> inputs, prove::seeded_inputs(graph, random.next()));
    if (random.chance(0.5)) make_hostile(inputs, random);
    return run_guarded(graph, plan, inputs, random);
}

}  // namespace

void run_model(std::string_view bytes, Stage& reached) {
    Random random(hash_of(bytes, 0xcbf29ce484222325U));
    auto read = onnx::parse(bytes, "fuzz", {.most_nodes = most_nodes});
    if (!good(read)) return;
    graph::Graph graph = *std::move(read);
    reached = Stage::parsed;
    if (graph.outputs().empty() || !good(bind_symbols(graph, random)) || !good(graph::infer_types(graph)) ||
        !good(session::check_memory(graph, budget())))
        return;
    reached = Stage::inferred;
    if (!good(rewrite::simplify(graph, verified())) || !good(take_alternative(graph, random)) ||
        !good(session::check_memory(graph, budget())) || !short_enough(graph))
        return;
    reached = Stage::simplified;
    auto plan = make_plan(graph, random);
    if (!good(plan) || !good(session::check_memory(graph, *plan, budget()))) return;
    reached = Stage::planned;
    if (good(run(graph, *plan, random))) reached = Stage::executed;
    if (random.chance(0.5)) good(run_another(graph, random));
}

}  // namespace viridian::fuzz
