#pragma once
// Occupancy is an index that answers how long each kind of operation was active up to any instant t, summed
// over instances: C_k(t) = n_k(t) * t - Q_k(t), with n_k the instances active at t and Q_k the sum of starts
// less the sum of ends so far. All numbers are integers, so the answers are exact. It takes 32 bytes of
// memory for each leaf and a snapshot every few hundred edges.
#include <span>
#include <vector>

#include "viridian/account/attribute/leaf.hpp"

namespace viridian::account {

class Occupancy {
  public:
    // `leaves` are sorted by their start. `kind_of[operation]` is below `kinds` - 1, because the last kind is
    // idleness, when no leaf is active.
    Occupancy(std::span<const Leaf> leaves, std::span<const std::uint32_t> kind_of, std::uint32_t kinds);

    // An Edge is one instant at which a leaf begins or ends.
    struct Edge {
        Nanoseconds time;  // since the first leaf began
        std::uint32_t kind;
        std::int32_t sign;  // 1: begins, -1: ends
    };
    [[nodiscard]] std::span<const Edge> edges() const { return edges_; }
    [[nodiscard]] std::uint32_t kinds() const { return kinds_; }
    [[nodiscard]] Nanoseconds begin() const { return origin_; }  // of the first leaf
    [[nodiscard]] Nanoseconds end() const { return origin_ + (edges_.empty() ? 0 : edges_.back().time); }
    // Returns an upper estimate of the bytes of memory that an index of `leaves` leaves takes.
    [[nodiscard]] static std::size_t bytes(std::size_t leaves) { return leaves * 40; }

    // A Cursor answers questions about one instant. It may seek any time; near and ascending seeks are cheap.
    class Cursor {
      public:
        explicit Cursor(const Occupancy& occupancy);
        void seek(Nanoseconds time);
        // Returns the nanoseconds for which instances of `kind` were active from `begin` to the sought time,
        // summed over instances.
        [[nodiscard]] std::int64_t until(std::uint32_t kind) const {
            return active_[kind] * time_ - balance_[kind];
        }
        // Returns how many instances of `kind` are active at the sought time.
        [[nodiscard]] std::int64_t active(std::uint32_t kind) const { return active_[kind]; }

      private:
        const Occupancy* occupancy_;
        std::size_t next_ = 0;  // first edge after the sought time
        Nanoseconds time_ = 0;
        std::vector<std::int64_t> active_, balance_;
    };

  private:
    Nanoseconds origin_ = 0;
    std::uint32_t kinds_;
    std::size_t spacing_;
    std::vector<Edge> edges_;
    std::vector<std::int64_t> snapshots_;  // active, balance of every kind, each `spacing_` edges
};

}  // namespace viridian::account
