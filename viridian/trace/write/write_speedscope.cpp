#include <unordered_map>

#include "viridian/trace/json/json_text.hpp"
#include "viridian/trace/write/write.hpp"

namespace viridian::trace {
namespace {

// speedscope knows time and bytes; anything else has no unit there and says it in the profile's name.
std::string_view unit_of(std::string_view unit) { return unit == "nanoseconds" ? "nanoseconds" : "none"; }

}  // namespace

Result<void> write_speedscope(Out& out, const Trace& about, const std::vector<Weights>& profiles) {
    std::unordered_map<std::string_view, std::size_t> numbers;
    std::vector<std::string_view> frames;
    std::string text;
    for (const Weights& profile : profiles) {
        if (!text.empty()) text += ',';
        std::string samples, weights;
        double total = 0.0;
        for (const Weight& weight : profile.items) {
            if (weight.value == 0.0) continue;
            samples += samples.empty() ? "[" : ",[";
            for (const std::string_view frame : frames_of(weight, about)) {
                const auto [found, fresh] = numbers.try_emplace(frame, frames.size());
                if (fresh) frames.push_back(frame);
                if (samples.back() != '[') samples += ',';
                samples += std::to_string(found->second);
            }
            samples += ']';
            fmt::format_to(std::back_inserter(weights), "{}{}", weights.empty() ? "" : ",", weight.value);
            total += weight.value;
        }
        text += "{\"type\":\"sampled\",\"name\":";
        append_escaped(text, fmt::format("{} ({})", profile.what, profile.unit));
        fmt::format_to(std::back_inserter(text),
                       R"(,"unit":"{}","startValue":0,"endValue":{},"samples":[{}],"weights":[{}]}})",
                       unit_of(profile.unit), total, samples, weights);
    }
    std::string head =
        R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"viridian","name":)";
    append_escaped(head, about.source);
    head += ",\"shared\":{\"frames\":[";
    for (std::size_t i = 0; i < frames.size(); ++i) {
        head += i == 0 ? "{\"name\":" : ",{\"name\":";
        append_escaped(head, frames[i]);
        head += '}';
    }
    VIRIDIAN_TRY(out.put(head + "]},\"profiles\":["));
    VIRIDIAN_TRY(out.put(text));
    VIRIDIAN_TRY(out.put("]}\n"));
    return out.close();
}

}  // namespace viridian::trace
