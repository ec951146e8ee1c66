// profile.proto of google/pprof, encoded by hand: field numbers as there, every message length-delimited.
#include <cmath>
#include <map>
#include <unordered_map>

#include "viridian/trace/binary/varint.hpp"
#include "viridian/trace/write/write.hpp"

namespace viridian::trace {
namespace {

void field(std::string& out, unsigned number, std::uint64_t value) {
    put_varint(out, number << 3U);
    put_varint(out, value);
}
void field(std::string& out, unsigned number, std::string_view bytes) {
    put_varint(out, number << 3U | 2U);
    put_text(out, bytes);
}

class Strings {
  public:
    Strings() { id(""); }
    std::uint64_t id(std::string_view text) {
        const auto [found, fresh] = ids_.try_emplace(text, ids_.size());
        if (fresh) field(table, 6, text);
        return found->second;
    }
    std::string table;  // repeated string string_table = 6

  private:
    std::unordered_map<std::string_view, std::uint64_t> ids_;
};

}  // namespace

Result<void> write_pprof(Out& out, const Trace& about, const std::vector<Weights>& values) {
    Strings strings;
    std::string profile;
    for (const Weights& value : values) {  // repeated ValueType sample_type = 1 {type = 1, unit = 2}
        std::string type;
        field(type, 1, strings.id(value.what));
        field(type, 2, strings.id(value.unit));
        field(profile, 1, type);
    }
    std::map<std::tuple<DeviceId, Pass, PathId>, std::vector<std::int64_t>> samples;
    for (std::size_t i = 0; i < values.size(); ++i)
        for (const Weight& weight : values[i].items) {
            std::vector<std::int64_t>& row = samples[{weight.device, weight.pass, weight.path}];
            row.resize(values.size());
            row[i] += std::llround(weight.value);
        }
    std::unordered_map<std::string_view, std::uint64_t>
        functions;  // a location per function, the same number
    for (const auto& [key, row] : samples) {
        const auto& [device, pass, path] = key;
        const std::vector<std::string_view> frames = frames_of({device, pass, path, 0.0}, about);
        std::string locations, numbers, sample;
        for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {  // leaf first
            const auto [found, fresh] = functions.try_emplace(*frame, functions.size() + 1);
            put_varint(locations, found->second);
            if (!fresh) continue;
            std::string function, line, location;
            field(function, 1, found->second);
            field(function, 2, strings.id(*frame));
            field(profile, 5, function);
            field(line, 1, found->second);
            field(location, 1, found->second);
            field(location, 4, line);
            field(profile, 4, location);
        }
        for (const std::int64_t number : row) put_varint(numbers, static_cast<std::uint64_t>(number));
        field(sample, 1, locations);
        field(sample, 2, numbers);
        field(profile, 2, sample);
    }
    if (about.clock.zero == Clock::Zero::unix_epoch)
        field(profile, 9, static_cast<std::uint64_t>(about.begin));
    field(profile, 10, static_cast<std::uint64_t>(about.end - about.begin));
    VIRIDIAN_TRY(out.put(profile));
    VIRIDIAN_TRY(out.put(strings.table));
    return out.close();
}

}  // namespace viridian::trace
