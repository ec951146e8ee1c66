#include "viridian/meter/meters/nvml.hpp"

#include <algorithm>
#include <span>

#include "viridian/meter/meters/list.hpp"
#include "viridian/meter/meters/nvml_library.hpp"

namespace viridian::meter {
namespace {

struct Gpu {
    NvmlGpu gpu;
    std::vector<NvmlField> fields;  // what it answers
};

struct NvmlFound {
    std::shared_ptr<NvmlLibrary> library;
    std::vector<Gpu> sources;
    std::vector<std::string> refused;
};

Channel channel_of(const NvmlGpu& gpu, const NvmlField& field, std::string meter) {
    return {std::move(meter), gpu.device, field.scope, field.kind, 0};
}

Result<NvmlFound> find_nvml(const MeterPaths& paths) {
    NvmlFound found;
    VIRIDIAN_TRY(found.library, NvmlLibrary::open(paths));
    VIRIDIAN_TRY(NvmlLibrary::Listed listed, found.library->gpus());
    found.refused = std::move(listed.refused);
    for (NvmlGpu& gpu : listed.gpus) {
        std::vector<Result<Sample>> samples;
        found.library->read(gpu, nvml_fields(), samples);
        Gpu source{std::move(gpu), {}};
        for (std::size_t i = 0; i < samples.size(); ++i)
            if (samples[i].ok()) source.fields.push_back(nvml_fields()[i]);
        const bool silent = source.fields.empty();
        if (silent && !samples.empty())
            found.refused.push_back(fmt::format("{} reports neither energy nor power ({})", source.gpu.device,
                                                samples.front().error().message));
        if (!silent) found.sources.push_back(std::move(source));
    }
    if (found.sources.empty())
        return fail(ErrorCode::unsupported, "no driver setting changes this",
                    "no NVIDIA GPU here reports energy or power: {}",
                    found.refused.empty() ? "" : found.refused.front());
    return found;
}

// The driver's buffer and power usage repeat one of the two power fields: they count only where those are
// missing, and usage only where there is no buffer either, which has all that usage would show and more.
std::vector<NvmlField> without_repeats(const std::vector<NvmlField>& fields) {
    const bool known = std::any_of(fields.begin(), fields.end(), [](const NvmlField& field) {
        return field.scope == Scope::gpu && (field.id != 0 || field.kind == Kind::energy_uj);
    });
    const bool buffered =
        std::any_of(fields.begin(), fields.end(), [](const NvmlField& field) { return field.buffer; });
    std::vector<NvmlField> kept;
    for (const NvmlField& field : fields)
        if (field.id != 0 || field.kind == Kind::energy_uj || (!known && field.buffer == buffered))
            kept.push_back(field);
    return kept;
}

std::string describe(const Gpu& source) {
    std::string text = source.gpu.device;
    if (!source.gpu.name.empty()) text += " " + source.gpu.name;
    for (const Scope scope : {Scope::gpu, Scope::module, Scope::memory}) {
        std::string fields;
        for (const NvmlField& field : source.fields)
            if (field.scope == scope)
                fields += fmt::format("{}{}", fields.empty() ? "" : ", ",
                                      field.name.substr(field.name.rfind(' ') + 1));
        if (!fields.empty()) text += fmt::format("; {}: {}", name_of(scope), fields);
    }
    if (source.gpu.mig) text += "; in MIG mode: the meter is the whole card's, slices have none";
    return text;
}

// Reads all sources; a driver answers from its own buffer: the same stamp again is the same reading.
Result<void> read_new(const NvmlFound& found, std::vector<std::int64_t>& last, std::vector<Sample>& samples) {
    std::optional<Error> lost;
    std::uint32_t channel = 0;
    std::vector<Result<Sample>> read;
    std::vector<Sample> buffered;
    const auto take = [&](Sample sample, std::uint32_t index) {
        if (sample.time_ns <= last[index]) return;
        last[index] = sample.time_ns;
        sample.channel = index;
        samples.push_back(sample);
    };
    for (const Gpu& source : found.sources) {
        read.clear();
        for (std::uint32_t i = 0; i < source.fields.size(); ++i) {  // all of a buffer, not only the newest
            if (!source.fields[i].buffer) continue;
            buffered.clear();
            const Result<void> got = found.library->buffered(source.gpu, last[channel + i], buffered);
            if (!got.ok()) lost = got.error();
            for (const Sample& sample : buffered) take(sample, channel + i);
        }
        if (source.fields.size() == 1 && source.fields.front().buffer) {
            ++channel;
            continue;
        }
        found.library->read(source.gpu, source.fields, read);
        for (const Result<Sample>& sample : read) {
            const std::uint32_t index = channel++;
            if (sample.ok())
                take(*sample, index);
            else
                lost = sample.error();
        }
    }
    if (lost) return *lost;
    return {};
}

Meter meter_of(NvmlFound found, std::string name) {
    Meter meter{std::move(name), {}, {}};
    for (const Gpu& source : found.sources)
        for (const NvmlField& field : source.fields)
            meter.channels.push_back(channel_of(source.gpu, field, meter.name));
    meter.update = Seconds(0.1);
    const auto last = std::make_shared<std::vector<std::int64_t>>(meter.channels.size(), INT64_MIN);
    meter.read = [found = std::move(found), last](std::vector<Sample>& samples) {
        return read_new(found, *last, samples);
    };
    return meter;
}

}  // namespace

Diagnosis probe_nvml(const MeterPaths& paths) {
    const Result<NvmlFound> found = find_nvml(paths);
    if (!found.ok()) return {"nvml", false, found.error().message, found.error().next_step, {}};
    std::size_t channels = 0;
    Diagnosis diagnosis{"nvml", true, "", "", {}};
    for (const Gpu& source : found->sources) {
        channels += without_repeats(source.fields).size();
        diagnosis.details.push_back(describe(source));
    }
    for (const std::string& text : found->refused) diagnosis.details.push_back(text);
    const std::string driver = found->library->driver();
    diagnosis.finding = fmt::format("{} GPUs, {} channels{}", found->sources.size(), channels,
                                    driver.empty() ? "" : ", driver " + driver);
    return diagnosis;
}

Result<Meter> open_nvml(const MeterPaths& paths) {
    VIRIDIAN_TRY(NvmlFound found, find_nvml(paths));
    for (Gpu& source : found.sources) source.fields = without_repeats(source.fields);
    return meter_of(std::move(found), "nvml");
}

Result<std::vector<Meter>> open_nvml_fields(const MeterPaths& paths) {
    VIRIDIAN_TRY(const NvmlFound found, find_nvml(paths));
    std::vector<Meter> meters;
    for (const Gpu& source : found.sources)
        for (const NvmlField& field : source.fields)
            meters.push_back(meter_of(NvmlFound{found.library, {Gpu{source.gpu, {field}}}, {}},
                                      fmt::format("nvml:{}", field.name)));
    return meters;
}

extern const Row nvml_meter = {"nvml", probe_nvml, open_nvml};

}  // namespace viridian::meter
