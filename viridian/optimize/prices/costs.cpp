#include "viridian/optimize/prices/costs.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "viridian/base/json.hpp"
#include "viridian/base/system/machine.hpp"
#include "viridian/cost/residuals.hpp"

namespace viridian::optimize {

Result<std::optional<PriceForecast>> Costs::forecast(const std::vector<graph::Graph>&) {
    return std::optional<PriceForecast>();
}

Result<std::size_t> Costs::confirm(const graph::Graph&, const std::vector<plan::AssignedRegion>&) {
    return std::size_t{0};
}

void Costs::forbid(const std::string&, const std::string&) {}
void Costs::forbid_all_but_reference(const std::string&) {}
void Costs::report_to(Listener*, const PriceForecast*) {}

MeasuredCosts::MeasuredCosts(execute::Device& device, cost::Database& database, profile::EnergyPricer energy,
                             profile::OnDemandOptions options)
    : energy_(std::move(energy)),
      options_(std::move(options)),
      on_demand_(device, database, energy_, options_) {}

Result<std::unique_ptr<MeasuredCosts>> MeasuredCosts::open(execute::Device& device, cost::Database& database,
                                                           const profile::EnergyOptions& options,
                                                           const std::string& allowances,
                                                           bool fewer_threads) {
    VIRIDIAN_TRY(profile::EnergyPricer energy, profile::EnergyPricer::open(options, device));
    VIRIDIAN_TRY(const auto residuals, database.residuals(device.fingerprint()));
    const auto on_demand = [&](int on_threads) {
        return profile::OnDemandOptions{.protocol = {},
                                        .allowances = allowances,
                                        .correction = cost::correction_of(residuals, on_threads)};
    };
    std::unique_ptr<MeasuredCosts> costs(
        new MeasuredCosts(device, database, std::move(energy), on_demand(device.threads())));
    if (!fewer_threads) return costs;
    for (const int threads : profile::FewerThreads::counts(device.threads())) {
        VIRIDIAN_TRY(auto fewer,
                     profile::FewerThreads::open(device, threads, database, options, on_demand(threads)));
        if (fewer != nullptr) costs->fewer_.push_back(std::move(fewer));
    }
    return costs;
}

double MeasuredCosts::correction(int threads) const {
    for (const auto& fewer : fewer_)
        if (fewer->threads() == threads) return fewer->correction();
    return options_.correction;
}

std::vector<profile::OnDemand*> MeasuredCosts::all_prices() {
    std::vector<profile::OnDemand*> all = {&on_demand_};
    for (const auto& fewer : fewer_) all.push_back(&fewer->prices());
    return all;
}

cost::PriceSource MeasuredCosts::source() {
    const cost::PriceSource own = on_demand_.source();
    const auto choices = [this, own](const graph::Graph& graph,
                                     const plan::Region& region) -> Result<std::vector<cost::PricedChoice>> {
        VIRIDIAN_TRY(std::vector<cost::PricedChoice> all, own.choices(graph, region));
        for (const auto& fewer : fewer_) {
            VIRIDIAN_TRY(std::vector<cost::PricedChoice> more, fewer->choices(graph, region));
            std::ranges::move(more, std::back_inserter(all));
        }
        return all;
    };
    return {choices, own.conversion};
}

std::vector<PlanThreads> MeasuredCosts::on_fewer_threads() {
    std::vector<PlanThreads> all;
    for (const auto& fewer : fewer_) all.push_back({fewer->threads(), fewer->alone()});
    return all;
}

void MeasuredCosts::price_for(const graph::Graph& network) {
    for (profile::OnDemand* prices : all_prices()) prices->price_for(network);
}

Result<void> MeasuredCosts::calibrate() {
    for (profile::OnDemand* prices : all_prices()) {
        VIRIDIAN_TRY(prices->calibrate());
    }
    return {};
}

Result<std::optional<PriceForecast>> MeasuredCosts::forecast(const std::vector<graph::Graph>& graphs) {
    VIRIDIAN_TRY(PriceForecast forecast, PriceForecast::make(graphs, all_prices(), options_.protocol));
    return std::optional(forecast);
}

Result<std::size_t> MeasuredCosts::confirm(const graph::Graph& graph,
                                           const std::vector<plan::AssignedRegion>& choices) {
    std::size_t timed = 0;
    const auto confirm_those_on = [&](int threads, profile::OnDemand& prices) -> Result<void> {
        std::vector<plan::AssignedRegion> own;
        for (const plan::AssignedRegion& assigned : choices)
            if (assigned.choice.threads == threads) own.push_back(assigned);
        for (plan::AssignedRegion& assigned : own) assigned.choice.threads = 0;
        VIRIDIAN_TRY(const std::size_t count, prices.confirm(graph, own));
        timed += count;
        return {};
    };
    VIRIDIAN_TRY(confirm_those_on(0, on_demand_));
    for (const auto& fewer : fewer_) {
        VIRIDIAN_TRY(confirm_those_on(fewer->threads(), fewer->prices()));
    }
    return timed;
}

// A kernel that is wrong is offered on no number of threads.
void MeasuredCosts::forbid(const std::string& signature, const std::string& choice) {
    for (profile::OnDemand* prices : all_prices())
        prices->forbid(signature, plan::key_on_all_threads(choice));
}

void MeasuredCosts::forbid_all_but_reference(const std::string& signature) {
    for (profile::OnDemand* prices : all_prices()) prices->forbid_all_but_reference(signature);
}

void MeasuredCosts::allow_all() {
    for (profile::OnDemand* prices : all_prices()) prices->allow_all();
}

profile::OnDemandCounts MeasuredCosts::counts() const {
    profile::OnDemandCounts sum = on_demand_.counts();
    for (const auto& fewer : fewer_) {
        const profile::OnDemandCounts& more = fewer->prices().counts();
        sum.hits += more.hits;
        sum.misses += more.misses;
        sum.again += more.again;
        sum.measuring += more.measuring;
    }
    return sum;
}

void MeasuredCosts::report_to(Listener* listener, const PriceForecast* forecast) {
    for (profile::OnDemand* prices : all_prices()) {
        if (listener == nullptr) {
            prices->cancelled = nullptr;
            prices->progress = nullptr;
            continue;
        }
        prices->cancelled = [listener] { return listener->cancelled(); };
        prices->progress = [this, listener, forecast,
                            begin = std::chrono::steady_clock::now()](const std::string& what) {
            listener->progress(forecast == nullptr
                                   ? what
                                   : fmt::format("{}: {}", forecast->progress(counts().misses, begin), what));
        };
    }
}

std::string MeasuredCosts::device() const { return this_machine().cpu_model; }

Result<RecordedCosts> RecordedCosts::open(const Path& file) {
    VIRIDIAN_TRY(const std::string text, read_file(file, std::uint64_t{1} << 28));
    VIRIDIAN_TRY(const Json json, parse_json(text, file.string()));
    auto recorded = cost::recorded_from_json(json);
    if (!recorded.ok())
        return std::move(recorded).error().within(fmt::format("while reading `{}`", file.string()));
    return RecordedCosts(file.filename().string(), *std::move(recorded));
}

}  // namespace viridian::optimize
