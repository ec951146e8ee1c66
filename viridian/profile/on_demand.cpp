#include "viridian/profile/on_demand.hpp"

#include <algorithm>
#include <chrono>

#include "viridian/profile/weights.hpp"

namespace viridian::profile {
namespace {

// Raise when the way kernels are timed or priced changes, either to a number neither had: with weights from
// memory, and from the last-level cache.
constexpr int protocol_version = 10;
constexpr int cached_protocol_version = 11;

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

cost::Entry to_entry(const execute::Timing& timing) {
    cost::Entry entry;
    entry.minimum = timing.minimum;
    entry.median = timing.median;
    entry.low = timing.low;
    entry.high = timing.high;
    entry.count = timing.count;
    entry.workspace = timing.workspace;
    return entry;
}

plan::Region permissive(plan::Region region) {
    region.dies.assign(region.inputs.size(), true);
    return region;
}

std::string conversion_subject(const graph::Dims& dims, const plan::Format& from, const plan::Format& to) {
    return fmt::format("convert [{}] {} {}", fmt::join(dims, ","), text(from), text(to));
}

}  // namespace

OnDemand::OnDemand(execute::Device& device, cost::Database& database, EnergyPricer energy,
                   OnDemandOptions options)
    : device_(device), database_(database), energy_(std::move(energy)), options_(std::move(options)) {}

void OnDemand::price_for(const graph::Graph& network) {
    const bool cached = weights_stay_cached(network);
    if (cached != options_.protocol.cached_weights) {
        known_.clear();
        references_.clear();
        conversions_.clear();
    }
    options_.protocol.cached_weights = cached;
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
    return {std::move(subject), std::move(choice), device_.fingerprint(),
            device_.library(),  device_.threads(), protocol_number()};
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
    // Lists of before variants were kept are asked for again; prices stay.
    const auto lacks_variant = [](const plan::Choice& choice) {
        return choice.variant.algorithm == plan::Algorithm::unknown;
    };
    if (stored && std::ranges::none_of(*stored, lacks_variant)) return std::move(*stored);
    VIRIDIAN_TRY(std::vector<plan::Choice> list, device_.choices(graph, permissive(region)));
    VIRIDIAN_TRY(database_.put_choices(list_key, list));
    return list;
}

Result<cost::Entry> OnDemand::timed(const graph::Graph& graph, const plan::Region& region,
                                    const plan::Choice& choice, const execute::TimingProtocol& protocol) {
    VIRIDIAN_TRY(check_cancelled());
    const auto start = std::chrono::steady_clock::now();
    const plan::Region timed_region = permissive(region);
    VIRIDIAN_TRY(const execute::Timing timing, device_.time(graph, timed_region, choice, protocol));
    cost::Entry entry = to_entry(timing);
    const Bytes read = protocol.cached_weights ? Bytes() : weight_bytes(graph, region, choice);
    VIRIDIAN_TRY(entry.energy, energy_.price(timing, read, [&](Seconds budget) -> Result<void> {
        VIRIDIAN_TRY(device_.time(graph, timed_region, choice,
                                  {0, budget, protocol.at_least, protocol.cached_weights}));
        return {};
    }));
    counts_.measuring +=
        Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    return entry;
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

    // A quick look at all that are missing, then a long one at those that may win.
    std::vector<bool> quick(list.size(), false);
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (entries[i] || is_free(list[i])) {
            counts_.hits += is_free(list[i]) ? 0 : 1;
            continue;
        }
        if (!options_.measure)
            return fail(ErrorCode::missing_entry, "run `viridian profile` on the device first",
                        "the cost database has no price for `{}` on this device", list[i].kernel);
        ++counts_.misses;
        quick[i] = true;
        VIRIDIAN_TRY(entries[i],
                     timed(graph, region, list[i],
                           {0.1, options_.protocol.budget / 8, 3, options_.protocol.cached_weights}));
        if (progress) progress(fmt::format("{} {}", graph.node(region.nodes.front()).op, list[i].kernel));
    }
    Seconds best(1e30);
    for (const auto& entry : entries)
        if (entry) best = std::min(best, entry->minimum);
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (!quick[i]) continue;
        if (entries[i]->minimum.value <= options_.worth_timing * best.value) {
            VIRIDIAN_TRY(entries[i], timed(graph, region, list[i], options_.protocol));
        }
        VIRIDIAN_TRY(database_.put(key(subject, list[i].key()), *entries[i]));
    }
    std::vector<cost::PricedChoice> priced;
    for (std::size_t i = 0; i < list.size(); ++i)
        priced.push_back({list[i], entries[i] ? entries[i]->price() : cost::Price()});
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
    if (entry) {
        ++counts_.hits;
    } else {
        if (!options_.measure)
            return fail(ErrorCode::missing_entry, "run `viridian profile` on the device first",
                        "the cost database has no price for the conversion {} to {}", text(from), text(to));
        ++counts_.misses;
        VIRIDIAN_TRY(check_cancelled());
        VIRIDIAN_TRY(const execute::Timing timing,
                     device_.time_conversion(dims, from, to, options_.protocol));
        entry = to_entry(timing);
        VIRIDIAN_TRY(entry->energy, energy_.price(timing, Bytes(0), [&](Seconds budget) -> Result<void> {
            VIRIDIAN_TRY(device_.time_conversion(dims, from, to, {0, budget, 3, false}));
            return {};
        }));
        VIRIDIAN_TRY(database_.put(key(subject, ""), *entry));
        if (progress) progress(subject);
    }
    return conversions_.emplace(subject, entry->price()).first->second;
}

