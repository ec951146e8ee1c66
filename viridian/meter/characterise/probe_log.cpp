#include "viridian/meter/characterise/probe_log.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace viridian::meter {
namespace {

constexpr std::string_view header = "seen_ns,not_before_ns,stamp_ns,field,value";
constexpr std::string_view load_header = "time_ns,load";
constexpr std::size_t most_fields = 1000;
constexpr std::int64_t probe_log_far = std::int64_t{1} << 61;  // keeps differences from overflowing

template <class Number>
bool number(std::string_view text, Number& value) {
    const auto [at, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    return fault == std::errc{} && at == text.data() + text.size();
}
bool time(std::string_view text, std::int64_t& value) {
    return number(text, value) && value > -probe_log_far && value < probe_log_far;
}

// The parts of a line; false where there are more or fewer than `parts` has room for.
template <std::size_t count>
bool split(std::string_view line, char separator, std::array<std::string_view, count>& parts) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t end = line.find(separator);
        if ((end == std::string_view::npos) != (i + 1 == count)) return false;
        parts[i] = line.substr(0, end);
        line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
    }
    return true;
}

// Every line, without its end; false from `take` names the line.
template <class Take>
Result<void> each_line(std::string_view text, std::string_view name, const Take& take) {
    std::uint64_t line = 0;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view one = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        ++line;
        if (!one.empty() && one.back() == '\r') one.remove_suffix(1);
        if (one.empty() || take(one)) continue;
        return fail(ErrorCode::malformed, "write it again with `viridian meter probe`",
                    "line {} of `{}` cannot be understood", line, name);
    }
    return {};
}

}  // namespace

std::string text_of(const ProbeLog& log) {
    std::string text = fmt::format("# viridian.probe/1\n# span,{},{}\n", log.begin_ns, log.end_ns);
    for (const ProbeField& field : log.fields)
        text += fmt::format("# field,{},{},{},{},{},{},{},{}\n", field.channel.meter, field.channel.device,
                            name_of(field.channel.scope), name_of(field.channel.kind), field.reads,
                            field.stamps, field.cost_ns, field.cost_p99_ns);
    text += fmt::format("{}\n", header);
    for (std::size_t i = 0; i < log.fields.size(); ++i)
        for (const ProbeReading& reading : log.fields[i].readings)
            text += fmt::format("{},{},{},{},{}\n", reading.seen_ns, reading.not_before_ns, reading.stamp_ns,
                                i, reading.value);
    return text;
}

Result<ProbeLog> parse_probe_log(std::string_view text, std::string_view name) {
    ProbeLog log;
    bool begun = false;
    const auto metadata = [&](std::string_view line) {
        if (line.starts_with("# span,")) {
            std::array<std::string_view, 3> parts;
            return split(line, ',', parts) && time(parts[1], log.begin_ns) && time(parts[2], log.end_ns);
        }
        if (!line.starts_with("# field,")) return true;
        std::array<std::string_view, 9> parts;
        if (!split(line, ',', parts) || log.fields.size() == most_fields) return false;
        const auto scope = scope_from(parts[3]);
        const auto kind = kind_from(parts[4]);
        if (!scope || !kind) return false;
        ProbeField& field = log.fields.emplace_back();
        field.channel = {std::string(parts[1]), std::string(parts[2]), *scope, *kind, 0};
        return number(parts[5], field.reads) && number(parts[6], field.stamps) &&
               number(parts[7], field.cost_ns) && number(parts[8], field.cost_p99_ns);
    };
    VIRIDIAN_TRY(each_line(text, name, [&](std::string_view line) {
        if (line.front() == '#') return metadata(line);
        if (!begun) return begun = line == header;
        std::array<std::string_view, 5> parts;
        ProbeReading reading;
        std::size_t field = 0;
        if (!split(line, ',', parts) || !time(parts[0], reading.seen_ns) ||
            !time(parts[1], reading.not_before_ns) || !time(parts[2], reading.stamp_ns) ||
            !number(parts[3], field) || !time(parts[4], reading.value) || field >= log.fields.size() ||
            reading.not_before_ns > reading.seen_ns)
            return false;
        std::vector<ProbeReading>& readings = log.fields[field].readings;
        if (!readings.empty() && reading.seen_ns <= readings.back().seen_ns) return false;
        readings.push_back(reading);
        return true;
    }));
    if (!begun)
        return fail(ErrorCode::malformed, "write it with `viridian meter probe`",
                    "`{}` is no probe log: the line `{}` is missing", name, header);
    return log;
}

Result<std::vector<LoadStep>> parse_load(std::string_view text, std::string_view name) {
    std::vector<LoadStep> steps;
    bool begun = false;
    VIRIDIAN_TRY(each_line(text, name, [&](std::string_view line) {
        if (line.front() == '#') return true;
        if (!begun) return begun = line == load_header;
        std::array<std::string_view, 2> parts;
        LoadStep step;
        if (!split(line, ',', parts) || !time(parts[0], step.time_ns) || !number(parts[1], step.load) ||
            !(step.load >= 0.0 && step.load <= 1.0) ||
            (!steps.empty() && step.time_ns <= steps.back().time_ns))
            return false;
        steps.push_back(step);
        return true;
    }));
    if (steps.size() < 2)
        return fail(ErrorCode::malformed, "a load log has the header `time_ns,load` and a line for each step",
                    "`{}` holds no steps of load", name);
    return steps;
}

}  // namespace viridian::meter
