// Runs a model or a plan: outputs, timings, a trace.
#include <chrono>
#include <cstdio>
#include <iostream>

#include "viridian/base/destination.hpp"
#include "viridian/base/statistics.hpp"
#include "viridian/cli/commands.hpp"
#include "viridian/cli/given_plan.hpp"
#include "viridian/cli/model_tensors.hpp"
#include "viridian/cli/replaced.hpp"
#include "viridian/cli/run_account.hpp"
#include "viridian/cli/units_text.hpp"
#include "viridian/execute/device.hpp"
#include "viridian/execute/proof.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/profile/measure_runs.hpp"
#include "viridian/profile/unpriced.hpp"
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/trace/binary.hpp"
#include "viridian/trace/write.hpp"

namespace viridian::cli {
namespace {

struct Options {
    ModelOptions model;
    std::string device = "cpu";
    std::uint64_t seed = 1;
    std::vector<std::string> inputs;
    std::string outputs;  // folder
    std::string trace;    // file
    std::string account;  // file
    int rounds = 5;
    int traced_runs = 10;
    bool paced = false;
    bool retune = false;
};

// MODEL is an .onnx file, or the .plan.json beside one.
struct Source {
    Path model;
    std::optional<Path> plan;
};
Source source_of(const std::string& name) {
    constexpr std::string_view suffix = ".plan.json";
    if (name.ends_with(suffix)) return {name.substr(0, name.size() - suffix.size()) + ".onnx", Path(name)};
    return {name, std::nullopt};
}

// Nothing, where there is no plan.
Result<std::optional<Json>> sidecar(const Source& source) {
    if (!source.plan) return std::optional<Json>();
    VIRIDIAN_TRY(const std::string text, read_file(*source.plan));
    VIRIDIAN_TRY(Json json, parse_json(text, source.plan->string()));
    return std::optional(std::move(json));
}

// What runs, and what its re-tuning says of itself.
struct Ready {
    std::unique_ptr<execute::Device> device;
    Planned planned;
    Json retuned;  // null where it is not
};

// The first kernels that are offered, where there is neither a plan nor --retune.
Result<Planned> planned_first(graph::Graph graph, execute::Device& device) {
    search::AssignOptions solver;
    solver.solver = search::Solver::first;
    VIRIDIAN_TRY(Planned planned, make_plan_only(std::move(graph), profile::unpriced(device), {}, solver));
    VIRIDIAN_TRY(planned.executable, device.prepare_consuming(planned.graph, planned.plan));
    return planned;
}

Result<Ready> prepare(const Options& options, const std::optional<Json>& plan, const Asked& asked,
                      graph::Graph graph) {
    Ready ready;
    if (!options.retune) {
        if (plan) {
            VIRIDIAN_TRY(Given given, planned_as_given(std::move(graph), *plan, options.model));
            ready.device = std::move(given.device);
            ready.planned = std::move(given.planned);
        } else {
            VIRIDIAN_TRY(ready.device, open_device(options.model));
            VIRIDIAN_TRY(ready.planned, planned_first(std::move(graph), *ready.device));
        }
        return ready;
    }
    if (plan) VIRIDIAN_TRY(plan::plan_from_json(graph, *plan));  // a plan, and this model's
    if (plan && !asked.objective)
        fmt::print(stderr, "the plan does not say what it was made for: re-tuned for time, in f32{}\n",
                   allows_bf16(options.model) ? " and bf16" : "");
    VIRIDIAN_TRY(Retuned retuned, cli::retuned(std::move(graph), options.model, asked, options.seed));
    ready.retuned = {{"objective", search::text(retuned.objective)},
                     {"precisions", retuned.bf16 ? Json::array({"f32", "bf16"}) : Json::array({"f32"})}};
    ready.device = std::move(retuned.device);
    ready.planned = std::move(retuned.planned);
    return ready;
}

Json output_json(const graph::Graph& graph, const std::vector<graph::Tensor>& outputs) {
    Json list = Json::array();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        Json first = Json::array();
        for (std::int64_t k = 0; k < std::min<std::int64_t>(outputs[i].count(), 5); ++k)
            first.push_back(outputs[i].number(k));
        list.push_back({{"name", graph.value(graph.outputs()[i]).name},
                        {"type", text(outputs[i].tensor_type())},
                        {"first", std::move(first)}});
    }
    return list;
}

// Perfetto's JSON, CSV or our own binary format, by the name (docs/trace.md).
Result<void> write_trace(const Options& options, const Planned& planned,
                         const std::vector<graph::Tensor>& inputs) {
    VIRIDIAN_TRY(const auto events, record_runs(planned, inputs, options.traced_runs));
    const std::string plain =
        options.trace.ends_with(".gz")    ? options.trace.substr(0, options.trace.size() - 3)
        : options.trace.ends_with(".zst") ? options.trace.substr(0, options.trace.size() - 4)
                                          : options.trace;
    const bool json = plain.ends_with(".json");
    if (!json && !plain.ends_with(".csv")) return trace::write_viridian(*events, options.trace);
    VIRIDIAN_TRY(auto out, trace::open_out(options.trace));
    const auto sink = json ? trace::json_sink(std::move(out)) : trace::csv_sink(std::move(out));
    return trace::copy(*events, *sink);
}

// Into the folder, when there is one; what --json says of them.
Result<Json> outputs_json(const Options& options, const graph::Graph& graph,
                          const std::vector<graph::Tensor>& outputs) {
    Json list = output_json(graph, outputs);
    if (options.outputs.empty()) return list;
    VIRIDIAN_TRY(const std::vector<Path> files, write_outputs(graph, outputs, options.outputs));
    for (std::size_t i = 0; i < files.size(); ++i) list[i]["file"] = files[i].string();
    return list;
}

// For harnesses that interleave several systems: every line on stdin is a number of seconds to run for,
// answered by one line with the seconds of each run.
Result<void> run_paced(Planned& planned, const std::vector<graph::Tensor>& inputs, double ready) {
    VIRIDIAN_TRY(std::vector<graph::Tensor> outputs, execute::output_tensors(planned.graph));
    fmt::print("{}\n", Json{{"ready", ready}}.dump());
    std::fflush(stdout);
    std::vector<profile::Contestant> contestant = {{planned.executable.get(), inputs, std::move(outputs)}};
    for (std::string line; std::getline(std::cin, line);) {
        const double seconds = std::strtod(line.c_str(), nullptr);
        VIRIDIAN_TRY(const profile::Turn turn, profile::time_turn(contestant[0], Seconds(seconds)));
        fmt::print("{}\n", Json(turn.all()).dump());
        std::fflush(stdout);
    }
    return {};
}

// Options that would do nothing are refused.
Result<void> check_used(const Options& options) {
    if (options.device == "reference")
        for (const auto& [name, given] :
             {std::pair{"--trace", !options.trace.empty()}, std::pair{"--account", !options.account.empty()},
              std::pair{"--paced", options.paced}, std::pair{"--retune", options.retune}})
            if (given)
                return fail(ErrorCode::invalid_argument, "leave it out, or use `--device cpu`",
                            "`{}` needs kernels that are timed, the reference has none", name);
    if (!options.model.meter.empty() && options.account.empty() && !options.retune)
        return fail(ErrorCode::invalid_argument, "add `--account FILE.json`, or leave `--meter` out",
                    "`--meter` meters nothing without --account or --retune");
    for (const std::string& file : {options.trace, options.account})
        if (!file.empty()) VIRIDIAN_TRY(check_writable(file));
    return {};
}

Result<void> check_names(const Options& options, const ModelOptions& model, const Source& source,
                         const graph::Graph& graph) {
    std::vector<Path> reads = files_read(model, options.inputs);
    if (source.plan) reads.push_back(*source.plan);
    std::vector<Path> writes = {options.trace, options.account};
    if (!options.account.empty()) writes.push_back(Path(options.account).replace_extension(".html"));
    if (!options.outputs.empty())
        for (Path& file : output_files(graph, options.outputs)) writes.push_back(std::move(file));
    return check_replaces_nothing(writes, reads);
}

std::string outputs_text(const Json& list) {
    std::string text;
    for (const Json& output : list) {
        text += fmt::format("  {}  {}  {}", output["name"].get<std::string>(),
                            output["type"].get<std::string>(), output["first"].dump());
        text += output.contains("file") ? fmt::format("  {}\n", output["file"].get<std::string>()) : "\n";
    }
    return text;
}

Result<Answer> run(const Options& options) {
    VIRIDIAN_TRY(check_used(options));
    const auto started = std::chrono::steady_clock::now();
    ModelOptions model = options.model;
    const Source source = source_of(model.model);
    model.model = source.model.string();
    VIRIDIAN_TRY(graph::Graph graph, load_model(model));
    VIRIDIAN_TRY(const std::optional<Json> plan, sidecar(source));
    Asked asked;
    if (plan) {
        VIRIDIAN_TRY(asked, asked_of(*plan));
    }
    // The same rules give the same graph that the plan was made for.
    VIRIDIAN_TRY(rewrite::simplify(graph, {.without = asked.without}));
    VIRIDIAN_TRY(check_names(options, model, source, graph));
    VIRIDIAN_TRY(const std::vector<graph::Tensor> inputs, model_inputs(graph, options.inputs, options.seed));
    Json result = {{"schema", "viridian.run/1"}, {"model", source.model.filename().string()}};
    if (options.device == "reference") {
        VIRIDIAN_TRY(const std::vector<graph::Tensor> outputs, graph::evaluate(graph, inputs));
        VIRIDIAN_TRY(result["outputs"], outputs_json(options, graph, outputs));
        return Answer{result, fmt::format("{}: outputs of the reference kernels (first values)\n{}",
                                          source.model.filename().string(), outputs_text(result["outputs"]))};
    }
    VIRIDIAN_TRY(Ready ready, prepare(options, plan, asked, std::move(graph)));
    Planned& planned = ready.planned;
    if (options.paced) {
        VIRIDIAN_TRY(
            run_paced(planned, inputs,
                      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count()));
        return Answer{Json::object(), ""};
    }
    VIRIDIAN_TRY(std::vector<graph::Tensor> outputs, execute::output_tensors(planned.graph));
    std::vector<profile::Contestant> contestants = {{planned.executable.get(), inputs, std::move(outputs)}};
    VIRIDIAN_TRY(const std::vector<Summary> seconds,
                 profile::measure_runs(contestants, {.rounds = options.rounds}));
    VIRIDIAN_TRY(const std::vector<double> steps, step_seconds(planned, inputs, 21));
    double sum = 0;
    for (const double step : steps) sum += step;
    if (!ready.retuned.is_null()) result["retuned"] = ready.retuned;
    result["threads"] = ready.device->threads();
    result["seconds"] = seconds[0].median;
    result["minimum"] = seconds[0].minimum;
    result["low"] = seconds[0].low;
    result["high"] = seconds[0].high;
    result["runs"] = seconds[0].count;
    result["steps"] = steps.size();
    result["step_seconds"] = sum;
    result["predicted_seconds"] = planned.plan.predicted_seconds.value;
    result["memory_bytes"] = planned.executable->memory().value;
    VIRIDIAN_TRY(result["outputs"], outputs_json(options, planned.graph, contestants[0].outputs));
    if (!options.trace.empty()) {
        VIRIDIAN_TRY(write_trace(options, planned, inputs));
        result["trace"] = options.trace;
    }
    std::string accounted;
    if (!options.account.empty()) {
        VIRIDIAN_TRY(const Answer account,
                     account_runs(planned, inputs, seconds[0].median, options.model.meter, options.account));
        result["account"] = options.account;
        accounted = account.text;
    }
    return Answer{result, fmt::format("{}: {} a run (minimum {}, {} runs), {} kernels that take {}\n",
                                      source.model.filename().string(), quantity(seconds[0].median, "s"),
                                      quantity(seconds[0].minimum, "s"), seconds[0].count, steps.size(),
                                      quantity(sum, "s")) +
                              accounted};
}

}  // namespace

