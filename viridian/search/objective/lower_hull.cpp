#include "viridian/search/objective/lower_hull.hpp"

#include <algorithm>
#include <cmath>

namespace viridian::search {

Seconds LowerHull::left() const {
    const auto gone = std::chrono::steady_clock::now() - begin_;
    return Seconds(options_->exact.time_limit.value - std::chrono::duration<double>(gone).count());
}

Result<LowerHull::Vertex> LowerHull::support(double wx, double wy) const {
    AssignOptions options = *options_;
    options.exact.time_limit = std::max(left(), Seconds(0));
    Weights weights;
    add_weight(weights, x_, wx);
    add_weight(weights, y_, wy);
    VIRIDIAN_TRY(Outcome outcome, solve_additive(*instance_, weights, options));
    const double scale = std::abs(outcome.assignment.value);
    proven_ = proven_ && outcome.assignment.gap() <= 1e-9 * scale && outcome.restricted_values == 0;
    if (outcome.restricted_values == 0) lines_.push_back({wx, wy, outcome.assignment.bound - 1e-9 * scale});
    return Vertex{measure(x_, outcome.totals), measure(y_, outcome.totals), std::move(outcome)};
}

bool LowerHull::insert(Vertex vertex) {
    const auto at = std::lower_bound(vertices_.begin(), vertices_.end(), vertex,
                                     [](const Vertex& a, const Vertex& b) { return a.x < b.x; });
    const auto same = [&](const Vertex& other) {
        return std::abs(other.x - vertex.x) <= 1e-9 * std::abs(other.x) &&
               std::abs(other.y - vertex.y) <= 1e-9 * std::abs(other.y);
    };
    if ((at != vertices_.end() && same(*at)) || (at != vertices_.begin() && same(*std::prev(at))))
        return false;
    const auto place = at - vertices_.begin();
    const bool within = at != vertices_.begin() && at != vertices_.end();
    vertices_.insert(at, std::move(vertex));
    if (vertices_.size() > 1) {
        // The piece it falls into becomes two; at an end, one more.
        const auto piece = std::min<std::ptrdiff_t>(place, static_cast<std::ptrdiff_t>(closed_.size()));
        closed_.insert(closed_.begin() + piece, false);
        if (within) closed_[static_cast<std::size_t>(piece) - 1] = false;
    }
    return true;
}

Result<bool> LowerHull::refine(std::size_t i) {
    const Vertex &a = vertices_[i], &b = vertices_[i + 1];
    const double wx = a.y - b.y, wy = b.x - a.x;
    const double level = wx * a.x + wy * a.y;
    VIRIDIAN_TRY(Vertex found, support(wx, wy));
    const double scale = std::abs(wx * a.x) + std::abs(wy * a.y);
    const bool below = wx * found.x + wy * found.y < level - 1e-9 * scale && found.x > a.x && found.x < b.x;
    if (below && insert(std::move(found))) return true;
    closed_[i] = true;
    return false;
}

}  // namespace viridian::search
