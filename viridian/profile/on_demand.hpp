#pragma once
// A cost source that measures: what the database lacks is asked of the device, timed, priced in joules and
// stored, so that the next run finds it (docs/method.md, 1).
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
    // Choices slower than this many times the best after a quick look are stored with that look and not timed
    // further.
    double worth_timing = 1.3;
    bool measure = true;  // false: a missing entry is an error, nothing is timed
};

struct OnDemandCounts {
    std::int64_t hits = 0;
    std::int64_t misses = 0;
    std::int64_t again = 0;  // timed again by `confirm`
    Seconds measuring;       // spent on the device
};

// What the database holds of the prices that were asked for, and what it lacks; each once.
struct Survey {
    std::set<std::string> known, missing;
    double missing_bytes =
        0;  // of what their kernels read and write, once: how long a price takes grows with it
};

class OnDemand {
  public:
    OnDemand(execute::Device& device, cost::Database& database, EnergyPricer energy,
             OnDemandOptions options = {});

    // Prices are for kernels of this network from now on: whether its weights stay in the last-level cache
    // decides how they are timed.
    void price_for(const graph::Graph& network);
    [[nodiscard]] const execute::TimingProtocol& protocol() const { return options_.protocol; }

    // Refers to this object.
    [[nodiscard]] cost::Source source();
    // Measures nothing: fills `survey`, prices are those stored, else zero. Refers to this object and it.
    [[nodiscard]] cost::Source counting(Survey& survey);
    // Times these again, all of them in each of several rounds, so that what disturbs one disturbs the
    // others; the price becomes the median of all occasions. What was confirmed before is left. Returns how
    // many were timed.
    Result<std::size_t> confirm(const graph::Graph& graph,
                                const std::vector<plan::AssignedRegion>& contenders);
    [[nodiscard]] const OnDemandCounts& counts() const { return counts_; }
    // Called after each measurement with what was measured.
    std::function<void(const std::string& what)> progress;
    // Asked before each measurement; true ends it with the error `cancelled` (what was measured stays
    // stored).
    std::function<bool()> cancelled;
    // Never offered again: what a failed proof forbids. Of a region that has no other choice left, its
    // reference kernel is offered.
    void forbid(const std::string& signature, const std::string& choice);
    void forbid_all_but_reference(const std::string& signature);
    void forgive();  // all of them are offered again: another graph was to blame

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
