#pragma once
// Costs is the interface by which `optimize` gets its prices. There are two kinds: MeasuredCosts asks a
// device and stores what it measured, RecordedCosts reads a file and touches no hardware.
#include <set>

#include "viridian/base/json_fwd.hpp"
#include "viridian/cost/database.hpp"
#include "viridian/cost/recorded.hpp"
#include "viridian/optimize/prices/price_forecast.hpp"
#include "viridian/profile/fewer_threads.hpp"
#include "viridian/profile/on_demand.hpp"

namespace viridian::optimize {

// PlanThreads are the prices of a plan that runs on `threads` threads from end to end.
struct PlanThreads {
    int threads = 0;
    cost::PriceSource source;
};

class Costs {
  public:
    virtual ~Costs() = default;

    // Returns a source of choices and prices, which refers to this object. Choices that were forbidden are
    // left out.
    [[nodiscard]] virtual cost::PriceSource source() = 0;
    // Returns sources for plans that run on fewer threads from end to end; none unless asked for.
    [[nodiscard]] virtual std::vector<PlanThreads> on_fewer_threads() { return {}; }
    // Returns where joules come from: the name of a meter or model, or "none: prices from a file".
    [[nodiscard]] virtual std::string meter() const = 0;
    // Returns the name of the processor that prices are for.
    [[nodiscard]] virtual std::string device() const = 0;
    // These return the name of the file of recorded prices, without folders, and its schema; "" if prices are
    // measured.
    [[nodiscard]] virtual std::string file() const { return ""; }
    [[nodiscard]] virtual std::string schema() const { return ""; }
    // Says which network kernels are priced for from now on: if its weights stay in the last-level cache,
    // kernels are timed with cached weights. Recorded prices ignore this.
    virtual void price_for(const graph::Graph& network) { static_cast<void>(network); }
    // Brings prices to the present state of the machine. Recorded prices stay as they are. Errors: those of
    // timing.
    virtual Result<void> calibrate() { return {}; }
    // Returns how the machine changed since calibrate(); no change for recorded prices. Errors: those of
    // timing.
    [[nodiscard]] virtual Result<profile::Drift> drift() { return profile::Drift{}; }
    // Returns what earlier runs multiply the seconds of prices on so many threads by (cost::correction_of); 1
    // for recorded prices.
    [[nodiscard]] virtual double correction(int threads) const {
        static_cast<void>(threads);
        return 1;
    }
    // Returns how many prices these graphs lack and how long measuring them takes; nothing if prices are
    // never measured.
    [[nodiscard]] virtual Result<std::optional<PriceForecast>> forecast(
        const std::vector<graph::Graph>& graphs);
    // Measures these choices again, so that noise does not decide between them. Returns how many it
    // measured.
    [[nodiscard]] virtual Result<std::size_t> confirm(const graph::Graph& graph,
                                                      const std::vector<plan::AssignedRegion>& choices);
    // Stops offering this choice, by its key, for regions of this signature. Recorded prices ignore this and
    // the next one, because nothing is proven with them.
    virtual void forbid(const std::string& signature, const std::string& choice);
    // Offers only the reference kernel for regions of this signature.
    virtual void forbid_all_but_reference(const std::string& signature);
    // Offers again whatever was forbidden.
    virtual void allow_all() {}
    // Reports measurements to `listener`, which may cancel them; null ends this. `forecast` says how many
    // there will be, and may be null. Both must live until reporting ends.
    virtual void report_to(Listener* listener, const PriceForecast* forecast);
    // Returns how many prices were found and measured.
    [[nodiscard]] virtual profile::OnDemandCounts counts() const { return {}; }
    // Returns what prices the joules of whole runs; null if prices come from a file, because then nothing is
    // run.
    [[nodiscard]] virtual const profile::EnergyPricer* energy() const { return nullptr; }
};

class MeasuredCosts final : public Costs {
  public:
    // Prices joules as `energy` says. `allowances` names the precisions that `device` may offer ("f32,bf16").
    // With `fewer_threads` every kernel is also priced on some of the threads. The device and the database
    // outlive this object. Errors: those of EnergyPricer::open, and of devices on fewer threads.
    [[nodiscard]] static Result<std::unique_ptr<MeasuredCosts>> open(execute::Device& device,
                                                                     cost::Database& database,
                                                                     const profile::EnergyOptions& energy,
                                                                     const std::string& allowances,
                                                                     bool fewer_threads = false);

    cost::PriceSource source() override;
    std::vector<PlanThreads> on_fewer_threads() override;
    std::string meter() const override { return energy_.name(); }
    std::string device() const override;
    void price_for(const graph::Graph& network) override;
    Result<void> calibrate() override;
    Result<profile::Drift> drift() override { return on_demand_.drift(); }
    double correction(int threads) const override;
    Result<std::optional<PriceForecast>> forecast(const std::vector<graph::Graph>& graphs) override;
    Result<std::size_t> confirm(const graph::Graph& graph,
                                const std::vector<plan::AssignedRegion>& choices) override;
    void forbid(const std::string& signature, const std::string& choice) override;
    void forbid_all_but_reference(const std::string& signature) override;
    void allow_all() override;
    void report_to(Listener* listener, const PriceForecast* forecast) override;
    profile::OnDemandCounts counts() const override;
    const profile::EnergyPricer* energy() const override { return &energy_; }

  private:
    MeasuredCosts(execute::Device& device, cost::Database& database, profile::EnergyPricer energy,
                  profile::OnDemandOptions options);
    // Returns what prices the device and what prices it on fewer threads.
    [[nodiscard]] std::vector<profile::OnDemand*> all_prices();

    profile::EnergyPricer energy_;
    profile::OnDemandOptions options_;
    profile::OnDemand on_demand_;
    std::vector<std::unique_ptr<profile::FewerThreads>> fewer_;
};

class RecordedCosts final : public Costs {
  public:
    // Reads the file of prices. Errors: those of reading the file; malformed, unsupported (another schema).
    [[nodiscard]] static Result<RecordedCosts> open(const Path& file);

    cost::PriceSource source() override { return recorded_.source; }
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
