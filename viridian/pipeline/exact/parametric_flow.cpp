#include "viridian/pipeline/exact/parametric_flow.hpp"

#include <algorithm>

namespace viridian::pipeline {

ParametricFlow::ParametricFlow(const Network& network)
    : graph_(network), events_(evaluate(network, slowest_durations(network)).makespan) {
    const std::vector<Nanoseconds> duration = slowest_durations(network);
    const Timing timing = evaluate(network, duration);
    time_ = timing.makespan;
    const std::size_t nodes = at(graph_.nodes());
    value_.resize(nodes);
    side_.assign(nodes, Side::falling);
    parent_.assign(nodes, -1);
    level_.resize(nodes);
    next_.resize(nodes);
    for (int u = 0; u < network.size(); ++u) {
        value_[at(2 * u)] = timing.start[at(u)] - time_;
        value_[at(2 * u + 1)] = timing.start[at(u)] + duration[at(u)] - time_;
        cost_ += network.curve(u).slowest_cost;
    }
    value_[at(graph_.source())] = -time_;
    stand(graph_.source(), -1);
    spread();
}

void ParametricFlow::stand(int node, int by) {
    side_[at(node)] = Side::standing;
    parent_[at(node)] = by;
    value_[at(node)] += time_;
    fresh_.push_back(node);
}

void ParametricFlow::meet(int a, int from) {
    const Arc& arc = graph_.arc(a);
    const Nanoseconds when = value_[at(from)] + arc.length - value_[at(arc.to)];
    if (when >= time_)
        stand(arc.to, a);
    else if (when >= 0)
        events_.push({when, a});
}

void ParametricFlow::spread() {
    while (!fresh_.empty()) {
        const int node = fresh_.back();
        fresh_.pop_back();
        const int end = graph_.end(node);
        if (node == graph_.sink()) continue;
        for (int a = graph_.begin(node); a < end; ++a)
            if (graph_.arc(a).room > 0 && side_[at(graph_.arc(a).to)] == Side::falling) meet(a, node);
    }
}

bool ParametricFlow::advance(Nanoseconds deadline) {
    if (fastest_ || time_ <= deadline) return false;
    if (!open()) {
        fastest_ = true;
        return false;
    }
    const auto holds = [this](const Event& event) {
        const Arc& arc = graph_.arc(event.arc);
        const int from = graph_.arc(arc.mate).to;
        return side_[at(from)] == Side::standing && side_[at(arc.to)] == Side::falling && arc.room > 0 &&
               value_[at(from)] + arc.length - value_[at(arc.to)] == event.time;
    };
    const Nanoseconds before = time_;
    while (side_[at(graph_.sink())] != Side::standing) {
        Event event{};
        if (!events_.pop(deadline, holds, event)) {
            time_ = deadline;
            break;
        }
        time_ = event.time;
        stand(graph_.arc(event.arc).to, event.arc);
        spread();
    }
    cost_ += static_cast<Int128>(total_) * (before - time_);
    return true;
}

FlowSolution ParametricFlow::solution() const {
    FlowSolution out;
    solution(out);
    return out;
}

void ParametricFlow::solution(FlowSolution& out) const {
    const int units = graph_.source() / 2;
    for (auto* list :
         {&out.start, &out.finish, &out.unit, &out.from_rank, &out.from_data, &out.from_source, &out.to_sink})
        list->resize(at(units));
    const auto moment = [&](int node) {
        return value_[at(node)] + (side_[at(node)] == Side::standing ? 0 : time_);
    };
    for (int u = 0; u < units; ++u) {
        out.start[at(u)] = moment(2 * u);
        out.finish[at(u)] = moment(2 * u + 1);
        out.unit[at(u)] = graph_.through(u);
        out.from_rank[at(u)] = graph_.from_rank(u);
        out.from_data[at(u)] = graph_.from_data(u);
        out.from_source[at(u)] = graph_.from_source(u);
        out.to_sink[at(u)] = graph_.to_sink(u);
    }
    out.time = time_;
    out.total = total_;
}

}  // namespace viridian::pipeline
