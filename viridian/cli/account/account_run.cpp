// `viridian account --trace T --power P`
#include <limits>
#include <memory>
#include <optional>

#include "viridian/account/account.hpp"
#include "viridian/account/products/compare.hpp"
#include "viridian/account/products/flows.hpp"
#include "viridian/base/json.hpp"
#include "viridian/base/system/memory_limit.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/cli/account/account.hpp"
#include "viridian/cli/account/model_flows.hpp"
#include "viridian/cli/progress.hpp"
#include "viridian/trace/read.hpp"

namespace viridian::cli {
namespace {

struct AccountRunOptions {
    std::string trace, power, method = "auto", output, spill, weights, model;
    double meter_shift_ms = 0.0, max_shift_ms = 50.0;
    std::int64_t offset_ns = 0;
    std::size_t top = 15;
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

Result<account::Accounting> attribute(const AccountRunOptions& options, const meter::PowerLog& log,
                                      const account::Options& how) {
    trace::ReadOptions read;
    read.shift = options.offset_ns;
    if (!options.spill.empty()) read.spill.folder = options.spill;
    VIRIDIAN_TRY(const std::unique_ptr<trace::Source> source, trace::open(options.trace, read));
    VIRIDIAN_TRY(account::Accounting result, account::account(*source, log, how));
    result.trace = options.trace;
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

std::string table(const std::vector<account::FootprintRow>& entries, std::size_t top) {
    std::string text =
        fmt::format("{:>10}  {:>23}  {:>9}  {:>9}  {}\n", "joules", "[low, high]", "watts", "count", "name");
    for (std::size_t i = 0; i < entries.size() && i < top; ++i)
        text += fmt::format("{:>10.4g}  {:>23}  {:>9.4g}  {:>9}  {}\n", entries[i].energy.value,
                            fmt::format("[{:.4g}, {:.4g}]", entries[i].low.value, entries[i].high.value),
                            entries[i].watts().value, entries[i].count, entries[i].name);
    return text;
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

Result<Answer> run_account_run(const AccountRunOptions& options) {
    if (options.trace.empty() || options.power.empty())
        return fail(ErrorCode::invalid_argument, "see `viridian account --help`",
                    "account needs --trace and --power");
    const auto method = account::method_from(options.method);
    if (!method)
        return fail(ErrorCode::invalid_argument,
                    "choose one of: auto, recency, recency-leaves, overlap, deconvolve",
                    "there is no method `{}`", options.method);
    VIRIDIAN_TRY(const meter::PowerLog log, meter::read_power_log(options.power));
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

    Answer answer = account_answer(result, options.top);
    answer.json["forecast"] = std::move(forecasts);
    if (options.precision) {
        VIRIDIAN_TRY(answer.json["precision"], sparsing(options, log, how, result));
    }
    VIRIDIAN_TRY(
        keep_answer(answer, options.output, {options.trace, options.power, options.model, options.weights}));
    return answer;
}

}  // namespace

Answer account_answer(const account::Accounting& result, std::size_t top) {
    Answer answer;
    answer.json = account::to_json(result);
    const auto summary = account::summarized_footprint(result);
    const account::Passes passes = account::by_pass(result);
    answer.json["summary"] = to_json(summary);
    answer.json["passes"] = {{"forward", passes.forward.value},
                             {"backward", passes.backward.value},
                             {"unknown", passes.unknown.value}};
    answer.json["diagram"] = boxes(result, "");
    for (const account::Device& device : result.devices) answer.text += device_text(device);
    answer.text += fmt::format("{}; {}, {}, {} after folding repeated blocks\n", result.sharing,
                               counted(result.events, "event"),
                               counted(result.operations.size(), "operation"), summary.size());
    if (passes.forward.value > 0 || passes.backward.value > 0)
        answer.text += fmt::format("forward {:.6g} J, backward {:.6g} J, neither {:.6g} J\n",
                                   passes.forward.value, passes.backward.value, passes.unknown.value);
    answer.text += table(summary, top);
    answer.text += result.edges.empty() ? "no data flow is known (--model M.onnx gives it)\n"
                                        : counted(result.edges.size(), "data flow") + "\n";
    for (const std::string& warning : result.warnings) answer.text += "warning: " + warning + "\n";
    return answer;
}

Action define_account_run(App app) {
    const auto options = std::make_shared<AccountRunOptions>();
    app.add_option("--trace", options->trace,
                   "Trace of any known format: PyTorch, ONNX Runtime, TensorFlow, Chrome, Viridian's own");
    app.add_option("--power", options->power, "Power log (viridian record writes one; docs/meter.md)");
    app.add_option("--method", options->method, "auto, recency, recency-leaves, overlap or deconvolve")
        .capture_default_str();
    app.add_option("-o,--output", options->output,
                   "Write the result to FILE.json and its page to FILE.html; the ending may be left out");
    app.add_option("--top", options->top, "Rows of the table").capture_default_str();
    app.add_option("--offset", options->offset_ns,
                   "Nanoseconds added to the trace's times (Unix time of its zero)");
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
    app.add_option("--spill", options->spill, "Folder for sorting what does not fit in memory");
    app.add_flag("--forecast", options->forecast,
                 "Say what deconvolve would need, and account by overlap instead");
    app.add_flag("--precision", options->precision,
                 "Also account with 1/2 to 1/32 of the readings (ASSS): takes six times as long");
    return [options] { return run_account_run(*options); };
}

}  // namespace viridian::cli
