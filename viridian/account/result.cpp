#include "viridian/account/result.hpp"

#include <algorithm>

#include "viridian/base/json.hpp"

namespace viridian::account {
namespace {

constexpr std::string_view schema = "viridian.account/2";

Json to_json(const Operation& operation) {
    Json json = {{"name", operation.name},
                 {"parent", operation.parent},
                 {"type", operation.type},
                 {"kind", operation.kind},
                 {"count", operation.count},
                 {"seconds", operation.seconds.value},
                 {"watts", operation.energy ? Json(operation.watts().value) : Json()},
                 {"joules", operation.energy ? viridian::to_json(*operation.energy) : Json()},
                 {"device", operation.device},
                 {"stream", operation.stream},
                 {"pass", operation.pass}};
    if (!operation.process.empty()) json["process"] = operation.process;
    return json;
}

Json to_json(const Device& device) {
    Json json = {{"name", device.name},
                 {"method", device.method},
                 {"verdict", device.verdict},
                 {"power", device.power},
                 {"update_ns", device.update.value * 1e9},
                 {"idle", viridian::to_json(device.idle)},
                 {"unattributed", viridian::to_json(device.unattributed)},
                 {"residual", viridian::to_json(device.residual)},
                 {"meter_total", viridian::to_json(device.meter_total)},
                 {"other_processes", device.others.value}};
    if (device.sensor)
        json["sensor"] = {{"window_ns", device.sensor->window.value * 1e9},
                          {"shift_ns", device.sensor->shift.value * 1e9},
                          {"shift_low", device.sensor->shift_low.value * 1e9},
                          {"shift_high", device.sensor->shift_high.value * 1e9}};
    return json;
}

}  // namespace

std::vector<Joules> joules_by_process(const Accounting& accounting) {
    std::vector<Joules> sums(accounting.processes.size());
    for (const Operation& operation : accounting.operations) {
        const auto found = std::ranges::find(accounting.processes, operation.process);
        if (operation.energy && found != accounting.processes.end())
            sums[static_cast<std::size_t>(found - accounting.processes.begin())] += operation.energy->value;
    }
    return sums;
}

Json to_json(const Accounting& accounting) {
    Json json = {{"schema", schema},
                 {"trace", accounting.trace},
                 {"power", accounting.power},
                 {"sharing", accounting.sharing},
                 {"events", accounting.events},
                 {"operations", Json::array()},
                 {"devices", Json::array()},
                 {"edges", Json::array()},
                 {"modules", Json::array()},
                 {"warnings", accounting.warnings}};
    std::string method;
    for (const Device& device : accounting.devices) {
        json["devices"].push_back(to_json(device));
        if (method.empty()) method = device.method;
        if (method != device.method) method = "several";
    }
    json["method"] = method;
    for (const Operation& operation : accounting.operations) json["operations"].push_back(to_json(operation));
    for (const Flow& flow : accounting.edges)
        json["edges"].push_back({{"from", flow.from}, {"to", flow.to}, {"count", flow.count}});
    for (const Module& module : accounting.modules) {
        json["modules"].push_back({{"name", module.name},
                                   {"type", module.type},
                                   {"calls", module.calls},
                                   {"recomputed", module.recomputed}});
        if (!module.process.empty()) json["modules"].back()["process"] = module.process;
    }
    const std::vector<Joules> by_process = joules_by_process(accounting);
    for (std::size_t i = 0; i < accounting.processes.size(); ++i)
        json["processes"].push_back({{"name", accounting.processes[i]}, {"joules", by_process[i].value}});
    return json;
}

Result<Accounting> accounting_from_json(const Json& json, std::string_view name) {
    if (!json.is_object() || json.value("schema", Json()) != schema)
        return fail(ErrorCode::mismatch, "make one with `viridian account --trace T --power P -o FILE`",
                    "`{}` is not an accounting result ({})", name, schema);
    Accounting out;
    try {
        out.trace = json.at("trace");
        out.power = json.at("power");
        out.sharing = json.at("sharing");
        out.events = json.at("events");
        out.warnings = json.at("warnings").get<std::vector<std::string>>();
        for (const Json& item : json.at("operations")) {
            Operation one;
            one.name = item.at("name");
            one.parent = item.at("parent");
            one.type = item.at("type");
            one.kind = item.at("kind");
            one.count = item.at("count");
            one.seconds = Seconds(item.at("seconds").get<double>());
            one.device = item.at("device");
            one.stream = item.at("stream");
            one.pass = item.at("pass");
            one.process = item.value("process", "");
            if (!item.at("joules").is_null()) {
                VIRIDIAN_TRY(Energy energy, energy_from_json(item.at("joules")));
                one.energy = std::move(energy);
            }
            out.operations.push_back(std::move(one));
        }
        for (const Json& item : json.at("devices")) {
            Device one;
            one.name = item.at("name");
            one.method = item.at("method");
            one.verdict = item.at("verdict");
            one.power = item.at("power");
            one.update = Seconds(1e-9 * item.at("update_ns").get<double>());
            VIRIDIAN_TRY(one.idle, energy_from_json(item.at("idle")));
            VIRIDIAN_TRY(one.unattributed, energy_from_json(item.at("unattributed")));
            VIRIDIAN_TRY(one.residual, energy_from_json(item.at("residual")));
            VIRIDIAN_TRY(one.meter_total, energy_from_json(item.at("meter_total")));
            one.others = Joules(item.at("other_processes").get<double>());
            if (item.contains("sensor")) {
                const auto seconds = [&](const char* key) {
                    return Seconds(1e-9 * item.at("sensor").at(key).get<double>());
                };
                one.sensor = {seconds("window_ns"), seconds("shift_ns"), seconds("shift_low"),
                              seconds("shift_high")};
            }
            out.devices.push_back(std::move(one));
        }
        for (const Json& item : json.at("edges"))
            out.edges.push_back({item.at("from"), item.at("to"), item.at("count")});
        for (const Json& item : json.value("modules", Json::array()))  // older results have none
            out.modules.push_back({item.at("name"), item.at("type"), item.at("calls"), item.at("recomputed"),
                                   item.value("process", "")});
        for (const Json& item : json.value("processes", Json::array()))
            out.processes.push_back(item.at("name"));
    } catch (const Json::exception& exception) {
        std::string_view what =
            exception.what();  // "[json.exception.out_of_range.403] key 'trace' not found"
        if (const auto end = what.find("] "); end != std::string_view::npos) what.remove_prefix(end + 2);
        return fail(ErrorCode::malformed, "make the result again",
                    "`{}` is not a whole accounting result: {}", name, what);
    }
    return out;
}

}  // namespace viridian::account
