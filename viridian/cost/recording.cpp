#include "viridian/cost/recording.hpp"

#include "viridian/base/json.hpp"

#include <charconv>
#include <cmath>

#include "viridian/base/hash.hpp"

namespace viridian::cost {
namespace {

std::uint64_t subject_of(const graph::Graph& graph, const plan::Region& region) {
    return Hash{}.add(plan::signature(graph, region)).value();
}

std::string conversion_of(const graph::Dims& dims, const plan::Format& from, const plan::Format& to) {
    return fmt::format("[{}] {} {}", fmt::join(dims, ","), text(from), text(to));
}

// Five digits: so many are worth keeping of a measurement.
double rounded(double value) { return std::strtod(fmt::format("{:.4e}", value).c_str(), nullptr); }

Error missing(std::string_view what) {
    return fail(ErrorCode::missing_entry, "record it with the searches that need it",
                "the recording has no price for {}", what);
}

Error wrong_recording(std::string_view what) {
    return fail(ErrorCode::malformed, "write the recording again with `optimize --record`",
                "the recording is not understood: {}", what);
}

bool is_amount(const Json& json) {
    return json.is_number() && std::isfinite(json.get<double>()) && json.get<double>() >= 0;
}

}  // namespace

Price Recording::price(double seconds, double joules) const {
    const Joules energy(joules);
    return {Seconds(seconds), Seconds(seconds), Seconds(seconds), {energy, energy, energy, provenance}};
}

std::vector<PricedChoice> Recording::usable(const std::vector<Priced>& list,
                                            const plan::Region& region) const {
    std::vector<PricedChoice> out;
    for (const Priced& priced : list) {
        const plan::Choice& choice = choices_[priced.choice];
        if (choice.inputs.size() != region.inputs.size() || choice.outputs.size() != region.outputs.size())
            continue;  // another region of the same hash, or a file that was tampered with
        if (choice.aliasing == plan::Aliasing::overwrite &&
            (choice.overwritten >= region.dies.size() || !region.dies[choice.overwritten]))
            continue;
        out.push_back({choice, price(priced.seconds, priced.joules)});
    }
    return out;
}

void Recording::learn(const Provenance& from) {
    if (provenance.source.empty()) provenance = from;
}

// Asked for as if every input died here, so that what is kept depends on the signature alone.
Result<void> Recording::keep(std::uint64_t subject, const graph::Graph& graph, const plan::Region& region,
                             const PriceSource& source) {
    plan::Region permissive = region;
    permissive.dies.assign(region.inputs.size(), true);
    VIRIDIAN_TRY(const auto list, source.choices(graph, permissive));
    std::vector<Priced> kept;
    if (!list.empty()) learn(list.front().price.energy.provenance);
    for (const PricedChoice& priced : list) {
        const auto [at, fresh] = numbers_.try_emplace(plan::to_json(priced.choice).dump(), choices_.size());
        if (fresh) choices_.push_back(priced.choice);
        kept.push_back(
            {at->second, rounded(priced.price.seconds.value), rounded(priced.price.energy.value.value)});
    }
    regions_[subject] = std::move(kept);
    return {};
}

Result<void> Recording::record_again(const graph::Graph& graph, std::span<const plan::Region> regions,
                                     const PriceSource& source) {
    for (const plan::Region& region : regions)
        VIRIDIAN_TRY(keep(subject_of(graph, region), graph, region, source));
    return {};
}

PriceSource Recording::recorded(PriceSource inner) {
    const auto shared = std::make_shared<PriceSource>(std::move(inner));
    return {[this, shared](const graph::Graph& graph,
                           const plan::Region& region) -> Result<std::vector<PricedChoice>> {
                const std::uint64_t subject = subject_of(graph, region);
                if (!regions_.contains(subject)) {
                    VIRIDIAN_TRY(keep(subject, graph, region, *shared));
                }
                return usable(regions_.at(subject), region);
            },
            [this, shared](const graph::Dims& dims, const plan::Format& from,
                           const plan::Format& to) -> Result<Price> {
                const std::string subject = conversion_of(dims, from, to);
                auto known = conversions_.find(subject);
                if (known == conversions_.end()) {
                    VIRIDIAN_TRY(const Price p, shared->conversion(dims, from, to));
                    learn(p.energy.provenance);
                    known = conversions_
                                .emplace(subject,
                                         Priced{0, rounded(p.seconds.value), rounded(p.energy.value.value)})
                                .first;
                }
                return price(known->second.seconds, known->second.joules);
            }};
}

PriceSource Recording::source(std::shared_ptr<const Recording> recording) {
    return {[recording](const graph::Graph& graph,
                        const plan::Region& region) -> Result<std::vector<PricedChoice>> {
                const auto known = recording->regions_.find(subject_of(graph, region));
                if (known == recording->regions_.end())
                    return missing(fmt::format("`{}`", graph.node(region.nodes.front()).name));
                return recording->usable(known->second, region);
            },
            [recording = std::move(recording)](const graph::Dims& dims, const plan::Format& from,
                                               const plan::Format& to) -> Result<Price> {
                const auto known = recording->conversions_.find(conversion_of(dims, from, to));
                if (known == recording->conversions_.end())
                    return missing(fmt::format("the conversion {} to {}", text(from), text(to)));
                return recording->price(known->second.seconds, known->second.joules);
            }};
}

Json Recording::to_json() const {
    const auto micro = [](double value) {
        return std::strtod(fmt::format("{:.5g}", value * 1e6).c_str(), nullptr);
    };
    const auto milli = [](double value) {
        return std::strtod(fmt::format("{:.5g}", value * 1e3).c_str(), nullptr);
    };
    Json json = {{"schema", recording_schema}, {"device", device}, {"provenance", provenance.text()}};
    json["choices"] = Json::array();
    for (const plan::Choice& choice : choices_) json["choices"].push_back(plan::to_json(choice));
    json["regions"] = Json::object();
    for (const auto& [subject, list] : regions_) {
        Json rows = Json::array();
        for (const Priced& priced : list)
            rows.push_back({priced.choice, micro(priced.seconds), milli(priced.joules)});
        json["regions"][fmt::format("{:016x}", subject)] = std::move(rows);
    }
    json["conversions"] = Json::object();
    for (const auto& [subject, priced] : conversions_)
        json["conversions"][subject] = {micro(priced.seconds), milli(priced.joules)};
    return json;
}

Result<Recording> Recording::from_json(const Json& json) {
    if (!json.is_object() || json.value("schema", Json()) != recording_schema)
        return wrong_recording(fmt::format("its schema is not {}", recording_schema));
    Recording out;
    const auto get = [&](const char* key) -> const Json* {
        const auto found = json.find(key);
        return found == json.end() ? nullptr : &*found;
    };
    const Json *device = get("device"), *provenance = get("provenance"), *choices = get("choices"),
               *regions = get("regions"), *conversions = get("conversions");
    if (device == nullptr || !device->is_string() || provenance == nullptr || !provenance->is_string() ||
        choices == nullptr || !choices->is_array() || regions == nullptr || !regions->is_object() ||
        conversions == nullptr || !conversions->is_object())
        return wrong_recording("device, provenance, choices, regions or conversions are missing");
    out.device = device->get<std::string>();
    const auto words = provenance->get<std::string>();
    const std::size_t colon = words.find(':');
    const std::string kind = words.substr(0, colon);
    if (colon == std::string::npos || (kind != "measured" && kind != "estimated"))
        return wrong_recording("its provenance is neither measured:… nor estimated:…");
    out.provenance = {kind == "measured" ? Provenance::Kind::measured : Provenance::Kind::estimated,
                      words.substr(colon + 1)};
    for (const Json& choice : *choices) {
        VIRIDIAN_TRY(plan::Choice read, plan::choice_from_json(choice));
        out.numbers_.try_emplace(plan::to_json(read).dump(), out.choices_.size());
        out.choices_.push_back(std::move(read));
    }
    for (const auto& [key, rows] : regions->items()) {
        std::uint64_t subject = 0;
        const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), subject, 16);
        if (error != std::errc() || end != key.data() + key.size() || !rows.is_array())
            return wrong_recording(fmt::format("region `{}`", key.substr(0, 40)));
        auto& list = out.regions_[subject];
        for (const Json& row : rows) {
            if (!row.is_array() || row.size() != 3 || !row[0].is_number_unsigned() ||
                row[0].get<std::uint64_t>() >= out.choices_.size() || !is_amount(row[1]) ||
                !is_amount(row[2]))
                return wrong_recording(fmt::format("a row of region `{}`", key));
            list.push_back(
                {row[0].get<std::size_t>(), row[1].get<double>() * 1e-6, row[2].get<double>() * 1e-3});
        }
    }
    for (const auto& [key, row] : conversions->items()) {
        if (!row.is_array() || row.size() != 2 || !is_amount(row[0]) || !is_amount(row[1]))
            return wrong_recording(fmt::format("conversion `{}`", key.substr(0, 80)));
        out.conversions_[key] = {0, row[0].get<double>() * 1e-6, row[1].get<double>() * 1e-3};
    }
    return out;
}

std::string Recording::to_text() const {
    const Json json = to_json();
    std::string out = "{";
    for (const auto& [key, value] : json.items()) {
        out += (out.size() > 1 ? ",\n" : "\n") + Json(key).dump() + ": ";
        if (!value.is_structured()) {
            out += value.dump();
            continue;
        }
        const bool list = value.is_array();
        out += list ? "[" : "{";
        bool first = true;
        for (const auto& [name, item] : value.items()) {
            out += (first ? "\n" : ",\n") + (list ? item.dump() : Json(name).dump() + ": " + item.dump());
            first = false;
        }
        out += list ? "]" : "}";
    }
    return out + "\n}\n";
}

}  // namespace viridian::cost
