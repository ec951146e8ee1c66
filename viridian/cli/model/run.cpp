// Runs a model or a plan: outputs, timings, a trace.
#include <chrono>
#include <cstdio>
#include <iostream>

#include "viridian/base/destination.hpp"
#include "viridian/base/json.hpp"
#include "viridian/base/statistics.hpp"
#include "viridian/base/system/peak_memory.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/cli/command.hpp"
#include "viridian/cli/model/files_read.hpp"
#include "viridian/cli/model/model_options.hpp"
#include "viridian/cli/model/model_tensors.hpp"
#include "viridian/cli/model/run_account.hpp"
#include "viridian/cli/model/run_trace.hpp"
#include "viridian/cli/terminal_listener.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/optimize/reference_share.hpp"
#include "viridian/profile/measure_runs.hpp"
#include "viridian/prove/proof.hpp"
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/session/session.hpp"
#include "viridian/trace/write/output_format.hpp"

namespace viridian::cli {
namespace {

struct RunOptions {
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

Json output_json(const graph::Graph& graph, const std::vector<graph::Tensor>& outputs) {
    Json list = Json::array();
    const std::vector<graph::ValueId> ids = run_outputs(graph);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        Json first = Json::array();
        for (std::int64_t k = 0; k < std::min<std::int64_t>(outputs[i].count(), 5); ++k)
            first.push_back(outputs[i].number(k));
        list.push_back({{"name", graph.value(ids[i]).name},
                        {"type", text(outputs[i].tensor_type())},
                        {"first", std::move(first)}});
    }
    return list;
}

// Into the folder, when there is one; what --json says of them.
Result<Json> outputs_json(const RunOptions& options, const graph::Graph& graph,
                          const std::vector<graph::Tensor>& outputs) {
    Json list = output_json(graph, outputs);
    if (options.outputs.empty()) return list;
    VIRIDIAN_TRY(const std::vector<Path> files, write_outputs(graph, outputs, options.outputs));
    for (std::size_t i = 0; i < files.size(); ++i) list[i]["file"] = files[i].string();
    return list;
}

// The executable begins with the first values of the states. Here only those values stay that files gave, so
// that memory holds the states once.
void leave_first_values(const graph::Graph& graph, std::vector<graph::Tensor>& inputs) {
    for (std::size_t i = 0; i < graph.states().size(); ++i) {
        graph::Tensor& state = inputs[graph.inputs().size() + i];
        const graph::Tensor* first = graph.first_value(graph.states()[i].before);
        if (first != nullptr && first->bytes() == state.bytes()) state = graph::Tensor();
    }
}

// What a process had spent before and while it made a model ready, for harnesses that compare systems.
struct Readiness {
    double seconds = 0;
    Bytes memory_before;  // the largest so far, before the model was read
};

// For harnesses that interleave several systems. The first line printed is
// {"ready": seconds, "memory_before": bytes}. Every line on stdin is a number of seconds to run for, answered
// by one line with the seconds of each run. When stdin ends, the outputs of the last run are written to
// `-o FOLDER`.
Result<void> run_paced(const RunOptions& options, optimize::PlannedModel& planned,
                       const std::vector<graph::Tensor>& inputs, const Readiness& ready) {
    VIRIDIAN_TRY(std::vector<graph::Tensor> outputs, execute::output_tensors(planned.graph));
    fmt::print("{}\n", Json{{"ready", ready.seconds}, {"memory_before", ready.memory_before.value}}.dump());
    std::fflush(stdout);
    std::vector<profile::Subject> subject = {{planned.executable.get(), inputs, std::move(outputs)}};
    for (std::string line; std::getline(std::cin, line);) {
        const double seconds = std::strtod(line.c_str(), nullptr);
        VIRIDIAN_TRY(const profile::TimeSlice slice, profile::time_slice(subject[0], Seconds(seconds)));
        fmt::print("{}\n", Json(slice.all()).dump());
        std::fflush(stdout);
    }
    VIRIDIAN_TRY(outputs_json(options, planned.graph, subject[0].outputs));
    return {};
}

// Options that would do nothing are refused.
Result<void> check_used(const RunOptions& options) {
    const std::pair<const char*, bool> timed[] = {{"--trace", !options.trace.empty()},
                                                  {"--account", !options.account.empty()},
                                                  {"--paced", options.paced},
                                                  {"--retune", options.retune}};
    for (const auto& [name, given] : timed) {
        if (given && options.device == "reference")
            return fail(ErrorCode::invalid_argument, "leave it out, or use `--device cpu`",
                        "`{}` needs kernels that are timed, the reference has none", name);
        if (given && options.rounds == 0)
            return fail(ErrorCode::invalid_argument, "leave one of them out",
                        "`{}` needs runs that are timed, `--rounds 0` times none", name);
    }
    if (!options.model.meter.empty() && options.account.empty() && !options.retune)
        return fail(ErrorCode::invalid_argument, "add `--account FILE.json`, or leave `--meter` out",
                    "`--meter` meters nothing without --account or --retune");
    for (const std::string& file : {options.trace, options.account})
        if (!file.empty()) VIRIDIAN_TRY(check_writable(file));
    return {};
}

Result<void> check_names(const RunOptions& options, const session::ModelFiles& files,
                         const graph::Graph& graph) {
    ModelOptions model = options.model;
    model.model = files.model.string();
    std::vector<Path> reads = files_read(model, options.inputs);
    if (files.plan) reads.push_back(*files.plan);
    std::vector<Path> writes = {options.trace, options.account};
    if (!options.account.empty()) writes.push_back(Path(options.account).replace_extension(".html"));
    if (!options.outputs.empty())
        for (Path& file : output_files(graph, options.outputs)) writes.push_back(std::move(file));
    VIRIDIAN_TRY(check_replaces_nothing(writes, reads));
    if (!options.trace.empty()) VIRIDIAN_TRY(trace::format_of_name(options.trace));
    return {};
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

Json states_json(const optimize::PlannedModel& planned) {
    return {{"count", planned.executable->state_count()},
            {"bytes", planned.plan.state_bytes},
            {"bytes_copied_a_run", planned.executable->copied_into_states().value}};
}

// Takes one step from the first values, and tells of its outputs and states.
Result<void> tell_first_step(const RunOptions& options, const optimize::PlannedModel& planned,
                             const std::vector<graph::Tensor>& inputs, Json& result) {
    VIRIDIAN_TRY(const std::vector<graph::Tensor> made,
                 execute::run_from(*planned.executable, planned.graph, inputs, execute::NewStates::views));
    result["states"] = states_json(planned);
    VIRIDIAN_TRY(result["outputs"], outputs_json(options, planned.graph, made));
    return {};
}

void tell_times(const Summary& seconds, Json& result) {
    result["seconds"] = seconds.median;
    result["minimum"] = seconds.minimum;
    result["low"] = seconds.low;
    result["high"] = seconds.high;
    result["runs"] = seconds.count;
}

// What a run that is not timed tells.
Result<Answer> untimed(const RunOptions& options, const graph::Graph& graph,
                       const std::vector<graph::Tensor>& outputs, std::string_view whose, Json result) {
    VIRIDIAN_TRY(result["outputs"], outputs_json(options, graph, outputs));
    return Answer{
        result, fmt::format("{}: outputs of {} (first values)\n{}", result["model"].get<std::string>(), whose,
                            outputs_text(result["outputs"]))};
}

Result<Answer> run_run(const RunOptions& options) {
    VIRIDIAN_TRY(check_used(options));
    const auto started = std::chrono::steady_clock::now();
    const Bytes memory_before = peak_memory();
    TerminalListener listener;
    VIRIDIAN_TRY(session::LoadedModel loaded, session::load(options.model, &listener));
    const session::ModelFiles files = loaded.files;
    VIRIDIAN_TRY(check_names(options, files, loaded.graph));
    if (options.device == "reference") VIRIDIAN_TRY(check_memory(loaded.graph, options.model));
    VIRIDIAN_TRY(std::vector<graph::Tensor> inputs, model_inputs(loaded.graph, options.inputs, options.seed));
    Json result = {{"schema", "viridian.run/1"}, {"model", files.model.filename().string()}};
    if (options.device == "reference") {
        VIRIDIAN_TRY(const std::optional<Bytes> left, session::memory_left(loaded.graph, options.model));
        VIRIDIAN_TRY(const std::vector<graph::Tensor> outputs, graph::evaluate(loaded.graph, inputs, left));
        VIRIDIAN_TRY(result["outputs"], outputs_json(options, loaded.graph, outputs));
        return untimed(options, loaded.graph, outputs, "the reference kernels", std::move(result));
    }
    if (!options.retune) leave_first_values(loaded.graph, inputs);  // tuning runs on from state to state
    const execute::PinnedCaller pinned(options.model.pin);
    VIRIDIAN_TRY(session::Session ready,
                 options.retune ? session::retune(std::move(loaded), options.model, options.seed, listener)
                                : session::prepare(std::move(loaded), options.model));
    optimize::PlannedModel& planned = ready.planned;
    if (options.paced) {
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - started;
        VIRIDIAN_TRY(run_paced(options, planned, inputs, {taken.count(), memory_before}));
        return Answer{Json::object(), ""};
    }
    if (options.rounds == 0) {
        VIRIDIAN_TRY(
            const std::vector<graph::Tensor> outputs,
            execute::run_from(*planned.executable, planned.graph, inputs, execute::NewStates::views));
        return untimed(options, planned.graph, outputs, "one run", std::move(result));
    }
    // Timing goes on from state to state; what is shown is the first step.
    const bool has_states = planned.executable->state_count() > 0;
    if (has_states) VIRIDIAN_TRY(tell_first_step(options, planned, inputs, result));
    VIRIDIAN_TRY(std::vector<graph::Tensor> outputs, execute::output_tensors(planned.graph));
    std::vector<profile::Subject> subjects = {{planned.executable.get(), inputs, std::move(outputs)}};
    VIRIDIAN_TRY(const std::vector<Summary> seconds,
                 profile::measure_runs(subjects, {.rounds = options.rounds}));
    VIRIDIAN_TRY(const std::vector<double> steps, optimize::step_seconds(planned, inputs, 21));
    if (const auto slow = optimize::reference_share_note(planned, steps)) {
        listener.warning(*slow);
        result["warnings"] = Json::array({*slow});
    }
    double sum = 0;
    for (const double step : steps) sum += step;
    if (ready.tuning)
        result["retuned"] = {
            {"objective", search::text(ready.tuning->objective)},
            {"precisions", ready.tuning->bf16 ? Json::array({"f32", "bf16"}) : Json::array({"f32"})}};
    result["threads"] = ready.device->threads();
    tell_times(seconds[0], result);
    result["steps"] = steps.size();
    result["step_seconds"] = sum;
    result["predicted_seconds"] = planned.plan.predicted_seconds.value;
    result["memory_bytes"] = planned.executable->memory().value;
    if (!has_states) {
        VIRIDIAN_TRY(result["outputs"], outputs_json(options, planned.graph, subjects[0].outputs));
    }
    if (!options.trace.empty()) {
        VIRIDIAN_TRY(
            write_run_trace(planned, inputs, options.traced_runs, options.model.meter, options.trace));
        result["trace"] = options.trace;
    }
    std::string accounted;
    if (!options.account.empty()) {
        VIRIDIAN_TRY(const Answer account,
                     account_runs(planned, inputs, seconds[0].median, options.model.meter, options.account));
        result["account"] = options.account;
        accounted = account.text;
    }
    return Answer{
        result, fmt::format("{}: {} a run (minimum {}, {}), {} that {} {}\n", files.model.filename().string(),
                            quantity(seconds[0].median, "s"), quantity(seconds[0].minimum, "s"),
                            counted(seconds[0].count, "run"), counted(steps.size(), "kernel"),
                            steps.size() == 1 ? "takes" : "take", quantity(sum, "s")) +
                    accounted};
}

}  // namespace

Command run_command() {
    return {
        "run", "Runs a model or a plan: outputs, timings, a trace",
        "viridian run resnet50.opt.plan.json --inputs image.npy -o outputs --trace run.json", [](App app) {
            auto options = std::make_shared<RunOptions>();
            add_model_options(app, options->model);
            add_type_option(app, options->model);
            app.get_option("MODEL").description("An .onnx file, or a .plan.json of `optimize`");
            add_cost_options(app, options->model);
            app.add_option("--device", options->device, "cpu, or reference (slow, plain)")
                .check(one_of({"cpu", "reference"}))
                .capture_default_str();
            app.add_option("--inputs", options->inputs,
                           "NAME=FILE, FILE or FOLDER of .npy or .pb; may be given several times");
            app.add_option("--seed", options->seed, "Seed of the inputs that no file gives")
                .capture_default_str();
            app.add_option("-o,--output", options->outputs, "Folder to write the outputs to, as .npy");
            app.add_option("--trace", options->trace,
                           "Write every step of ten runs: .json (Perfetto), .csv, else binary; .gz, .zst");
            app.add_option(
                "--account", options->account,
                "Meter two seconds of runs, write joules per operation to this JSON file and a page");
            app.add_option("--rounds", options->rounds, "Rounds of timing; 0: one run, not timed")
                .check(in_range(0, 1000))
                .capture_default_str();
            app.add_flag("--paced", options->paced,
                         "One turn of timed runs for every number of seconds on stdin");
            app.add_flag("--retune", options->retune, "Choose kernels anew for this machine");
            return [options] { return run_run(*options); };
        }};
}

}  // namespace viridian::cli
