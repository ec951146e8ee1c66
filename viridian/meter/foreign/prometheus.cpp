// The answer of Prometheus to a range query (`/api/v1/query_range`, "Range queries" of its HTTP API): a
// matrix of series, each with labels and pairs [Unix seconds, "value"]. The name of the metric says what it
// holds: those of dcgm-exporter, node_exporter, Kepler, Scaphandre, ipmi_exporter, nvidia_gpu_exporter and
// Viridian are known, and any other name that ends in _joules_total or _watts. Energies of a pod, container
// or process are left out: they are parts of the machine's.
//
// | Prometheus | `query_range` of one or more metrics of one machine, as JSON | `*_joules_total` counters,
// `*_watts`, `scaph_*_power_microwatts` and `DCGM_FI_DEV_POWER_USAGE` powers | Unix seconds | by the labels
// `gpu`, `package`, `index`, `socket_id`, `device` |
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
constexpr std::array<Metric, 20> metrics = {
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
     {"kepler_node_cpu_joules_total", "cpu", Scope::package, Kind::energy_uj},
     {"kepler_node_cpu_watts", "cpu", Scope::package, Kind::average_uw},
     {"scaph_host_power_microwatts", "cpu", Scope::psys, Kind::average_uw, 1e-6},
     {"scaph_socket_power_microwatts", "cpu", Scope::package, Kind::average_uw, 1e-6},
     {"scaph_domain_power_microwatts", "cpu", Scope::dram, Kind::average_uw, 1e-6},
     {"ipmi_dcmi_power_consumption_watts", "cpu", Scope::psys, Kind::power_uw},
     {"viridian_joules_total", "", Scope::package, Kind::energy_uj},
     {"viridian_energy_joules_total", "", Scope::package, Kind::energy_uj},
     {"*_joules_total", "cpu", Scope::package, Kind::energy_uj},
     {"*_watts", "cpu", Scope::package, Kind::power_uw}}};

// Metrics that repeat a part of the machine's energy.
bool is_a_part(std::string_view name) {
    for (const char* part : {"_pod_", "_container_", "_process_", "_vm_", "_active_", "_idle_"})
        if (name.find(part) != std::string_view::npos) return true;
    return name.starts_with("viridian_");  // ends of intervals, sessions, single channels
}

const Metric* metric_of(std::string_view name) {
    for (const Metric& metric : metrics) {
        const bool ending = metric.name.starts_with('*');
        if (ending ? name.ends_with(metric.name.substr(1)) && !is_a_part(name) : name == metric.name)
            return &metric;
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
    for (const char* name : {"gpu", "package", "index", "socket", "socket_id"})
        if (const std::string number = label(labels, name); !number.empty())
            return fmt::format("{}:{}", metric.device.empty() ? "cpu" : metric.device, number);
    return fmt::format("{}:0", metric.device.empty() ? "cpu" : metric.device);
}

// "package" of Viridian's `scope`, Kepler's `zone` or Scaphandre's `domain_name`.
Scope scope_by_labels(const Json& labels, const Metric& metric) {
    for (const char* name : {"scope", "zone", "domain_name"})
        if (const auto scope = scope_from(label(labels, name))) return *scope;
    return metric.scope;
}

// The name of a label in which two series differ.
std::string differing_label(const Json& one, const Json& other) {
    for (const auto& [name, value] : one.items())
        if (name != "__name__" && other.value(name, Json()) != value) return name;
    return "__name__";
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
    std::map<std::string, const Json*> seen;  // labels, by device, scope and kind
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
        const Scope scope = scope_by_labels(labels, *metric);
        const std::string device = device_by_labels(labels, *metric);
        const auto [before, fresh] =
            seen.try_emplace(fmt::format("{} {} {}", device, name_of(scope), name_of(metric->kind)), &labels);
        if (!fresh)
            return fail(ErrorCode::invalid_argument,
                        "query one machine and one metric a device: METRIC{LABEL=\"VALUE\"}",
                        "`{}` has several series for {} {}, which differ in `{}`", log.name, device,
                        name_of(scope), differing_label(labels, *before->second));
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
