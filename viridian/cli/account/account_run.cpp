// `viridian account --trace T --power P`
#include <limits>
#include <memory>
#include <optional>

#include "viridian/account/account.hpp"
#include "viridian/account/products/compare.hpp"
#include "viridian/account/products/flows.hpp"
#include "viridian/account/products/timeline.hpp"
#include "viridian/base/json.hpp"
#include "viridian/base/output_paths.hpp"
#include "viridian/base/system/memory_limit.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/cli/account/account.hpp"
#include "viridian/cli/account/account_carbon.hpp"
#include "viridian/cli/account/model_flows.hpp"
#include "viridian/cli/natural_order.hpp"
#include "viridian/cli/progress.hpp"
#include "viridian/cli/record/torch_traces.hpp"
#include "viridian/trace/join/merge.hpp"
#include "viridian/trace/read.hpp"
#include "viridian/trace/write/output_format.hpp"

namespace viridian::cli {
namespace {

struct AccountRunOptions {
    std::string power, method = "auto", output, spill, weights, model, carbon, timeline;
    double meter_shift_ms = 0.0, max_shift_ms = 50.0;
    std::int64_t offset_ns = 0;
    std::optional<std::int64_t> power_offset_ns;
    std::string recording;               // a folder that `record` wrote
    std::vector<std::string> traces;     // one, or those of the processes of one program
    std::vector<std::string> processes;  // their names, if there are several
    Grouping grouping;
    std::uint64_t most_leaves = account::Options{}.most_leaves;
    bool precision = false, forecast = false;
};

Result<std::vector<std::pair<std::string, std::uint32_t>>> read_weights(const std::string& path) {
    std::vector<std::pair<std::string, std::uint32_t>> weights;
    if (path.empty()) return weights;
    VIRIDIAN_TRY(const std::string text, read_file(path, 1 << 26));
    VIRIDIAN_TRY(const Json json, parse_json(text, path));
    for (const auto& [name, weight] : json.items()) {
        if (!json.is_object() || !weight.is_number_unsigned() || weight.get<std::uint64_t>() - 1 > 1'000'000)
            return fail(ErrorCode::malformed, "write {\"name or type\": 1 to 1000000, ...}",
                        "`{}` is not a table of weights", path);
        weights.emplace_back(name, weight.get<std::uint32_t>());
    }
    return weights;
}

Result<std::unique_ptr<trace::Source>> open_trace(const AccountRunOptions& options) {
    trace::ReadOptions read;
    read.shift = options.offset_ns;
    read.spill.budget /= options.traces.size();
    if (!options.spill.empty()) read.spill.folder = options.spill;
    if (options.traces.size() == 1) return trace::open(options.traces[0], read);
    std::vector<trace::Part> parts;
    for (std::size_t i = 0; i < options.traces.size(); ++i) {
        VIRIDIAN_TRY(std::unique_ptr<trace::Source> source, trace::open(options.traces[i], read));
        parts.push_back({options.processes[i], std::move(source)});
    }
    return trace::merged(std::move(parts));
}

// Everything that is read.
std::vector<Path> inputs(const AccountRunOptions& options) {
    std::vector<Path> files(options.traces.begin(), options.traces.end());
    for (const std::string* file : {&options.power, &options.model, &options.weights, &options.carbon})
        files.emplace_back(*file);
    return files;
}

Result<account::Accounting> attribute(const AccountRunOptions& options, const meter::PowerLog& log,
                                      const account::Options& how) {
    VIRIDIAN_TRY(const std::unique_ptr<trace::Source> source, open_trace(options));
    VIRIDIAN_TRY(account::Accounting result, account::account(*source, log, how));
    result.trace = fmt::format("{}", fmt::join(options.traces, ", "));
    result.power = options.power;
    return result;
}

// ASSS (SMARAGDINE §5.4.1): how much the summarized footprint changes when readings are left out.
Result<Json> sparsing(const AccountRunOptions& options, const meter::PowerLog& log, account::Options how,
                      const account::Accounting& whole) {
    Json out = Json::array();
    const auto reference = account::summarized_footprint(whole);
    double period = 0.0;  // of the fastest meter
    for (const account::Device& device : whole.devices)
        if (device.update.value > 0 && (period == 0.0 || device.update.value < period))
            period = device.update.value;
    Progress progress;
    for (const int sparse : {2, 4, 8, 16, 32}) {
        progress.show(fmt::format("accounting again with 1/{} of the readings", sparse));
        how.sparse = sparse;
        VIRIDIAN_TRY(const account::Accounting thin, attribute(options, log, how));
        out.push_back(
            {{"readings", fmt::format("1/{}", sparse)},
             {"period_ms", 1e3 * period * sparse},
             {"asss", account::compare(reference, account::summarized_footprint(thin)).energy_correlation}});
    }
    return out;
}

std::string device_text(const account::Device& device) {
    std::string text = fmt::format("{}: {:.6g} J from {}, method {}\n", device.name,
                                   device.meter_total.value.value, device.power, device.method);
    text += fmt::format("  {}\n", device.verdict);
    if (device.sensor)
        text += fmt::format("  sensor: window {:.4g} ms, shift {:.4g} ms [{:.4g}, {:.4g}]\n",
                            device.sensor->window.value * 1e3, device.sensor->shift.value * 1e3,
                            device.sensor->shift_low.value * 1e3, device.sensor->shift_high.value * 1e3);
    const auto figure = [](const Energy& energy) {
        return fmt::format("{:.6g} J [{:.4g}, {:.4g}]", energy.value.value, energy.low.value,
                           energy.high.value);
    };
    text += fmt::format("  idle {}, unattributed {}, residual {}", figure(device.idle),
                        figure(device.unattributed), figure(device.residual));
    if (device.others.value > 0)
        text += fmt::format(", other processes {:.6g} J (taken off before)", device.others.value);
    return text + "\n";
}

Json to_json(const std::vector<account::FootprintRow>& entries) {
    Json out = Json::array();
    for (const account::FootprintRow& entry : entries)
        out.push_back({{"name", entry.name},
                       {"joules", entry.energy.value},
                       {"low", entry.low.value},
                       {"high", entry.high.value},
                       {"watts", entry.watts().value},
                       {"seconds", entry.seconds.value},
                       {"count", entry.count}});
    return out;
}

Json boxes(const account::Accounting& result, std::string_view pass) {
    Json out = Json::array();
    for (const account::Box& box : account::diagram(result, pass))
        out.push_back({{"name", box.name},
                       {"parent", box.parent},
                       {"composite", box.composite},
                       {"joules", box.energy.value},
                       {"forward", box.forward.value},
                       {"backward", box.backward.value},
                       {"share", box.share}});
    return out;
}

// Says what the fit will need before it begins; it is not begun where the machine has not got it.
bool may_fit(const account::Forecast& needs, bool only_forecast, Json& forecasts) {
    const std::optional<Bytes> memory = available_memory();
    const std::uint64_t available =
        memory ? static_cast<std::uint64_t>(memory->value) : std::numeric_limits<std::uint64_t>::max();
    forecasts.push_back({{"device", needs.device},
                         {"leaves", needs.leaves},
                         {"windows", needs.windows},
                         {"kinds", needs.kinds},
                         {"bytes", needs.bytes},
                         {"available", available}});
    if (only_forecast || needs.bytes > (64U << 20U))
        fmt::print(stderr,
                   "{}: deconvolve needs {} MiB for {} leaves, {} readings and {} kinds; {} MiB are free\n",
                   needs.device, (needs.bytes >> 20U) + 1, needs.leaves, needs.windows, needs.kinds,
                   available >> 20U);
    return !only_forecast && needs.bytes < available;
}

// The names of the processes of several traces: as a recording tells them, else the names of the files.
std::vector<std::string> process_names(const std::vector<std::string>& traces, const Json& recorded) {
    std::vector<std::string> names;
    for (const std::string& trace : traces) {
        const std::string file = Path(trace).filename().string();
        names.push_back(file);
        for (const Json& one : recorded)
            if (one.is_object() && one.value("file", Json()) == file && one.contains("process"))
                names.back() = process_label(one);
    }
    return names;
}

// What `record` says about the traces in `folder`; empty if it says nothing.
Json recorded_traces(const Path& folder) {
    const Result<std::string> text = read_file(folder / "record.json", 1 << 26);
    const Result<Json> record = text.ok() ? parse_json(*text, "record.json") : Result<Json>(text.error());
    return record.ok() && record->is_object() ? record->value("traces", Json::array()) : Json::array();
}

// The traces and the power log of a recording, if the user gives its folder and no others.
Result<AccountRunOptions> with_recording(AccountRunOptions options) {
    const Path folder = options.recording;
    if (!options.recording.empty() && !std::filesystem::is_directory(folder))
        return fail(ErrorCode::invalid_argument,
                    "give a folder that `viridian record` wrote, or --trace and --power",
                    "there is no folder `{}`", options.recording);
    if (!options.recording.empty() && options.power.empty()) options.power = (folder / "power.csv").string();
    if (!options.recording.empty() && options.traces.empty()) {
        bool torch = false, cupti = false;
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            const std::string name = entry.path().filename().string();
            const bool kernels = name.starts_with("kernels.") && name.ends_with(".vtrace");
            if (!kernels && !is_torch_trace(name)) continue;
            (kernels ? cupti : torch) = true;
            options.traces.push_back(entry.path().string());
        }
        std::ranges::sort(options.traces, natural_less);
        if (options.traces.empty())
            return fail(ErrorCode::missing_entry, "record with --torch or --cupti, or give --trace",
                        "the recording `{}` holds no trace", options.recording);
        if (torch && cupti)
            return fail(
                ErrorCode::invalid_argument, "choose by --trace",
                "the recording `{}` holds traces of PyTorch and of CUPTI, which show the same work: {}",
                options.recording, fmt::join(options.traces, ", "));
    }
    if (options.traces.size() > 1) options.processes = process_names(options.traces, recorded_traces(folder));
    return options;
}

// Refuses a trace that is given twice, by two names even.
Result<void> check_traces(const std::vector<std::string>& traces) {
    for (std::size_t i = 0; i < traces.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (same_file(traces[j], traces[i]))
                return fail(ErrorCode::invalid_argument, "give each trace once",
                            "`{}` and `{}` are the same file, whose events would count twice", traces[j],
                            traces[i]);
    return {};
}

// Refuses the name of a timeline before the work begins.
Result<void> check_timeline(const AccountRunOptions& options) {
    if (options.timeline.empty()) return {};
    VIRIDIAN_TRY(const trace::OutputFormat format, trace::format_of_name(options.timeline));
    if (format != trace::OutputFormat::json)
        return fail(ErrorCode::invalid_argument, "end its name in .json or .json.gz",
                    "the timeline `{}` would be no JSON", options.timeline);
    if (same_file(options.timeline, options.output) || same_file(options.timeline, options.output + ".json"))
        return fail(ErrorCode::invalid_argument, "choose two names",
                    "`{}` would be the timeline and the result", options.timeline);
    return check_replaces_nothing({options.timeline}, inputs(options));
}

// Writes the timeline that `--timeline` asks for.
Result<void> keep_timeline(Answer& answer, const AccountRunOptions& options, const meter::PowerLog& log,
                           const account::Accounting& result) {
    if (options.timeline.empty()) return {};
    VIRIDIAN_TRY(const auto events, open_trace(options));
    VIRIDIAN_TRY(account::write_timeline(*events, log, result, options.timeline));
    answer.text += fmt::format("wrote {}\n", options.timeline);
    return {};
}

Result<Answer> run_account_run(const AccountRunOptions& given) {
    VIRIDIAN_TRY(const AccountRunOptions options, with_recording(given));
    if (options.traces.empty() || options.power.empty())
        return fail(ErrorCode::invalid_argument, "see `viridian account --help`",
                    "account needs the folder of a recording, or --trace and --power");
    VIRIDIAN_TRY(check_traces(options.traces));
    VIRIDIAN_TRY(check_timeline(options));
    const auto method = account::method_from(options.method);
    if (!method)
        return fail(ErrorCode::invalid_argument,
                    "choose one of: auto, recency, recency-leaves, overlap, deconvolve",
                    "there is no method `{}`", options.method);
    VIRIDIAN_TRY(const meter::PowerLog log, meter::read_power_log(options.power, options.power_offset_ns));
    account::Options how;
    how.method = *method;
    how.meter_shift = static_cast<std::int64_t>(options.meter_shift_ms * 1e6);
    how.search.widest = Seconds(options.max_shift_ms * 1e-3);
    how.most_leaves = options.most_leaves;
    VIRIDIAN_TRY(how.weights, read_weights(options.weights));
    Json forecasts = Json::array();
    how.may_fit = [&](const account::Forecast& needs) { return may_fit(needs, options.forecast, forecasts); };
    VIRIDIAN_TRY(account::Accounting result, attribute(options, log, how));
    how.may_fit = {};
    if (!options.model.empty()) {
        VIRIDIAN_TRY(const std::vector<account::Flow> flows, model_flows(options.model));
        result.edges = account::match_flows(flows, result);
        if (result.edges.empty())
            result.warnings.push_back(fmt::format(
                "no two names of `{}` stand in this trace: no data flow is drawn", options.model));
    }

    VIRIDIAN_TRY(Answer answer, account_answer(result, options.grouping));
    answer.json["forecast"] = std::move(forecasts);
    if (!options.carbon.empty()) {
        VIRIDIAN_TRY(add_carbon(answer, result, log, options.carbon));
    }
    if (options.precision) {
        VIRIDIAN_TRY(answer.json["precision"], sparsing(options, log, how, result));
    }
    VIRIDIAN_TRY(keep_timeline(answer, options, log, result));
    VIRIDIAN_TRY(keep_answer(answer, options.output, inputs(options)));
    return answer;
}

// Leaves out what a program without recomputation, or without an optimizer, has none of.
std::string passes_text(const account::Passes& passes) {
    if (passes.forward.value <= 0 && passes.backward.value <= 0) return "";
    std::string text =
        fmt::format("forward {:.6g} J, backward {:.6g} J", passes.forward.value, passes.backward.value);
    if (passes.recompute.value > 0) text += fmt::format(", recompute {:.6g} J", passes.recompute.value);
    if (passes.optimizer.value > 0) text += fmt::format(", optimizer {:.6g} J", passes.optimizer.value);
    return text + fmt::format(", neither {:.6g} J\n", passes.unknown.value);
}

// "rank 0 3.1 J, rank 1 3 J"
std::string processes_text(const account::Accounting& result) {
    const std::vector<Joules> joules = account::joules_by_process(result);
    std::string text;
    for (std::size_t i = 0; i < joules.size(); ++i)
        text += fmt::format("{}{} {:.6g} J", i == 0 ? "" : ", ", result.processes[i], joules[i].value);
    return text.empty() ? "" : text + "\n";
}

}  // namespace

Result<Answer> account_answer(const account::Accounting& result, const Grouping& grouping) {
    Answer answer;
    answer.json = account::to_json(result);
    const auto summary = account::summarized_footprint(result);
    const account::Passes passes = account::by_pass(result);
    answer.json["summary"] = to_json(summary);
    answer.json["passes"] = {{"forward", passes.forward.value},
                             {"backward", passes.backward.value},
                             {"recompute", passes.recompute.value},
                             {"optimizer", passes.optimizer.value},
                             {"unknown", passes.unknown.value}};
    answer.json["diagram"] = boxes(result, "");
    for (const account::Device& device : result.devices) answer.text += device_text(device);
    answer.text += fmt::format("{}; {}, {}, {} after folding repeated blocks\n", result.sharing,
                               counted(result.events, "event"),
                               counted(result.operations.size(), "operation"), summary.size());
    answer.text += passes_text(passes);
    answer.text += processes_text(result);
    VIRIDIAN_TRY(const Answer rows, footprint_answer(result, grouping));
    if (!rows.json.is_null()) answer.json["footprint"] = rows.json;
    answer.text += rows.text;
    answer.text += result.edges.empty() ? "no data flow is known (--model M.onnx gives it)\n"
                                        : counted(result.edges.size(), "data flow") + "\n";
    for (const std::string& warning : result.warnings) answer.text += "warning: " + warning + "\n";
    return answer;
}

Action define_account_run(App app) {
    const auto options = std::make_shared<AccountRunOptions>();
    app.add_option("RECORDING", options->recording,
                   "Folder that `viridian record` wrote: its traces and power log");
    app.add_option(
        "--trace", options->traces,
        "Trace of any known format: PyTorch, ONNX Runtime, TensorFlow, Chrome, Viridian's own; give "
        "it again for each other process of the program");
    app.add_option(
        "--power", options->power,
        "Power log: of `viridian record`, nvidia-smi, dcgmi, perf stat, turbostat, ipmitool, Zeus, "
        "CodeCarbon or Prometheus (docs/meter.md)");
    app.add_option("--method", options->method, "auto, recency, recency-leaves, overlap or deconvolve")
        .capture_default_str();
    app.add_option("-o,--output", options->output,
                   "Write the result to FILE.json and its page to FILE.html; the ending may be left out");
    app.add_option("--timeline", options->timeline,
                   "Write the events with their joules, above the power, to FILE.json for ui.perfetto.dev");
    define_grouping(app, options->grouping);
    app.add_option("--top", options->grouping.top, "Rows of the table").capture_default_str();
    app.add_option("--offset", options->offset_ns,
                   "Nanoseconds added to the trace's times (Unix time of its zero)");
    app.add_option("--power-offset", options->power_offset_ns,
                   "Nanoseconds added to the power log's times (Unix time of its zero)");
    app.add_option("--meter-shift", options->meter_shift_ms, "Known lag of the meter, milliseconds");
    app.add_option("--max-shift", options->max_shift_ms,
                   "deconvolve searches shifts up to this, milliseconds")
        .check(in_range(0.0, 60'000.0))
        .capture_default_str();
    app.add_option("--weights", options->weights,
                   "JSON table name or type -> weight, for sharing among concurrent leaves");
    app.add_option("--most-leaves", options->most_leaves,
                   "Leaves that deconvolve may hold in memory, 64 bytes each")
        .capture_default_str();
    app.add_option("--model", options->model,
                   "An .onnx file, for the data flow that the trace does not tell");
    app.add_option("--carbon", options->carbon,
                   "CSV file of carbon factors, for grams of CO2 (docs/fleet.md)");
    app.add_option("--spill", options->spill, "Folder for sorting what does not fit in memory");
    app.add_flag("--forecast", options->forecast,
                 "Say what deconvolve would need, and account by overlap instead");
    app.add_flag("--precision", options->precision,
                 "Also account with 1/2 to 1/32 of the readings (ASSS): takes six times as long");
    return [options] { return run_account_run(*options); };
}

}  // namespace viridian::cli
