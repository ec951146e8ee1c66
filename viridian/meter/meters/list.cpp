#include "viridian/meter/meters/list.hpp"

#include <algorithm>
#include <array>

namespace viridian::meter {

// Each meter is defined in the source of its name.
extern const Row perf_meter, powercap_meter, nvml_meter, amdsmi_meter, hwmon_meter, replay_meter, model_meter;

std::span<const Row> rows() {
    static const std::array list = {perf_meter,  powercap_meter, nvml_meter, amdsmi_meter,
                                    hwmon_meter, replay_meter,   model_meter};
    return list;
}

namespace {

bool is_processor(const Channel& channel) { return channel.device.starts_with("cpu:"); }

bool is_used(const Row& row, const MeterPaths& paths) {
    return row.use != Use::if_named || !paths.path_of(row.name).empty();
}

bool measures_processor(const Meter& meter) {
    return std::any_of(meter.channels.begin(), meter.channels.end(),
                       [](const Channel& channel) { return is_processor(channel) && channel.is_power(); });
}

Result<const Row*> find_row(std::string_view name) {
    std::string known;
    for (const Row& row : rows()) {
        if (row.name == name) return &row;
        known += fmt::format("{}{}", known.empty() ? "" : ", ", row.name);
    }
    return fail(ErrorCode::invalid_argument, fmt::format("choose one of: {}", known),
                "there is no meter `{}`", name);
}

}  // namespace

std::vector<Diagnosis> probe_all(const MeterPaths& paths) {
    std::vector<Diagnosis> diagnoses;
    for (const Row& row : rows())
        if (is_used(row, paths)) diagnoses.push_back(row.probe(paths));
    return diagnoses;
}

Result<Diagnosis> probe(std::string_view name, const MeterPaths& paths) {
    VIRIDIAN_TRY(const Row* row, find_row(name));
    return row->probe(paths);
}

Result<Meter> open(std::string_view name, const MeterPaths& paths) {
    VIRIDIAN_TRY(const Row* row, find_row(name));
    return row->open(paths);
}

Result<std::vector<Meter>> open_all(const MeterPaths& paths) {
    std::vector<Meter> meters;
    bool processor = false;
    MeterPaths left = paths;
    for (const Row& row : rows()) {
        const bool last_resort = row.use == Use::last_resort;
        if (!is_used(row, paths) || (last_resort && processor)) continue;
        Result<Meter> meter = row.open(left);
        if (!meter.ok()) {
            if (last_resort && meters.empty()) return std::move(meter).error();
            continue;
        }
        if (measures_processor(*meter)) {
            if (processor) continue;
            processor = true;
        }
        if (!row.driver.empty()) left.covered_drivers.emplace_back(row.driver);
        meters.push_back(std::move(*meter));
    }
    return meters;
}

std::vector<std::uint32_t> counted(std::span<const Channel> channels) {
    const auto has = [&](std::string_view device, Scope scope) {
        return std::any_of(channels.begin(), channels.end(), [&](const Channel& channel) {
            return channel.is_power() && channel.scope == scope &&
                   (device.empty() || channel.device == device);
        });
    };
    // One channel per (device, scope): the counter, else the average, else the instantaneous power.
    const auto better_exists = [&](std::uint32_t index) {
        const Channel& mine = channels[index];
        const auto rank = [](Kind kind) {
            return kind == Kind::energy_uj ? 0 : kind == Kind::average_uw ? 1 : 2;
        };
        for (std::uint32_t i = 0; i < channels.size(); ++i) {
            const Channel& other = channels[i];
            if (i == index || !other.is_power() || other.device != mine.device || other.scope != mine.scope)
                continue;
            if (rank(other.kind) < rank(mine.kind)) return true;
            // The same thing by two meters of equal kind; the dies of one package are different things.
            if (other.kind == mine.kind && i < index && !mine.meter.starts_with("powercap-die")) return true;
        }
        return false;
    };
    std::vector<std::uint32_t> chosen;
    for (std::uint32_t i = 0; i < channels.size(); ++i) {
        const Channel& channel = channels[i];
        bool take = false;
        switch (channel.scope) {
            case Scope::package:
            case Scope::dram:
                take = true;
                break;
            case Scope::psys:
                take = !has("", Scope::package);
                break;
            case Scope::gpu:
                take = true;
                break;
            case Scope::module:  // holds the GPU, and on some boards a CPU too
                take = !has(channel.device, Scope::gpu);
                break;
            case Scope::core:
            case Scope::uncore:
                take = !has(channel.device, Scope::package) && !has("", Scope::psys);
                break;
            case Scope::memory:
                take = !has(channel.device, Scope::gpu) && !has(channel.device, Scope::module);
                break;
            case Scope::process:
                break;
        }
        if (take && channel.is_power() && !better_exists(i)) chosen.push_back(i);
    }
    return chosen;
}

}  // namespace viridian::meter
