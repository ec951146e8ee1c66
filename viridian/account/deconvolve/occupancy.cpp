#include "viridian/account/deconvolve/occupancy.hpp"

#include <algorithm>

namespace viridian::account {

Occupancy::Occupancy(std::span<const Leaf> leaves, std::span<const std::uint32_t> kind_of,
                     std::uint32_t kinds)
    : origin_(leaves.empty() ? 0 : leaves.front().start),
      kinds_(kinds),
      spacing_(std::max<std::size_t>(256, std::size_t{8} * kinds)) {
    edges_.reserve(2 * leaves.size());
    const std::uint32_t idle = kinds - 1;
    Nanoseconds busy_until = INT64_MAX;
    for (const Leaf& leaf : leaves) {
        if (leaf.start > busy_until) {
            edges_.push_back({busy_until - origin_, idle, 1});
            edges_.push_back({leaf.start - origin_, idle, -1});
        }
        busy_until = busy_until == INT64_MAX ? leaf.end : std::max(busy_until, leaf.end);
        if (leaf.end <= leaf.start) continue;  // ends a stretch of idleness all the same
        const std::uint32_t kind = kind_of[leaf.operation];
        edges_.push_back({leaf.start - origin_, kind, 1});
        edges_.push_back({leaf.end - origin_, kind, -1});
    }
    std::sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) { return a.time < b.time; });
    std::vector<std::int64_t> active(kinds_), balance(kinds_);
    for (std::size_t i = 0; i < edges_.size(); ++i) {
        if (i % spacing_ == 0) {
            snapshots_.insert(snapshots_.end(), active.begin(), active.end());
            snapshots_.insert(snapshots_.end(), balance.begin(), balance.end());
        }
        active[edges_[i].kind] += edges_[i].sign;
        balance[edges_[i].kind] += edges_[i].sign * edges_[i].time;
    }
}

Occupancy::Cursor::Cursor(const Occupancy& occupancy)
    : occupancy_(&occupancy), active_(occupancy.kinds_), balance_(occupancy.kinds_) {}

void Occupancy::Cursor::seek(Nanoseconds time) {
    const std::vector<Edge>& edges = occupancy_->edges_;
    time -= occupancy_->origin_;
    const auto after = [&](std::size_t i) { return i >= edges.size() || edges[i].time > time; };
    if (time < time_ || !after(next_ + occupancy_->spacing_)) {
        const auto found = std::upper_bound(edges.begin(), edges.end(), time,
                                            [](Nanoseconds t, const Edge& edge) { return t < edge.time; });
        const auto index = static_cast<std::size_t>(found - edges.begin());
        const std::size_t snapshot =
            edges.empty() ? 0 : std::min(index, edges.size() - 1) / occupancy_->spacing_;
        next_ = snapshot * occupancy_->spacing_;
        if (!edges.empty()) {
            const auto from = occupancy_->snapshots_.begin() +
                              static_cast<std::ptrdiff_t>(snapshot * 2 * occupancy_->kinds_);
            std::copy_n(from, occupancy_->kinds_, active_.begin());
            std::copy_n(from + occupancy_->kinds_, occupancy_->kinds_, balance_.begin());
        }
    }
    const Edge *edge = edges.data() + next_, *const end = edges.data() + edges.size();
    std::int64_t *const active = active_.data(), *const balance = balance_.data();
    for (; edge != end && edge->time <= time; ++edge) {
        active[edge->kind] += edge->sign;
        balance[edge->kind] += edge->sign * edge->time;
    }
    next_ = static_cast<std::size_t>(edge - edges.data());
    time_ = time;
}

}  // namespace viridian::account
