#include "viridian/profile/on_demand.hpp"

#include <algorithm>

#include "viridian/profile/weights.hpp"

namespace viridian::profile {
namespace {

// Raise when the way kernels are timed or priced changes, either to a number neither had: with weights from
// memory, and from the last-level cache.
constexpr int protocol_version = 12;
constexpr int cached_protocol_version = 13;

bool is_reference(const plan::Choice& choice) {
    return choice.variant.algorithm == plan::Algorithm::reference;
}

// Reference kernels are priced only where nothing else is left: they are slow.
std::vector<plan::Choice> fast(std::vector<plan::Choice> list) {
    if (!std::ranges::all_of(list, is_reference)) std::erase_if(list, is_reference);
    return list;
}

bool is_free(const plan::Choice& choice) {
    return choice.aliasing == plan::Aliasing::view || choice.aliasing == plan::Aliasing::gather;
}

// Whether a choice has a format for each input and output of the region that can hold it, and overwrites an
// input if any.
bool fits(const graph::Graph& graph, const plan::Region& region, const plan::Choice& choice) {
    const auto fit = [&](const std::vector<graph::ValueId>& values,
                         const std::vector<plan::Format>& formats) {
        return std::ranges::equal(values, formats, [&](graph::ValueId value, const plan::Format& format) {
            return can_hold(graph.value(value).type, format);
        });
    };
    return fit(region.inputs, choice.inputs) && fit(region.outputs, choice.outputs) &&
           (choice.aliasing != plan::Aliasing::overwrite || choice.overwritten < region.inputs.size());
}

std::string conversion_subject(const graph::Dims& dims, const plan::Format& from, const plan::Format& to) {
    return fmt::format("convert [{}] {} {}", fmt::join(dims, ","), text(from), text(to));
}

}  // namespace

plan::Region OnDemand::permissive(plan::Region region) {
    region.dies.assign(region.inputs.size(), true);
    return region;
}

OnDemand::OnDemand(execute::Device& device, cost::Database& database, EnergyPricer energy,
                   OnDemandOptions options)
    : device_(device),
      database_(database),
      energy_(std::move(energy)),
      options_(std::move(options)),
      calibration_(device) {}

void OnDemand::price_for(const graph::Graph& network) {
    const bool cached = weights_stay_cached(network);
    if (cached != options_.protocol.cached_weights) forget();
    options_.protocol.cached_weights = cached;
}

void OnDemand::forget() {
    known_.clear();
    references_.clear();
    conversions_.clear();
}

Result<void> OnDemand::calibrate() {
    VIRIDIAN_TRY(const Drift since, drift());
    present_ = since.now;
    forget();
    return {};
}

Result<Drift> OnDemand::drift() {
    VIRIDIAN_TRY(calibration_.settle());
    looked_ = std::chrono::steady_clock::now();
    return Drift{present_, calibration_.last(), calibration_.latency()};
}

cost::PriceSource OnDemand::source() {
    return {[this](const graph::Graph& graph, const plan::Region& region) { return choices(graph, region); },
            [this](const graph::Dims& dims, const plan::Format& from, const plan::Format& to) {
                return conversion(dims, from, to);
            }};
}

int OnDemand::protocol_number() const {
    return options_.protocol.cached_weights ? cached_protocol_version : protocol_version;
}

cost::Key OnDemand::key(std::string subject, std::string choice) const {
    return {std::move(subject), std::move(choice), device_.fingerprint(), device_.library(),
            device_.threads(),  protocol_number(), energy_.key()};
}

void OnDemand::forbid(const std::string& signature, const std::string& choice) {
    forbidden_.emplace(signature, choice);
}

void OnDemand::forbid_all_but_reference(const std::string& signature) { only_reference_.insert(signature); }

void OnDemand::allow_all() {
    forbidden_.clear();
    only_reference_.clear();
}

Result<void> OnDemand::check_cancelled() const {
    if (cancelled && cancelled())
        return fail(ErrorCode::cancelled, "run it again: it goes on from there",
                    "stopped; what was measured is kept");
    return {};
}

// Choices are asked for and timed as if every input died here, and filtered by what really does, so that they
// depend on the region's signature alone. Reference kernels included.
Result<std::vector<plan::Choice>> OnDemand::offered(const graph::Graph& graph, const plan::Region& region,
                                                    const std::string& subject) {
    const cost::ListKey list_key{subject,           device_.fingerprint(), device_.library(),
                                 device_.threads(), protocol_number(),     options_.allowances};
    VIRIDIAN_TRY(auto stored, database_.choices(list_key));
    // A list that somebody else put there may hold anything, and lists of before variants were kept lack
    // them: both are asked for again. Prices stay.
    const auto is_whole = [&](const plan::Choice& choice) {
        return choice.variant.algorithm != plan::Algorithm::unknown && fits(graph, region, choice);
    };
    if (stored && std::ranges::all_of(*stored, is_whole)) return std::move(*stored);
    VIRIDIAN_TRY(std::vector<plan::Choice> list, device_.choices(graph, permissive(region)));
    VIRIDIAN_TRY(database_.put_choices(list_key, list));
    own_lists_.insert(subject);
    return list;
}

bool OnDemand::is_complete(const cost::Entry& entry) const { return !energy_.meter || entry.energy; }

cost::Price OnDemand::price_of(const cost::Entry& entry, const Work& work, Bytes dram) const {
    const double factor = options_.correction * Drift{entry.probes, present_}.factor(work);
    const Seconds median = entry.median * factor;
    return {median, entry.low * factor, entry.high * factor,
            entry.energy ? *entry.energy : energy_.estimate(median, dram)};
}

Bytes OnDemand::dram(const graph::Graph& graph, const plan::Region& region,
                     const plan::Choice& choice) const {
    const Bytes activations = activation_traffic(graph, region, choice);
    return options_.protocol.cached_weights ? activations : activations + weight_bytes(graph, region, choice);
}

Result<std::vector<std::optional<cost::Entry>>> OnDemand::stored(
    const std::string& subject, const std::vector<plan::Choice>& list) const {
    VIRIDIAN_TRY(const auto stored, database_.get_all(key(subject, "")));
    std::vector<std::optional<cost::Entry>> entries(list.size());
    for (std::size_t i = 0; i < list.size(); ++i)
        for (const auto& [choice, entry] : stored)
            if (choice == list[i].key()) entries[i] = entry;
    return entries;
}

Result<std::vector<cost::PricedChoice>> OnDemand::price_all(const graph::Graph& graph,
                                                            const plan::Region& region,
                                                            const std::string& subject,
                                                            const std::vector<plan::Choice>& list) {
    VIRIDIAN_TRY(std::vector<std::optional<cost::Entry>> entries, stored(subject, list));

    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if ((entries[i] && is_complete(*entries[i])) || is_free(list[i])) {
            counts_.hits += is_free(list[i]) ? 0 : 1;
            continue;
        }
        if (!options_.measure)
            return fail(ErrorCode::missing_entry, "run `viridian profile` on the device first",
                        "the cost database has no price for `{}` on this device", list[i].kernel);
        ++counts_.misses;
        missing.push_back(i);
    }
    if (!missing.empty()) VIRIDIAN_TRY(price_missing(graph, region, subject, list, missing, entries));
    const Work work = Work::of(graph, region);
    std::vector<cost::PricedChoice> priced;
    for (std::size_t i = 0; i < list.size(); ++i)
        priced.push_back({list[i], entries[i] ? price_of(*entries[i], work, dram(graph, region, list[i]))
                                              : cost::Price()});
    return priced;
}

