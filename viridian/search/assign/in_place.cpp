#include "viridian/search/assign/in_place.hpp"

#include <algorithm>

namespace viridian::search {
namespace {

std::optional<FormatId> port(const std::vector<graph::ValueId>& values, const std::vector<FormatId>& formats,
                             graph::ValueId value) {
    const auto at = std::find(values.begin(), values.end(), value);
    if (at == values.end()) return std::nullopt;
    return formats[static_cast<std::size_t>(at - values.begin())];
}

bool overwrites(const Chosen& c, graph::ValueId value) {
    return c.option.choice.aliasing == plan::Aliasing::overwrite &&
           c.candidate.region.inputs[c.option.choice.overwritten] == value;
}

bool views(const Chosen& c, graph::ValueId value) {
    return c.option.choice.aliasing == plan::Aliasing::view && !c.candidate.region.inputs.empty() &&
           c.candidate.region.inputs[0] == value;
}

}  // namespace

std::optional<FormatId> made(const Candidate& candidate, const Option& option, graph::ValueId value) {
    return port(candidate.region.outputs, option.outputs, value);
}

std::optional<FormatId> wanted(const Candidate& candidate, const Option& option, graph::ValueId value) {
    return port(candidate.region.inputs, option.inputs, value);
}

bool gathers(const Candidate& candidate, const Option& option, graph::ValueId value) {
    return option.choice.aliasing == plan::Aliasing::gather && wanted(candidate, option, value).has_value();
}

// A converted copy is nobody else's: only what is read as it was written can clash.
bool writer_clashes(const Chosen& writer, const Chosen& reader, graph::ValueId value) {
    const auto format = made(writer.candidate, writer.option, value);
    if (!format || format != wanted(reader.candidate, reader.option, value)) return false;
    return (overwrites(reader, value) && !writer.option.overwritable) ||
           (gathers(reader.candidate, reader.option, value) &&
            writer.option.choice.aliasing != plan::Aliasing::none);
}

bool readers_clash(const Chosen& a, const Chosen& b, graph::ValueId value) {
    const auto format = wanted(a.candidate, a.option, value);
    if (!format || format != wanted(b.candidate, b.option, value)) return false;
    const bool a_takes = overwrites(a, value) || gathers(a.candidate, a.option, value);
    const bool b_takes = overwrites(b, value) || gathers(b.candidate, b.option, value);
    return (a_takes && b_takes) || (overwrites(a, value) && views(b, value)) ||
           (overwrites(b, value) && views(a, value));
}

}  // namespace viridian::search
