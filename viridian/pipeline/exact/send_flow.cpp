// One deadline of the parametric flow: flow is sent from source to sink over tight arcs until none is left.
#include <algorithm>

#include "viridian/pipeline/exact/parametric_flow.hpp"

namespace viridian::pipeline {

bool ParametricFlow::open() {
    constexpr int paths_before_phases = 1;
    for (int paths = 0; side_[at(graph_.sink())] == Side::standing; ++paths)
        if (!(paths < paths_before_phases ? send_along_tree() : finish_with_phases())) return false;
    return true;
}

void ParametricFlow::fall(int node) {
    side_[at(node)] = Side::falling;
    value_[at(node)] -= time_;
}

bool ParametricFlow::send_along_tree() {
    std::int64_t amount = Residual::unlimited;
    path_.clear();
    for (int node = graph_.sink(); node != graph_.source(); node = graph_.mate(path_.back()).to) {
        path_.push_back(parent_[at(node)]);
        amount = std::min(amount, graph_.arc(path_.back()).room);
    }
    if (amount == Residual::unlimited) return false;
    total_ += amount;
    orphans_.clear();
    const auto orphan = [this](int node) {
        side_[at(node)] = Side::orphan;
        orphans_.push_back(node);
    };
    orphan(graph_.sink());
    for (const int a : path_)
        if (graph_.push(a, amount) && side_[at(graph_.arc(a).to)] == Side::standing) orphan(graph_.arc(a).to);
    collect_orphans();
    adopt_orphans();
    drop_orphans();
    return true;
}

// All that hangs on an orphan is one.
void ParametricFlow::collect_orphans() {
    for (std::size_t i = 0; i < orphans_.size(); ++i) {
        const int end = graph_.end(orphans_[i]);
        for (int a = graph_.begin(orphans_[i]); a < end; ++a) {
            const int child = graph_.arc(a).to;
            if (parent_[at(child)] != a || side_[at(child)] != Side::standing) continue;
            side_[at(child)] = Side::orphan;
            orphans_.push_back(child);
        }
    }
}

void ParametricFlow::adopt_orphans() {
    const auto adopt = [this](int node, int by) {
        side_[at(node)] = Side::standing;
        parent_[at(node)] = by;
        if (node != graph_.sink()) fresh_.push_back(node);
    };
    for (const int node : orphans_) {
        if (side_[at(node)] != Side::orphan) continue;
        const int end = graph_.end(node);
        for (int a = graph_.begin(node); a < end; ++a) {
            const int from = graph_.arc(a).to;
            if (side_[at(from)] != Side::standing || !tight(graph_.arc(a).mate, from)) continue;
            adopt(node, graph_.arc(a).mate);
            break;
        }
        while (!fresh_.empty()) {
            const int parent = fresh_.back();
            fresh_.pop_back();
            const int last = graph_.end(parent);
            for (int a = graph_.begin(parent); a < last; ++a)
                if (side_[at(graph_.arc(a).to)] == Side::orphan && tight(a, parent))
                    adopt(graph_.arc(a).to, a);
        }
    }
}

void ParametricFlow::drop_orphans() {
    std::erase_if(orphans_, [this](int node) { return side_[at(node)] != Side::orphan; });
    for (const int node : orphans_) fall(node);
    for (const int node : orphans_) {
        const int end = graph_.end(node);
        for (int a = graph_.begin(node); a < end; ++a)
            if (const int from = graph_.arc(a).to;
                side_[at(from)] == Side::standing && graph_.mate(a).room > 0)
                meet(graph_.arc(a).mate, from);
    }
    spread();
}

// Dinic within the standing nodes. The last search, which does not reach the sink, is the new tree.
bool ParametricFlow::finish_with_phases() {
    while (levels())
        if (!blocking_flow()) return false;
    orphans_.clear();
    for (int node = 0; node < graph_.nodes(); ++node)
        if (side_[at(node)] == Side::standing && level_[at(node)] < 0) {
            side_[at(node)] = Side::orphan;
            orphans_.push_back(node);
        }
    drop_orphans();
    return true;
}

bool ParametricFlow::levels() {
    std::fill(level_.begin(), level_.end(), -1);
    level_[at(graph_.source())] = 0;
    path_.assign(1, graph_.source());
    for (std::size_t head = 0; head < path_.size(); ++head) {
        const int node = path_[head], end = graph_.end(node);
        for (int a = graph_.begin(node); a < end; ++a) {
            const int to = graph_.arc(a).to;
            if (level_[at(to)] >= 0 || side_[at(to)] != Side::standing || !tight(a, node)) continue;
            level_[at(to)] = level_[at(node)] + 1;
            parent_[at(to)] = a;
            if (to == graph_.sink()) return true;
            path_.push_back(to);
        }
    }
    return false;
}

bool ParametricFlow::blocking_flow() {
    for (int node = 0; node < graph_.nodes(); ++node) next_[at(node)] = graph_.begin(node);
    path_.clear();
    int node = graph_.source();
    while (true) {
        if (node == graph_.sink()) {
            std::int64_t amount = Residual::unlimited;
            for (const int a : path_) amount = std::min(amount, graph_.arc(a).room);
            if (amount == Residual::unlimited) return false;
            total_ += amount;
            std::size_t cut = path_.size();  // the first arc that closes: go on from there
            for (std::size_t i = path_.size(); i-- > 0;)
                if (graph_.push(path_[i], amount)) cut = i;
            node = graph_.mate(path_[cut]).to;
            path_.resize(cut);
            continue;
        }
        int& a = next_[at(node)];
        const int end = graph_.end(node);
        while (a < end) {
            const int to = graph_.arc(a).to;
            if (level_[at(to)] == level_[at(node)] + 1 && side_[at(to)] == Side::standing && tight(a, node))
                break;
            ++a;
        }
        if (a < end) {
            path_.push_back(a);
            node = graph_.arc(a).to;
            continue;
        }
        if (path_.empty()) return true;
        node = graph_.mate(path_.back()).to;
        ++next_[at(node)];
        path_.pop_back();
    }
}

}  // namespace viridian::pipeline
