#pragma once
// FewerThreads prices the kernels of a device on some of its threads, beside those on all of them. A kernel
// that gains little from a second thread costs less energy on one, because the other processor sleeps
// meanwhile.
//
// A plan may mix both. A region on fewer threads then pays for waking the others behind it: the wake latency
// is added to its seconds, and the joules that its own power takes for as long. This counts too much where
// two such regions follow each other; `alone` prices a plan that runs on so many threads from end to end and
// never wakes anybody.
#include "viridian/profile/on_demand.hpp"

namespace viridian::profile {

class FewerThreads {
  public:
    // Returns the numbers of threads that a device of `threads` threads is priced on besides: one, and from
    // four threads on half of them.
    [[nodiscard]] static std::vector<int> counts(int threads);
    // Prices `device` on `threads` threads, as OnDemand does; null if the device has no such choice. Device
    // and database outlive the object. Errors: those of making the device and of EnergyPricer::open.
    [[nodiscard]] static Result<std::unique_ptr<FewerThreads>> open(execute::Device& device, int threads,
                                                                    cost::Database& database,
                                                                    const EnergyOptions& energy,
                                                                    const OnDemandOptions& options);

    [[nodiscard]] int threads() const { return device_->threads(); }
    // Returns what the seconds of prices are multiplied by (OnDemandOptions::correction).
    [[nodiscard]] double correction() const { return correction_; }
    // Lists the choices for a region within a plan of more threads: each says on how many threads it runs,
    // and its price holds the wake that follows. Errors: those of OnDemand.
    [[nodiscard]] Result<std::vector<cost::PricedChoice>> choices(const graph::Graph& graph,
                                                                  const plan::Region& region);
    // Returns a source for plans that run on so many threads alone. It refers to this object.
    [[nodiscard]] cost::PriceSource alone();
    // Returns what prices kernels by themselves; their choices name no number of threads.
    [[nodiscard]] OnDemand& prices() { return prices_; }

  private:
    FewerThreads(std::unique_ptr<execute::Device> device, Seconds wake, cost::Database& database,
                 EnergyPricer energy, const OnDemandOptions& options);

    std::unique_ptr<execute::Device> device_;
    Seconds wake_;
    double correction_;
    OnDemand prices_;
};

}  // namespace viridian::profile
