#include "viridian/pipeline/exact/parametric_flow.hpp"

#include <algorithm>
#include <limits>

namespace viridian::pipeline {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max() / 4;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Slots of a start node: its unit, back to the rank's unit before, back to the data's unit.
// Slots of a finish node: the rank's next unit, two followers, the sink, back through its unit.
constexpr int run = 0, back_rank = 1, start_slots = 3;  // and slot 2: back to the data
constexpr int to_next = 0, to_first = 1, to_second = 2, to_sink = 3, back_unit = 4, finish_slots = 5;

}  // namespace

ParametricFlow::ParametricFlow(const Network& network) : network_(network), units_(network.size()) {
    const std::size_t n = at(units_);
    follower_.assign(n, -1);
    second_follower_.assign(n, -1);
    final_.assign(n, 0);
    arc_.resize(n);
    for (auto* flow : {&flow_rank_, &flow_data_, &flow_source_, &flow_sink_}) flow->assign(n, 0);
    for (int u = 0; u < units_; ++u)
        if (const std::int32_t d = network.dependency[at(u)]; d >= 0)
            (follower_[at(d)] < 0 ? follower_ : second_follower_)[at(d)] = u;

    const std::vector<Nanoseconds> duration = slowest_durations(network);
    const Timing timing = evaluate(network, duration);
    potential_.resize(2 * n + 2);
    for (int u = 0; u < units_; ++u) {
        potential_[at(2 * u)] = timing.start[at(u)];
        potential_[at(2 * u + 1)] = timing.start[at(u)] + duration[at(u)];
        if (network.before(u) < 0 && network.dependency[at(u)] < 0) initial_.push_back(u);
        final_[at(u)] = network.last_of_rank(u) && follower_[at(u)] < 0 ? 1 : 0;
        cost_ += network.curve(u).slowest_cost;
        refresh(u);
    }
    potential_[at(sink())] = timing.makespan;
    level_.resize(2 * n + 2);
    distance_.resize(2 * n + 2);
    parent_.resize(2 * n + 2);
    next_slot_.resize(2 * n + 2);
}

void ParametricFlow::refresh(int unit) {
    UnitArc& arc = arc_[at(unit)];
    const Curve& curve = network_.curve(unit);
    arc.forward_length = curve.duration[at(arc.piece)];
    if (arc.amount > 0)
        arc.backward_length = arc.forward_length;
    else
        arc.backward_length = arc.piece > 0 ? curve.duration[at(arc.piece - 1)] : -1;
}

namespace {
std::int64_t capacity(const Curve& curve, std::int32_t piece) {
    if (at(piece) >= curve.slope.size()) return unlimited;
    return curve.slope[at(piece)] - (piece > 0 ? curve.slope[at(piece - 1)] : 0);
}
}  // namespace

std::int64_t ParametricFlow::forward_room(int unit) const {
    const UnitArc& arc = arc_[at(unit)];
    const std::int64_t whole = capacity(network_.curve(unit), arc.piece);
    return whole == unlimited ? unlimited : whole - arc.amount;
}

std::int64_t ParametricFlow::backward_room(int unit) const {
    const UnitArc& arc = arc_[at(unit)];
    return arc.amount > 0 ? arc.amount : capacity(network_.curve(unit), arc.piece - 1);
}

// `amount` stays within the current piece (blocking flow never asks for more than `room`).
void ParametricFlow::push_unit(int unit, std::int64_t amount) {
    UnitArc& arc = arc_[at(unit)];
    const Curve& curve = network_.curve(unit);
    if (amount < 0 && arc.amount == 0) arc.amount = capacity(curve, --arc.piece);
    arc.amount += amount;
    if (arc.amount == capacity(curve, arc.piece)) {
        ++arc.piece;
        arc.amount = 0;
    }
    refresh(unit);
}

int ParametricFlow::slots(int node) const { return (node & 1) == 0 ? start_slots : finish_slots; }