std::vector<cost::PricedChoice> OnDemand::usable(const plan::Region& region, const std::string& subject,
                                                 const std::vector<cost::PricedChoice>& list) const {
    std::vector<cost::PricedChoice> result;
    for (const cost::PricedChoice& priced : list) {
        const plan::Choice& choice = priced.choice;
        if (choice.aliasing == plan::Aliasing::overwrite && !region.dies[choice.overwritten]) continue;
        if (!is_reference(choice) && only_reference_.contains(subject)) continue;
        if (forbidden_.contains({subject, choice.key()})) continue;
        result.push_back(priced);
    }
    return result;
}

Result<std::vector<cost::PricedChoice>> OnDemand::choices(const graph::Graph& graph,
                                                          const plan::Region& region) {
    const std::string subject = plan::signature(graph, region);
    auto known = known_.find(subject);
    if (known == known_.end()) {
        VIRIDIAN_TRY(std::vector<plan::Choice> list, offered(graph, region, subject));
        VIRIDIAN_TRY(auto priced, price_all(graph, region, subject, fast(std::move(list))));
        known = known_.emplace(subject, std::move(priced)).first;
    }
    std::vector<cost::PricedChoice> result = usable(region, subject, known->second);
    if (!result.empty()) return result;
    auto references = references_.find(subject);
    if (references == references_.end()) {
        VIRIDIAN_TRY(std::vector<plan::Choice> list, offered(graph, region, subject));
        std::erase_if(list, [](const plan::Choice& choice) { return !is_reference(choice); });
        VIRIDIAN_TRY(auto priced, price_all(graph, region, subject, list));
        references = references_.emplace(subject, std::move(priced)).first;
    }
    return usable(region, subject, references->second);
}

