#pragma once
// Costs is where `optimize` gets its prices from. There are two kinds: MeasuredCosts asks a device and
// stores what it measured, RecordedCosts reads a file and touches no hardware.
#include <set>

#include "viridian/base/json_fwd.hpp"
#include "viridian/cost/database.hpp"
#include "viridian/cost/recorded.hpp"
#include "viridian/optimize/prices/price_forecast.hpp"
#include "viridian/profile/on_demand.hpp"

namespace viridian::optimize {

class Costs {
  public:
    virtual ~Costs() = default;

    // Choices and prices; refers to this object. Choices that were forbidden are left out.
    [[nodiscard]] virtual cost::Source source() = 0;
    // Where joules come from: a meter, a model, or "none: prices from a file".
    [[nodiscard]] virtual std::string meter() const = 0;
    // The processor that prices are for.
    [[nodiscard]] virtual std::string device() const = 0;
    // The file of recorded prices, and its schema; empty if prices are measured.
    [[nodiscard]] virtual std::string file() const { return ""; }
    [[nodiscard]] virtual std::string schema() const { return ""; }
    // From now on prices are for kernels of this network.
    virtual void price_for(const graph::Graph& network) { static_cast<void>(network); }
    // How many prices these graphs lack and how long measuring them takes. None: nothing is ever measured.
    [[nodiscard]] virtual Result<std::optional<PriceForecast>> forecast(
        const std::vector<graph::Graph>& graphs);
    // Measures these choices again, so that noise does not decide between them. Returns how many it measured.
    [[nodiscard]] virtual Result<std::size_t> confirm(const graph::Graph& graph,
                                                      const std::vector<plan::AssignedRegion>& choices);
    // Never offers this choice for regions of this signature again.
    virtual void forbid(const std::string& signature, const std::string& choice);
    // Offers only the reference kernel for regions of this signature.
    virtual void forbid_all_but_reference(const std::string& signature);
    // Offers again whatever was forbidden.
    virtual void allow_all() {}
    // While `listener` is set it hears of measurements and may cancel them. Null detaches it.
    virtual void report_to(Listener* listener, const PriceForecast* forecast);
    [[nodiscard]] virtual profile::OnDemandCounts counts() const { return {}; }
    // Meters whole runs; null if no run is metered or modelled.
    [[nodiscard]] virtual const profile::EnergyPricer* energy() const { return nullptr; }
};

class MeasuredCosts final : public Costs {
  public:
    // `allowances` names the precisions that `device` may offer ("f32,bf16"). `meter` "" takes the best one
    // there is. The device and the database outlive this object.
    [[nodiscard]] static Result<std::unique_ptr<MeasuredCosts>> open(execute::Device& device,
                                                                     cost::Database& database,
                                                                     const std::string& meter,
                                                                     const std::string& allowances);

    cost::Source source() override { return on_demand_.source(); }
    std::string meter() const override { return energy_.name(); }
    std::string device() const override;
    void price_for(const graph::Graph& network) override { on_demand_.price_for(network); }
    Result<std::optional<PriceForecast>> forecast(const std::vector<graph::Graph>& graphs) override;
    Result<std::size_t> confirm(const graph::Graph& graph,
                                const std::vector<plan::AssignedRegion>& choices) override;
    void forbid(const std::string& signature, const std::string& choice) override;
    void forbid_all_but_reference(const std::string& signature) override;
    void allow_all() override { on_demand_.allow_all(); }
    void report_to(Listener* listener, const PriceForecast* forecast) override;
    profile::OnDemandCounts counts() const override { return on_demand_.counts(); }
    const profile::EnergyPricer* energy() const override { return &energy_; }

  private:
    MeasuredCosts(execute::Device& device, cost::Database& database, profile::EnergyPricer energy,
                  profile::OnDemandOptions options);

    profile::EnergyPricer energy_;
    profile::OnDemandOptions options_;
    profile::OnDemand on_demand_;
};

class RecordedCosts final : public Costs {
  public:
    // Errors: those of reading the file; malformed, unsupported (another schema).
    [[nodiscard]] static Result<RecordedCosts> open(const Path& file);

    cost::Source source() override { return recorded_.source; }
    std::string meter() const override { return "none: prices from a file"; }
    std::string device() const override { return recorded_.device; }
    std::string file() const override { return file_; }
    std::string schema() const override { return recorded_.schema; }

  private:
    RecordedCosts(std::string file, cost::Recorded recorded)
        : file_(std::move(file)), recorded_(std::move(recorded)) {}

    std::string file_;  // its name, without folders
    cost::Recorded recorded_;
};

}  // namespace viridian::optimize
