#pragma once
// A Ledger is the account of one device: it takes the device's events in order of time, drives the sweep of
// the method over them, and writes the device and its operations into an Accounting.
#include <memory>

#include "viridian/account/account.hpp"
#include "viridian/account/attribute/nesting.hpp"
#include "viridian/account/attribute/operations.hpp"
#include "viridian/account/attribute/recency.hpp"
#include "viridian/account/deconvolve/deconvolve.hpp"
#include "viridian/account/power/power.hpp"

namespace viridian::account {

// Keeping runs the exact sweep and keeps the leaves beside it, as long as there is room for them.
class Keeping {
  public:
    Keeping(const PowerCurve& curve, std::uint64_t most) : overlap(curve), most_(most) {}
    void advance(Nanoseconds time) {
        now_ = time;
        overlap.advance(time);
    }
    std::uint32_t enter(OperationId operation, std::uint32_t weight, bool first) {
        const std::uint32_t slot = overlap.enter(operation, weight, first);
        if (slot >= starts_.size()) starts_.resize(std::size_t{slot} + 1);
        starts_[slot] = {now_, 0, operation, weight};
        return slot;
    }
    void leave(std::uint32_t slot) {
        overlap.leave(slot);
        ++count;
        if (leaves.size() == most_) return;
        starts_[slot].end = now_;
        leaves.push_back(starts_[slot]);
    }
    Overlap overlap;
    std::vector<Leaf> leaves;  // by end
    std::uint64_t count = 0;

  private:
    std::uint64_t most_;
    Nanoseconds now_ = 0;
    std::vector<Leaf> starts_;
};

class Ledger {
  public:
    // `power` is the power of `device`; `options` must outlive this object.
    Ledger(std::string device, Power power, const Options& options);
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const Power& power() const { return power_; }

    // Takes the next event of the device. `about` is the trace.
    void add(const trace::Event& event, const trace::Trace& about);
    // Ends the sweep, chooses between the exact one and a fit, and adds the device, its operations and its
    // warnings to `out`. Call once, after the last event.
    void write(const trace::Trace& about, Accounting& out);

  private:
    // What the device's operations received, by which method and why.
    struct Settled {
        Attribution shares;
        std::string method, verdict;
        std::optional<SensorFound> sensor = {};
        std::vector<std::string> warnings = {};
    };
    [[nodiscard]] Settled settle(const trace::Trace& about);
    [[nodiscard]] std::optional<std::string> reason_against_fit(const trace::Trace& about) const;
    [[nodiscard]] Deconvolution fit_leaves();
    void warn(const Settled& settled, Accounting& out) const;

    std::string name_;
    Power power_;
    const Options* options_;
    Operations operations_;
    Keeping keeping_;
    std::unique_ptr<Recency> recency_;  // only if a method of recency was asked for
    Nesting<Keeping> exact_;
    std::unique_ptr<Nesting<Recency>> recent_leaves_;  // one of these two drives it
    std::unique_ptr<WholeEvents<Recency>> recent_events_;
    std::vector<std::uint32_t> weights_;  // by operation
    std::uint64_t events_ = 0;
};

}  // namespace viridian::account
