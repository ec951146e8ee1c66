// The answer of Prometheus to a range query (`/api/v1/query_range`, "Range queries" of its HTTP API): a
// matrix of series, each with labels and pairs [Unix seconds, "value"]. The name of the metric says what it
// holds: those of dcgm-exporter, node_exporter, Kepler, ipmi_exporter, nvidia_gpu_exporter and Viridian are
// known, and any other name that ends in _joules_total or _watts.
//
// | Prometheus | `query_range` of one or more metrics, as JSON | `*_joules_total` counters, `*_watts` and
// `DCGM_FI_DEV_POWER_USAGE` powers | Unix seconds | by the labels `gpu`, `package`, `index`, `device` |
#include <array>

#include "viridian/base/json.hpp"
#include "viridian/meter/foreign/log_builder.hpp"

namespace viridian::meter {
namespace {

struct Metric {
    std::string_view name;  // its end, if it begins with `*`
    std::string_view device;
    Scope scope;
    Kind kind;
    double joules_or_watts = 1.0;  // of one unit
};
constexpr std::array<Metric, 14> metrics = {
    {{"DCGM_FI_DEV_POWER_USAGE", "cuda", Scope::gpu, Kind::average_uw},
     {"DCGM_FI_DEV_POWER_USAGE_INSTANT", "cuda", Scope::gpu, Kind::power_uw},
     {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "cuda", Scope::gpu, Kind::energy_uj, 1e-3},
     {"nvidia_smi_power_draw_watts", "cuda", Scope::gpu, Kind::average_uw},
     {"node_rapl_package_joules_total", "cpu", Scope::package, Kind::energy_uj},
     {"node_rapl_core_joules_total", "cpu", Scope::core, Kind::energy_uj},
     {"node_rapl_dram_joules_total", "cpu", Scope::dram, Kind::energy_uj},
     {"kepler_node_package_joules_total", "cpu", Scope::package, Kind::energy_uj},
     {"kepler_node_dram_joules_total", "cpu", Scope::dram, Kind::energy_uj},
     {"kepler_node_platform_joules_total", "cpu", Scope::psys, Kind::energy_uj},
     {"ipmi_dcmi_power_consumption_watts", "cpu", Scope::psys, Kind::power_uw},
     {"viridian_joules_total", "", Scope::package, Kind::energy_uj},
     {"*_joules_total", "cpu", Scope::package, Kind::energy_uj},
     {"*_watts", "cpu", Scope::package, Kind::power_uw}}};

const Metric* metric_of(std::string_view name) {
    for (const Metric& metric : metrics) {
        const bool ending = metric.name.starts_with('*');
        if (ending ? name.ends_with(metric.name.substr(1)) : name == metric.name) return &metric;
    }
    return nullptr;
}

bool recognises_prometheus(std::string_view head) {
    return head.starts_with('{') && head.find("\"resultType\"") != std::string_view::npos &&
           head.find("\"matrix\"") != std::string_view::npos;
}

std::string label(const Json& labels, const char* name) {
    const auto found = labels.find(name);
    return found != labels.end() && found->is_string() ? found->get<std::string>() : "";
}

// "cuda:0" by the first of the labels that number a device.
std::string device_by_labels(const Json& labels, const Metric& metric) {
    if (const std::string device = label(labels, "device"); device.find(':') != std::string::npos)
        return device;
    for (const char* name : {"gpu", "package", "index", "socket"})
        if (const std::string number = label(labels, name); !number.empty())
            return fmt::format("{}:{}", metric.device.empty() ? "cpu" : metric.device, number);
    return fmt::format("{}:0", metric.device.empty() ? "cpu" : metric.device);
}

std::optional<std::int64_t> time_of(const Json& value) {
    if (value.is_number()) return unix_seconds(fmt::format("{:.6f}", value.get<double>()));
    return value.is_string() ? unix_seconds(value.get<std::string>()) : std::nullopt;
}

Error no_matrix(const ForeignText& log) {
    return fail(ErrorCode::malformed, "save the answer of `/api/v1/query_range`",
                "`{}` is not a whole answer of Prometheus", log.name);
}

Result<PowerLog> read_prometheus(const ForeignText& log) {
    Result<Json> parsed = parse_json(log.text, log.name);
    if (!parsed.ok()) return std::move(parsed).error();
    const Json& answer = *parsed;
    const auto data = answer.find("data");
    if (data == answer.end() || !data->is_object()) return no_matrix(log);
    const auto result = data->find("result");
    if (result == data->end() || !result->is_array()) return no_matrix(log);
    LogBuilder out(log, "prometheus");
    for (const Json& series : *result) {
        if (!series.is_object() || !series.contains("metric") || !series["metric"].is_object() ||
            !series.contains("values") || !series["values"].is_array())
            return no_matrix(log);
        const Json& labels = series["metric"];
        const std::string name = label(labels, "__name__");
        const Metric* const metric = metric_of(name);
        if (metric == nullptr) {
            out.warn("series whose metric is no power or energy were left out");
            continue;
        }
        const Scope scope = scope_from(label(labels, "scope")).value_or(metric->scope);
        const std::string device = device_by_labels(labels, *metric);
        for (const Json& pair : series["values"]) {
            const bool whole = pair.is_array() && pair.size() == 2 && pair[1].is_string();
            const auto time = whole ? time_of(pair[0]) : std::nullopt;
            const auto value = whole ? real_number(pair[1].get<std::string>()) : std::nullopt;
            if (!time || !value)
                out.warn("values that are no numbers were left out");
            else if (metric->kind == Kind::energy_uj)
                out.counter(device, scope, *time, *value * metric->joules_or_watts);
            else
                out.power(device, scope, metric->kind, *time, *value * metric->joules_or_watts);
        }
    }
    return out.finish();
}

}  // namespace

extern const ForeignFormat prometheus_format = {"Prometheus", recognises_prometheus, read_prometheus};

}  // namespace viridian::meter
