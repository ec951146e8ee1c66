#pragma once
// An OnDemand is a price source that measures. A price that the database lacks is timed on the device, priced
// in joules and stored, so that the next run finds it (docs/method.md, 1).
#include <chrono>
#include <map>
#include <set>

#include "viridian/cost/database.hpp"
#include "viridian/cost/source.hpp"
#include "viridian/execute/device.hpp"
#include "viridian/plan/assignment.hpp"
#include "viridian/profile/calibration.hpp"
#include "viridian/profile/energy.hpp"

namespace viridian::profile {

// OnDemandOptions say how prices are measured.
struct OnDemandOptions {
    execute::TimingProtocol protocol;
    // `allowances` names the precisions that the device was made to offer, such as "f32,bf16". Lists of
    // choices are stored under this text, so that a list without bf16 is not taken for one with it.
    std::string allowances = "f32";
    // Every choice is first timed briefly. A choice that takes more than this many times as long as the
    // best one keeps that price; the others are timed at length.
    double worth_timing = 1.3;
    // The probes are timed before and after each price, and each batch of prices, unless they were this short
    // a time ago.
    Seconds probe_every{0.1};
    // How long a process may wait in all for the machine to be as fast as it was when other prices were
    // taken. Spells in which it is slower last seconds.
    Seconds patience{5};
    bool measure = true;    // if false, nothing is timed, and a missing price is the error missing_entry
    double correction = 1;  // seconds are given this many times as long as timed (cost::correction_of)
};

// OnDemandCounts count the prices that were asked for.
struct OnDemandCounts {
    std::int64_t hits = 0;    // found in the database
    std::int64_t misses = 0;  // measured
    std::int64_t again = 0;   // timed again by `confirm`
    Seconds measuring;        // spent on the device
};

// A Survey lists prices that were asked for, each once: those that the database holds, and those that it
// lacks.
struct Survey {
    std::set<std::string> known;
    std::map<std::string, Work> missing;  // with the flop and bytes of one run
};

class OnDemand {
  public:
    // Measures on `device`, prices joules by `energy`, and stores in `database`. Device and database must
    // outlive the object.
    OnDemand(execute::Device& device, cost::Database& database, EnergyPricer energy,
             OnDemandOptions options = {});

    // Prices kernels for this network from now on: if its weights stay in the last-level cache, kernels are
    // timed with cached weights.
    void price_for(const graph::Graph& network);
    // Returns the protocol by which kernels are timed now.
    [[nodiscard]] const execute::TimingProtocol& protocol() const { return options_.protocol; }

    // Brings prices to the present: times the probes, and from now on gives every price as it would be at
    // their present times. Before the first call prices are as they were timed. Errors: those of timing.
    Result<void> calibrate();
    // Times the probes and returns how the machine changed since calibrate(). Prices stay as they are.
    // Errors: those of timing.
    [[nodiscard]] Result<Drift> drift();

    // Returns this object as a price source, which refers to it.
    [[nodiscard]] cost::PriceSource source();
    // Returns a source that measures nothing and fills `survey`: its prices are those stored, or zero. It
    // refers to this object and to `survey`.
    [[nodiscard]] cost::PriceSource counting(Survey& survey);
    // Times those of `contenders` again that were timed on one occasion only, all of them in each of
    // several rounds, so that a disturbance meets all of them. The price becomes the median of all
    // occasions. A price that was confirmed before on a machine as fast as now or faster, or is not stored,
    // stays as it is; one that was timed on a slower machine is replaced. Returns how many were timed.
    // Errors: those of timing and of the database; cancelled.
    Result<std::size_t> confirm(const graph::Graph& graph,
                                const std::vector<plan::AssignedRegion>& contenders);
    [[nodiscard]] const OnDemandCounts& counts() const { return counts_; }
    // `progress` may be empty. It is called after each measurement, with the name of what was measured.
    std::function<void(const std::string& what)> progress;
    // `cancelled` may be empty. It is asked before each measurement. If it answers true, the call ends with
    // the error `cancelled`; prices that were measured stay stored.
    std::function<bool()> cancelled;
    // forbid() leaves `choice` out of what is offered for regions of this `signature`, after a failed
    // proof; `choice` is its key. forbid_all_but_reference() leaves out all choices except the reference
    // kernel. A region without another choice is offered its reference kernel.
    void forbid(const std::string& signature, const std::string& choice);
    void forbid_all_but_reference(const std::string& signature);
    // Undoes every forbid() and forbid_all_but_reference(), because a rewrite of the graph was to blame,
    // not a kernel.
    void allow_all();