Result<cost::Price> OnDemand::conversion(const graph::Dims& dims, const plan::Format& from,
                                         const plan::Format& to) {
    if (from == to) return cost::Price{};
    const std::string subject = conversion_subject(dims, from, to);
    if (const auto known = conversions_.find(subject); known != conversions_.end()) return known->second;
    VIRIDIAN_TRY(std::optional<cost::Entry> entry, database_.get(key(subject, "")));
    if (entry && is_complete(*entry)) {
        ++counts_.hits;
    } else {
        if (!options_.measure)
            return fail(ErrorCode::missing_entry, "run `viridian profile` on the device first",
                        "the cost database has no price for the conversion {} to {}", text(from), text(to));
        ++counts_.misses;
        VIRIDIAN_TRY(entry, priced_conversion(dims, from, to, std::move(entry)));
        VIRIDIAN_TRY(database_.put(key(subject, ""), *entry));
        if (progress) progress(subject);
    }
    return conversions_
        .emplace(subject, price_of(*entry, Work::of(dims, from, to), activation_traffic(dims, from, to)))
        .first->second;
}

namespace {

void count(Survey& survey, bool known, const std::string& price, const Work& work) {
    if (known)
        survey.known.insert(price);
    else
        survey.missing.emplace(price, work);
}

}  // namespace

cost::PriceSource OnDemand::counting(Survey& survey) {
    struct Stored {
        std::vector<plan::Choice> list;
        std::vector<std::optional<cost::Entry>> entries;
    };
    const auto seen = std::make_shared<std::map<std::string, Stored>>();  // by subject
    return {
        [this, &survey, seen](const graph::Graph& graph,
                              const plan::Region& region) -> Result<std::vector<cost::PricedChoice>> {
            const std::string subject = plan::signature(graph, region);
            auto found = seen->find(subject);
            if (found == seen->end()) {
                VIRIDIAN_TRY(std::vector<plan::Choice> all, offered(graph, region, subject));
                Stored fresh{fast(std::move(all)), {}};
                VIRIDIAN_TRY(fresh.entries, stored(subject, fresh.list));
                found = seen->emplace(subject, std::move(fresh)).first;
            }
            const auto& [list, entries] = found->second;
            const Work work = Work::of(graph, region);
            std::vector<cost::PricedChoice> priced;
            for (std::size_t i = 0; i < list.size(); ++i) {
                const plan::Choice& choice = list[i];
                const bool known = entries[i] && is_complete(*entries[i]);
                if (!is_free(choice)) count(survey, known, subject + '\n' + choice.key(), work);
                if (choice.aliasing != plan::Aliasing::overwrite || region.dies[choice.overwritten])
                    priced.push_back({choice, known ? price_of(*entries[i], work, dram(graph, region, choice))
                                                    : cost::Price()});
            }
            return priced;
        },
        [this, &survey](const graph::Dims& dims, const plan::Format& from,
                        const plan::Format& to) -> Result<cost::Price> {
            if (from == to) return cost::Price{};
            const std::string subject = conversion_subject(dims, from, to);
            VIRIDIAN_TRY(const std::optional<cost::Entry> entry, database_.get(key(subject, "")));
            const bool known = entry && is_complete(*entry);
            const Work work = Work::of(dims, from, to);
            count(survey, known, subject, work);
            return known ? price_of(*entry, work, activation_traffic(dims, from, to)) : cost::Price();
        }};
}

}  // namespace viridian::profile
