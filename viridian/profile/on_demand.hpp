#pragma once
// OnDemand is a cost source that measures. A price that the database lacks is timed on the device, priced in
// joules and stored, so that the next run finds it (docs/method.md, 1).
#include <map>
#include <set>

#include "viridian/cost/database.hpp"
#include "viridian/cost/source.hpp"
#include "viridian/execute/device.hpp"
#include "viridian/plan/assignment.hpp"
#include "viridian/profile/energy.hpp"

namespace viridian::profile {

struct OnDemandOptions {
    execute::TimingProtocol protocol;
    std::string allowances = "f32";  // what the device was allowed to offer: part of a list's key
    // A choice that takes more than this many times the best one's time in a quick look keeps the price of
    // that look.
    double worth_timing = 1.3;
    bool measure = true;  // false: a missing entry is an error, nothing is timed
};

struct OnDemandCounts {
    std::int64_t hits = 0;
    std::int64_t misses = 0;
    std::int64_t again = 0;  // timed again by `confirm`
    Seconds measuring;       // spent on the device
};

// The prices that were asked for: those that the database holds, and those that it lacks; each once.
struct Survey {
    std::set<std::string> known, missing;
    // What the kernels of the missing prices read and write in one run each. The time to measure grows with
    // it.
    double missing_bytes = 0;
};

class OnDemand {
  public:
    OnDemand(execute::Device& device, cost::Database& database, EnergyPricer energy,
             OnDemandOptions options = {});

    // From now on kernels are priced for this network: whether its weights stay in the last-level cache
    // decides how they are timed.
    void price_for(const graph::Graph& network);
    [[nodiscard]] const execute::TimingProtocol& protocol() const { return options_.protocol; }

    // Returns this object as a cost source, which refers to it.
    [[nodiscard]] cost::Source source();
    // Returns a source that measures nothing and fills `survey`: its prices are those stored, or zero. It
    // refers to this object and to `survey`.
    [[nodiscard]] cost::Source counting(Survey& survey);
    // Times `contenders` again, all of them in each of several rounds, so that a disturbance meets all of
    // them. The price becomes the median of all rounds. A price that was confirmed before stays. Returns how
    // many were timed.
    Result<std::size_t> confirm(const graph::Graph& graph,
                                const std::vector<plan::AssignedRegion>& contenders);
    [[nodiscard]] const OnDemandCounts& counts() const { return counts_; }
    // Called after each measurement, with the name of what was measured.
    std::function<void(const std::string& what)> progress;
    // Asked before each measurement. If it answers true, the call ends with the error `cancelled`; prices
    // that were measured stay stored.
    std::function<bool()> cancelled;
    // Removes a choice that a failed proof forbids from what is offered for regions of this signature. A
    // region that has no other choice left is offered its reference kernel.
    void forbid(const std::string& signature, const std::string& choice);
    void forbid_all_but_reference(const std::string& signature);
    void allow_all();  // offers all of them again, because another graph was to blame

  private:
    Result<std::vector<cost::PricedChoice>> choices(const graph::Graph& graph, const plan::Region& region);
    Result<cost::Price> conversion(const graph::Dims& dims, const plan::Format& from, const plan::Format& to);
    Result<std::vector<plan::Choice>> offered(const graph::Graph& graph, const plan::Region& region,
                                              const std::string& subject);
    Result<std::vector<cost::PricedChoice>> price_all(const graph::Graph& graph, const plan::Region& region,
                                                      const std::string& subject,
                                                      const std::vector<plan::Choice>& list);
    [[nodiscard]] std::vector<cost::PricedChoice> usable(const plan::Region& region,
                                                         const std::string& subject,
                                                         const std::vector<cost::PricedChoice>& list) const;
    Result<std::vector<std::optional<cost::Entry>>> stored(const std::string& subject,
                                                           const std::vector<plan::Choice>& list) const;
    Result<cost::Entry> timed(const graph::Graph& graph, const plan::Region& region,
                              const plan::Choice& choice, const execute::TimingProtocol& protocol);
    [[nodiscard]] int protocol_number() const;
    [[nodiscard]] cost::Key key(std::string subject, std::string choice) const;
    Result<void> check_cancelled() const;

    execute::Device& device_;
    cost::Database& database_;
    EnergyPricer energy_;
    OnDemandOptions options_;
    OnDemandCounts counts_;
    std::map<std::string, std::vector<cost::PricedChoice>> known_;  // by subject, this session
    std::map<std::string, std::vector<cost::PricedChoice>> references_;
    std::set<std::pair<std::string, std::string>> forbidden_;  // signature, choice
    std::set<std::string> only_reference_;                     // signatures
    std::map<std::string, cost::Price> conversions_;
};

}  // namespace viridian::profile