  private:
    Result<std::vector<cost::PricedChoice>> choices(const graph::Graph& graph, const plan::Region& region);
    Result<cost::Price> conversion(const graph::Dims& dims, const plan::Format& from, const plan::Format& to);
    // Returns every choice of the device for the region, as if all its inputs died there, from the database
    // or from the device.
    Result<std::vector<plan::Choice>> offered(const graph::Graph& graph, const plan::Region& region,
                                              const std::string& subject);
    // Returns `list` with its prices; measures those that are missing.
    Result<std::vector<cost::PricedChoice>> price_all(const graph::Graph& graph, const plan::Region& region,
                                                      const std::string& subject,
                                                      const std::vector<plan::Choice>& list);
    // Times, meters and stores the choices of `list` at the places `missing`, and puts them into `entries`.
    Result<void> price_missing(const graph::Graph& graph, const plan::Region& region,
                               const std::string& subject, const std::vector<plan::Choice>& list,
                               const std::vector<std::size_t>& missing,
                               std::vector<std::optional<cost::Entry>>& entries);
    // Returns those of `list` that are not forbidden and overwrite only inputs that die.
    [[nodiscard]] std::vector<cost::PricedChoice> usable(const plan::Region& region,
                                                         const std::string& subject,
                                                         const std::vector<cost::PricedChoice>& list) const;
    // Returns the entry of each choice in `list`, as far as the database has it.
    Result<std::vector<std::optional<cost::Entry>>> stored(const std::string& subject,
                                                           const std::vector<plan::Choice>& list) const;
    // Returns `entry`, timed if there is none and metered if there is a meter.
    Result<cost::Entry> priced_conversion(const graph::Dims& dims, const plan::Format& from,
                                          const plan::Format& to, std::optional<cost::Entry> entry);
    // Returns the region as if all its inputs died there.
    [[nodiscard]] static plan::Region permissive(plan::Region region);
    // Times one choice.
    Result<cost::Entry> timed(const graph::Graph& graph, const plan::Region& region,
                              const plan::Choice& choice, const execute::TimingProtocol& protocol);
    // Returns the joules that the meter gives one run of the choice, whose seconds are in `entry`.
    Result<Energy> metered(const graph::Graph& graph, const plan::Region& region, const plan::Choice& choice,
                           const cost::Entry& entry);
    // Returns the device's own choice with the key of `choice`, which is not trusted if it came from the
    // database. Errors: malformed if the device has no such kernel for the region.
    Result<plan::Choice> own_choice(const graph::Graph& graph, const plan::Region& region,
                                    const plan::Choice& choice);
    // Returns whether the entry holds all that is asked for: seconds, and joules if there is a meter.
    [[nodiscard]] bool is_complete(const cost::Entry& entry) const;
    // Returns the price of a complete entry, as it is now, for a kernel that does `work`. Without a meter its
    // joules are those of the model, for a kernel that moves `dram` bytes from and to memory.
    [[nodiscard]] cost::Price price_of(const cost::Entry& entry, const Work& work, Bytes dram) const;
    // Times the probes, unless they were timed a moment ago. A first look, and one that says that the machine
    // changed, count if the next one says the same: one that something disturbed would change every price
    // after it.
    Result<void> look();
    // Waits, as long as `patience` allows, while a probe is more than a quarter slower than it ever was.
    // Errors: those of timing and of the database; cancelled.
    Result<void> await_fast_state();
    // Calls `time`, which times a batch of prices. Calls it again if the machine became faster or slower
    // meanwhile, so that all of them are of one state; a few times at most. Returns the probe times in the
    // middle between those before and those after the last call.
    Result<cost::ProbeTimes> in_one_state(const std::function<Result<void>()>& time);
    [[nodiscard]] Bytes dram(const graph::Graph& graph, const plan::Region& region,
                             const plan::Choice& choice) const;
    void forget();  // the prices met so far, which the database has
    void count_measuring(std::chrono::steady_clock::time_point start);
    // Returns the number of the protocol in keys; it depends on whether weights are cached.
    [[nodiscard]] int protocol_number() const;
    [[nodiscard]] cost::Key key(std::string subject, std::string choice) const;
    Result<void> check_cancelled() const;

    execute::Device& device_;
    cost::Database& database_;
    EnergyPricer energy_;
    OnDemandOptions options_;
    OnDemandCounts counts_;
    Calibration calibration_;
    std::chrono::steady_clock::time_point looked_;  // when the probes were timed last
    std::optional<cost::ProbeTimes> fastest_;       // as far as is known; nothing: the database was not asked
    Seconds waited_;
    cost::ProbeTimes present_;  // prices are given as they are at these times; zeros: as they were timed
    std::map<std::string, std::vector<cost::PricedChoice>> known_;       // by subject: prices met so far
    std::map<std::string, std::vector<cost::PricedChoice>> references_;  // by subject: the reference kernel
    std::set<std::pair<std::string, std::string>> forbidden_;            // signature, choice
    std::set<std::string> only_reference_;                               // signatures
    std::set<std::string>
        own_lists_;  // signatures whose list of choices came from the device in this process
    std::map<std::string, cost::Price> conversions_;
};

}  // namespace viridian::profile
