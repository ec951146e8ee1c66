#pragma once
// A Recording keeps every price that a source gave, by signature, and is written as one JSON file, so that
// the file alone answers a solver later. The source made from it knows nothing else: a request for a price
// that was not recorded is the error missing_entry.
//
//     {"schema": "viridian.recording/1", "device": "synthetic-gpu, seed 1", "provenance": "estimated:…",
//      "choices": [a plan::Choice, …],
//      "regions": {"<hash of the signature>": [[choice, microseconds, millijoules], …]},
//      "conversions": {"[dims] from to": [microseconds, millijoules]}}
#include <map>
#include <memory>
#include <span>

#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"
#include "viridian/cost/source.hpp"

namespace viridian::cost {

inline constexpr std::string_view recording_schema = "viridian.recording/1";

class Recording {
  public:
    std::string device;
    Provenance provenance;  // of the first price that was recorded

    // Returns a source that asks `inner` and keeps its answers, rounded as the file rounds them. This object
    // must outlive it.
    [[nodiscard]] PriceSource recorded(PriceSource inner);
    // Records the prices of these regions anew, because measured prices may have been confirmed since.
    // Errors: those of `source`.
    [[nodiscard]] Result<void> record_again(const graph::Graph& graph, std::span<const plan::Region> regions,
                                            const PriceSource& source);
    // Returns a source that answers from `recording` alone.
    [[nodiscard]] static PriceSource source(std::shared_ptr<const Recording> recording);
    [[nodiscard]] std::size_t regions() const { return regions_.size(); }

    [[nodiscard]] Json to_json() const;
    // Returns the file's text: JSON with one line per region, so that a difference can be read.
    [[nodiscard]] std::string to_text() const;
    // Reads such a file. Errors: malformed.
    [[nodiscard]] static Result<Recording> from_json(const Json& json);

  private:
    // A Priced is a recorded price, with the number of its choice.
    struct Priced {
        std::size_t choice = 0;
        double seconds = 0, joules = 0;
    };
    // Keeps the first provenance that was recorded.
    void learn(const Provenance& from);
    // Records the prices of all choices of a region under `subject`, the hash of its signature.
    Result<void> keep(std::uint64_t subject, const graph::Graph& graph, const plan::Region& region,
                      const PriceSource& source);
    [[nodiscard]] Price price(double seconds, double joules) const;
    // Returns the choices of `list` that fit the region and overwrite only inputs that die.
    [[nodiscard]] std::vector<PricedChoice> usable(const std::vector<Priced>& list,
                                                   const plan::Region& region) const;

    std::vector<plan::Choice> choices_;
    std::map<std::string, std::size_t> numbers_;  // of choices, by their JSON
    std::map<std::uint64_t, std::vector<Priced>> regions_;
    std::map<std::string, Priced> conversions_;
};

}  // namespace viridian::cost