Command run_command() {
    return {"run", "Runs a model or a plan: outputs, timings, a trace",
            "viridian run resnet50.opt.plan.json --inputs image.npy -o outputs --trace run.json",
            [](CLI::App& app) {
                auto options = std::make_shared<Options>();
                add_model_options(app, options->model);
                app.get_option("MODEL")->description("An .onnx file, or a .plan.json of `optimize`");
                add_cost_options(app, options->model);
                app.add_option("--device", options->device, "cpu, or reference (slow, plain)")
                    ->check(CLI::IsMember({"cpu", "reference"}))
                    ->capture_default_str();
                app.add_option("--inputs", options->inputs,
                               "NAME=FILE, FILE or FOLDER of .npy or .pb; may be given several times");
                app.add_option("--seed", options->seed, "Of the inputs, where no files are given")
                    ->capture_default_str();
                app.add_option("-o,--output", options->outputs, "Folder to write the outputs to, as .npy");
                app.add_option(
                    "--trace", options->trace,
                    "Write every step of ten runs: .json (Perfetto), .csv, else binary; .gz, .zst");
                app.add_option(
                    "--account", options->account,
                    "Meter two seconds of runs, write joules per operation to this JSON file and a page");
                app.add_option("--rounds", options->rounds, "Rounds of timing")
                    ->check(CLI::Range(1, 1000))
                    ->capture_default_str();
                app.add_flag("--paced", options->paced,
                             "One turn of timed runs for every number of seconds on stdin");
                app.add_flag("--retune", options->retune, "Choose kernels anew for this machine");
                return [options] { return run(*options); };
            }};
}

}  // namespace viridian::cli