namespace {

double bytes_of(const graph::Graph& graph, const plan::Region& region) {
    double bytes = 0;
    for (const auto* values : {&region.inputs, &region.outputs, &region.constants})
        for (const graph::ValueId id : *values)
            if (const graph::TensorType& type = graph.value(id).type; type.known())
                bytes += static_cast<double>(
                    plan::buffer_bytes({plan::plain(type.dims().size()), type.element, {}}, type.dims()));
    return bytes;
}

void count(Survey& survey, bool known, const std::string& price, double bytes) {
    if (known)
        survey.known.insert(price);
    else if (survey.missing.insert(price).second)
        survey.missing_bytes += bytes;
}

}  // namespace

cost::PriceSource OnDemand::counting(Survey& survey) {
    return {[this, &survey](const graph::Graph& graph,
                            const plan::Region& region) -> Result<std::vector<cost::PricedChoice>> {
                const std::string subject = plan::signature(graph, region);
                VIRIDIAN_TRY(std::vector<plan::Choice> all, offered(graph, region, subject));
                const std::vector<plan::Choice> list = fast(std::move(all));
                VIRIDIAN_TRY(const auto entries, stored(subject, list));
                std::vector<cost::PricedChoice> priced;
                for (std::size_t i = 0; i < list.size(); ++i) {
                    const plan::Choice& choice = list[i];
                    if (!is_free(choice))
                        count(survey, entries[i].has_value(), subject + '\n' + choice.key(),
                              bytes_of(graph, region));
                    if (choice.aliasing != plan::Aliasing::overwrite || region.dies[choice.overwritten])
                        priced.push_back({choice, entries[i] ? entries[i]->price() : cost::Price()});
                }
                return priced;
            },
            [this, &survey](const graph::Dims& dims, const plan::Format& from,
                            const plan::Format& to) -> Result<cost::Price> {
                if (from == to) return cost::Price{};
                const std::string subject = conversion_subject(dims, from, to);
                VIRIDIAN_TRY(const std::optional<cost::Entry> entry, database_.get(key(subject, "")));
                count(survey, entry.has_value(), subject,
                      static_cast<double>(plan::buffer_bytes(from, dims) + plan::buffer_bytes(to, dims)));
                return entry ? entry->price() : cost::Price();
            }};
}

}  // namespace viridian::profile
