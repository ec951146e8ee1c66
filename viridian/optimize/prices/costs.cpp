#include "viridian/optimize/prices/costs.hpp"

#include <chrono>

#include "viridian/base/json.hpp"
#include "viridian/base/system/machine.hpp"

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
                                                           const std::string& allowances) {
    VIRIDIAN_TRY(profile::EnergyPricer energy, profile::EnergyPricer::open(options, device));
    return std::unique_ptr<MeasuredCosts>(
        new MeasuredCosts(device, database, std::move(energy), {.protocol = {}, .allowances = allowances}));
}

Result<std::optional<PriceForecast>> MeasuredCosts::forecast(const std::vector<graph::Graph>& graphs) {
    VIRIDIAN_TRY(PriceForecast forecast, PriceForecast::make(graphs, on_demand_, options_.protocol));
    return std::optional(std::move(forecast));
}

Result<std::size_t> MeasuredCosts::confirm(const graph::Graph& graph,
                                           const std::vector<plan::AssignedRegion>& choices) {
    return on_demand_.confirm(graph, choices);
}

void MeasuredCosts::forbid(const std::string& signature, const std::string& choice) {
    on_demand_.forbid(signature, choice);
}

void MeasuredCosts::forbid_all_but_reference(const std::string& signature) {
    on_demand_.forbid_all_but_reference(signature);
}

void MeasuredCosts::report_to(Listener* listener, const PriceForecast* forecast) {
    if (listener == nullptr) {
        on_demand_.cancelled = nullptr;
        on_demand_.progress = nullptr;
        return;
    }
    on_demand_.cancelled = [listener] { return listener->cancelled(); };
    on_demand_.progress = [this, listener, forecast,
                           begin = std::chrono::steady_clock::now()](const std::string& what) {
        listener->progress(
            forecast == nullptr
                ? what
                : fmt::format("{}: {}", forecast->progress(on_demand_.counts().misses, begin), what));
    };
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
