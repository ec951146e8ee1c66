#include "viridian/trace/join/nest.hpp"

#include <algorithm>

namespace viridian::trace {
namespace {

bool names_others(Kind kind) {
    return kind == Kind::operation || kind == Kind::module || kind == Kind::scope;
}

}  // namespace

const Nest::Open* Nest::enter(Event& event, Nanoseconds slack) {
    event.instance = ++last_;
    if (event.lane >= lanes_.size()) lanes_.resize(event.lane + 1);
    const std::vector<Open>& open = lanes_[event.lane];
    for (auto one = open.rbegin(); one != open.rend(); ++one) {
        if (one->end <= event.start || one->end + slack < event.end) continue;
        event.parent = one->instance;
        event.depth = one->depth + 1;
        if (event.scope == 0) event.scope = one->scope;
        if (event.pass == Pass::unknown) event.pass = one->pass;
        if (event.forward == 0 && event.kind == Kind::operation) event.forward = one->forward;
        return &*one;
    }
    return nullptr;
}

// Whatever ends no later than a newer event can enclose nothing that the newer one does not: it goes, and the
// ends on a stack fall from bottom to top. So each event is looked at once, however they overlap.
void Nest::open(const Event& event) {
    if (event.end <= event.start || event.kind >= Kind::marker) return;
    std::vector<Open>& open = lanes_[event.lane];
    while (!open.empty() && open.back().end <= event.end) open.pop_back();
    open.push_back({event.end, event.instance, event.path, event.scope, event.kind, event.pass, event.forward,
                    event.depth, event.type});
}

const Nest::Open* Nest::innermost(LaneId lane, Nanoseconds time) const {
    if (lane >= lanes_.size()) return nullptr;
    const std::vector<Open>& open = lanes_[lane];
    const auto found = std::find_if(open.rbegin(), open.rend(), [&](const Open& one) {
        return one.end > time && names_others(one.kind);
    });
    return found == open.rend() ? nullptr : &*found;
}

const Nest::Open* Nest::top(LaneId lane, Nanoseconds time) const {
    if (lane >= lanes_.size()) return nullptr;
    const std::vector<Open>& open = lanes_[lane];
    const auto found =
        std::find_if(open.rbegin(), open.rend(), [&](const Open& one) { return one.end > time; });
    return found == open.rend() ? nullptr : &*found;
}

void qualify(Event& event, const Nest::Open* parent, Trace& about) {
    const PathId above = parent != nullptr ? parent->path : event.scope;
    const bool adds = names_others(event.kind) || is_work(event.kind) || event.kind == Kind::launch;
    event.path = adds ? about.paths.add(above, event.name) : above;
    if (event.kind == Kind::module || event.kind == Kind::scope) event.scope = event.path;
    if (event.type == 0) event.type = event.name;
}

}  // namespace viridian::trace