ParametricFlow::Residual ParametricFlow::residual(int node, int slot) const {
    const int u = node >> 1;
    const auto potential = [&](int other) { return potential_[at(other)]; };
    if ((node & 1) == 0) {
        if (slot == run)
            return {node + 1, potential(node + 1) - potential(node) - arc_[at(u)].forward_length};
        if (slot == back_rank) return {flow_rank_[at(u)] > 0 ? 2 * (u - 1) + 1 : -1, 0};
        return {flow_data_[at(u)] > 0 ? 2 * network_.dependency[at(u)] + 1 : -1, 0};
    }
    switch (slot) {
        case to_next:
            if (network_.last_of_rank(u)) return {};
            return {2 * (u + 1), potential(2 * (u + 1)) - potential(node)};
        case to_first:
        case to_second: {
            const std::int32_t v = (slot == to_first ? follower_ : second_follower_)[at(u)];
            if (v < 0) return {};
            return {2 * v, potential(2 * v) - potential(node) - network_.delay[at(v)]};
        }
        case to_sink:
            if (final_[at(u)] == 0) return {};
            return {sink(), potential(sink()) - potential(node)};
        default: {
            const Nanoseconds length = arc_[at(u)].backward_length;
            if (length < 0) return {};
            return {node - 1, length - (potential(node) - potential(node - 1))};
        }
    }
}

std::int64_t ParametricFlow::room(int node, int slot) const {
    const int u = node >> 1;
    if ((node & 1) == 0) {
        if (slot == run) return forward_room(u);
        return slot == back_rank ? flow_rank_[at(u)] : flow_data_[at(u)];
    }
    return slot == back_unit ? backward_room(u) : unlimited;
}

void ParametricFlow::push(int node, int slot, std::int64_t amount) {
    const int u = node >> 1;
    if ((node & 1) == 0) {
        if (slot == run)
            push_unit(u, amount);
        else
            (slot == back_rank ? flow_rank_ : flow_data_)[at(u)] -= amount;
        return;
    }
    if (slot == to_next)
        flow_rank_[at(u + 1)] += amount;
    else if (slot == to_first)
        flow_data_[at(follower_[at(u)])] += amount;
    else if (slot == to_second)
        flow_data_[at(second_follower_[at(u)])] += amount;
    else if (slot == to_sink)
        flow_sink_[at(u)] += amount;
    else
        push_unit(u, -amount);
}

bool ParametricFlow::reach() {
    std::fill(level_.begin(), level_.end(), -1);
    level_[at(source())] = 0;
    queue_.clear();
    border_.clear();
    for (const std::int32_t u : initial_)
        if (potential_[at(2 * u)] == 0) {
            level_[at(2 * u)] = 1;
            queue_.push_back(2 * u);
        }
    for (std::size_t head = 0; head < queue_.size(); ++head) {
        const int node = queue_[head];
        const int count = slots(node);
        for (int slot = 0; slot < count; ++slot) {
            const Residual next = residual(node, slot);
            if (next.to < 0 || level_[at(next.to)] >= 0) continue;
            if (next.slack != 0) {
                border_.push_back({next.slack, next.to, node});
                continue;
            }
            level_[at(next.to)] = level_[at(node)] + 1;
            if (next.to == sink()) return true;
            queue_.push_back(next.to);
        }
    }
    return false;
}

bool ParametricFlow::saturate() {
    std::fill(next_slot_.begin(), next_slot_.end(), std::uint16_t{0});
    for (const std::int32_t first : initial_) {
        if (level_[at(2 * first)] != 1 || potential_[at(2 * first)] != 0) continue;
        path_.clear();
        int node = 2 * first;
        while (true) {
            if (node == sink()) {
                std::int64_t amount = unlimited;
                for (const auto& [from, slot] : path_) amount = std::min(amount, room(from, slot));
                if (amount >= unlimited) return false;
                std::size_t cut = path_.size();
                for (std::size_t i = path_.size(); i-- > 0;) {
                    if (room(path_[i].first, path_[i].second) == amount) cut = i;
                    push(path_[i].first, path_[i].second, amount);
                }
                flow_source_[at(first)] += amount;
                total_ += amount;
                node = path_[cut].first;
                path_.resize(cut);
                continue;
            }
            bool forward = false;
            const int count = slots(node);
            for (std::uint16_t& slot = next_slot_[at(node)]; slot < count; ++slot) {
                const Residual next = residual(node, slot);
                if (next.to < 0 || next.slack != 0 || level_[at(next.to)] != level_[at(node)] + 1) continue;
                path_.emplace_back(node, slot);
                node = next.to;
                forward = true;
                break;
            }
            if (forward) continue;
            if (path_.empty()) break;
            node = path_.back().first;
            path_.pop_back();
            ++next_slot_[at(node)];
        }
    }
    return true;
}

// Dijkstra from the reached set over reduced lengths, up to the sink. Reached nodes keep their potentials; a
// node at distance d falls by min(d, shift), and gets a level, so that `saturate` can follow without another
// search.
Nanoseconds ParametricFlow::shift(Nanoseconds most) {
    constexpr Nanoseconds far = std::numeric_limits<Nanoseconds>::max() / 2;
    const auto later = [](const auto& a, const auto& b) { return a.first > b.first; };
    std::fill(distance_.begin(), distance_.end(), far);
    heap_.clear();
    settled_.clear();
    Nanoseconds limit = most;  // nothing farther matters
    const auto offer = [&](int node, int from, Nanoseconds distance) {
        if (level_[at(node)] >= 0 || distance >= distance_[at(node)] || distance > limit) return;
        distance_[at(node)] = distance;
        parent_[at(node)] = from;
        if (node == sink()) limit = distance;
        heap_.emplace_back(distance, node);
        std::push_heap(heap_.begin(), heap_.end(), later);
    };
    for (const Border& arc : border_) offer(arc.to, arc.from, arc.slack);
    for (const std::int32_t u : initial_)
        offer(2 * u, source(), potential_[at(2 * u)]);  // arcs without length
    while (!heap_.empty()) {
        const auto [distance, node] = heap_.front();
        std::pop_heap(heap_.begin(), heap_.end(), later);
        heap_.pop_back();
        if (distance > limit) break;
        if (distance != distance_[at(node)]) continue;
        settled_.push_back(node);
        if (node == sink()) continue;
        const int count = slots(node);
        for (int slot = 0; slot < count; ++slot)
            if (const Residual next = residual(node, slot); next.to >= 0)
                offer(next.to, node, distance + next.slack);
    }
    const Nanoseconds fall = std::min(limit, most);
    for (std::size_t v = 0; v < potential_.size(); ++v)
        if (level_[v] < 0) potential_[v] -= std::min(distance_[v], fall);
    for (const std::int32_t node : settled_) {  // tight from their parents now
        level_[at(node)] = level_[at(parent_[at(node)])] + 1;
        reached_ = reached_ || (node == sink() && settled_.size() < 64);  // else better levels pay
    }
    return fall;
}

bool ParametricFlow::advance(Nanoseconds deadline) {
    if (fastest_ || time() <= deadline) return false;
    while (reached_ || reach()) {
        reached_ = false;
        if (!saturate()) {
            fastest_ = true;
            return false;
        }
    }
    const Nanoseconds fall = shift(time() - deadline);
    cost_ += static_cast<Int128>(total_) * fall;
    return true;
}

FlowSolution ParametricFlow::solution() const {
    FlowSolution out;
    out.time = time();
    const std::size_t n = at(units_);
    out.start.resize(n);
    out.finish.resize(n);
    out.unit.resize(n);
    for (int u = 0; u < units_; ++u) {
        out.start[at(u)] = potential_[at(2 * u)];
        out.finish[at(u)] = potential_[at(2 * u + 1)];
        const Curve& curve = network_.curve(u);
        const UnitArc& arc = arc_[at(u)];
        out.unit[at(u)] = arc.amount + (arc.piece > 0 ? curve.slope[at(arc.piece - 1)] : 0);
    }
    out.from_rank = flow_rank_;
    out.from_data = flow_data_;
    out.from_source = flow_source_;
    out.to_sink = flow_sink_;
    out.total = total_;
    return out;
}

}  // namespace viridian::pipeline
