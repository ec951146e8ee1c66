#include "viridian/trace/join/resolve.hpp"

#include <algorithm>
#include <limits>

namespace viridian::trace {
namespace {

constexpr std::size_t batch = 1U << 14;

SpillOptions share(SpillOptions options) {
    options.budget /= 4;
    return options;
}

Nanoseconds plus(Nanoseconds a, Nanoseconds b) {
    Nanoseconds sum = 0;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return a > 0 ? std::numeric_limits<Nanoseconds>::max() / 2 : std::numeric_limits<Nanoseconds>::min() / 2;
}

bool accelerator_work(Kind kind) { return is_work(kind) && kind != Kind::operation; }

std::uint64_t sequence_key(LaneId lane, std::int64_t sequence) {
    return std::uint64_t{lane} << 44U |
           (static_cast<std::uint64_t>(sequence) & ((std::uint64_t{1} << 44U) - 1));
}

}  // namespace

Resolver::Resolver(TraceTables& tables, RawEvents& events, const SpillOptions& spill, Nanoseconds offset,
                   Nanoseconds slack, bool flows_are_data)
    : tables_(tables),
      events_(events),
      offset_(offset),
      slack_(slack),
      flows_are_data_(flows_are_data),
      known_paths_(tables.about.paths.size()),
      launches_(share(spill)),
      externals_(share(spill)),
      forwards_(share(spill)),
      flows_(share(spill)) {}

Resolver::Link Resolver::link_of(const Nest::Open& open) {
    return {open.instance, open.forward, open.path, open.scope, open.pass, open.kind == Kind::operation};
}

Resolver::Link Resolver::link_of(const Event& event) {
    return {event.instance, event.forward, event.path,
            event.scope,    event.pass,    event.kind == Kind::operation};
}

Result<std::span<const Event>> Resolver::next() {
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(handed_));
    handed_ = 0;
    while (!done_ &&
           pending_.size() < 2 * batch) {  // a second batch behind the first: late launches reach back
        VIRIDIAN_TRY(const Raw* raw, events_.next());
        if (raw == nullptr)
            done_ = true;
        else
            VIRIDIAN_TRY(take(*raw));
    }
    hand_out(std::min(pending_.size(), batch));
    return std::span<const Event>(pending_).first(handed_);
}

void Resolver::hand_out(std::size_t count) {
    handed_ = count;
    Trace& about = tables_.about;
    for (const Event& event : std::span(pending_).first(count)) {
        if (about.events++ == 0) about.begin = about.end = event.start;
        about.end = std::max(about.end, event.end);
        if (!accelerator_work(event.kind) || event.owner != 0) continue;
        if (event.scope == 0) ++about.unowned;
    }
    if (waiting_.size() < 4 * batch || count == 0) return;
    const InstanceId last = pending_[count - 1].instance;
    std::erase_if(waiting_, [last](const auto& entry) { return entry.second.back() <= last; });
}

Result<void> Resolver::take(const Raw& raw) {
    const TraceTables::Rule rule =
        raw.lane < tables_.rules.size() ? tables_.rules[raw.lane] : TraceTables::Rule{};
    if (rule.drop) return {};
    if (raw.phase != Raw::Phase::slice) return flow(raw, plus(raw.start, offset_));
    Event event;
    event.start = plus(raw.start, offset_);
    event.end = plus(raw.end, offset_);
    event.correlation = raw.correlation;
    event.sequence = std::max<std::int64_t>(raw.sequence, -1);
    event.value = raw.value;
    event.name = raw.name;
    event.type = raw.type;
    event.lane = raw.lane;
    event.device = tables_.about.lanes[raw.lane].device;
    event.kind = raw.kind;
    event.pass = raw.pass;
    if (rule.kind && raw.kind != Kind::copy && raw.kind != Kind::fill && raw.kind < Kind::marker)
        event.kind = *rule.kind;

    const Nest::Open* const parent = nest_.enter(event, slack_);
    if (event.kind == Kind::operation && raw.pass == Pass::backward) VIRIDIAN_TRY(backward(raw, event));
    const bool repeats =
        parent != nullptr && (parent->pass == Pass::backward || parent->pass == Pass::recompute);
    if (repeats && raw.pass == Pass::forward) event.pass = Pass::recompute;
    path_of(raw, parent, event);
    if (event.kind == Kind::operation) {
        const bool makes_gradient =
            raw.sequence >= 0 && raw.forward_thread == 0 && raw.pass != Pass::backward;
        if (makes_gradient && event.pass == Pass::unknown) event.pass = Pass::forward;
        if (makes_gradient && events_.backward_seen()) {
            VIRIDIAN_TRY(forwards_.add(sequence_key(event.lane, raw.sequence), link_of(event)));
            if (std::ranges::find(forward_lanes_, event.lane) == forward_lanes_.end() &&
                forward_lanes_.size() < 64)
                forward_lanes_.push_back(event.lane);
        }
        if (raw.external != 0) VIRIDIAN_TRY(externals_.add(raw.external, link_of(event)));
    } else if (event.kind == Kind::launch) {
        VIRIDIAN_TRY(launch(raw, event));
    } else if (accelerator_work(event.kind)) {
        VIRIDIAN_TRY(accelerated(raw, event));
    }
    nest_.open(event);
    pending_.push_back(event);
    return {};
}

void Resolver::path_of(const Raw& raw, const Nest::Open* parent, Event& event) {
    Paths& paths = tables_.about.paths;
    if ((raw.whole || raw.path != 0) && raw.path < known_paths_ && !raw.relative) {
        event.path = raw.path;
        event.scope = raw.scope < known_paths_ ? raw.scope : 0;
    } else if (raw.no_part) {
        event.path = parent != nullptr ? parent->path : event.scope;
    } else if (raw.relative) {
        // "encoder.layer.0" inside "encoder" goes on where that ends; elsewhere its parts follow the scope.
        const PathId above = event.scope;
        PathId shared = raw.path;
        while (paths.depth(shared) > paths.depth(above)) shared = paths.parent(shared);
        if (shared == above) {
            event.path = raw.path;
        } else {
            std::vector<NameId> parts;
            for (PathId path = raw.path; path != 0; path = paths.parent(path))
                parts.push_back(paths.part(path));
            event.path = parent != nullptr ? parent->path : above;
            for (auto part = parts.rbegin(); part != parts.rend(); ++part)
                event.path = paths.add(event.path, *part);
        }
        event.scope = event.path;
    } else if (event.kind == Kind::operation && raw.pass == Pass::backward &&
               (raw.sequence == Raw::follows
                    ? event.scope != 0
                    : event.forward != 0 && (parent == nullptr || parent->forward != event.forward))) {
        event.path = paths.add(event.scope, event.name);  // under the module of its forward operator
    } else {
        qualify(event, parent, tables_.about);
    }
}

Result<void> Resolver::launch(const Raw& raw, const Event& event) {
    if (raw.correlation == 0) return {};
    const Nest::Open* const inside = nest_.innermost(event.lane, event.start);
    Link link = inside != nullptr ? link_of(*inside) : link_of(event);
    if (!link.is_operation && raw.external != 0) {
        VIRIDIAN_TRY(const std::optional<Link> found, externals_.find(raw.external));
        if (found) link = *found;
    }
    VIRIDIAN_TRY(launches_.add(raw.correlation, link));
    const auto found = waiting_.find(raw.correlation);
    if (found == waiting_.end()) return {};
    for (const InstanceId instance : found->second) {
        const InstanceId back = event.instance - instance;
        if (back <= pending_.size() && pending_[pending_.size() - back].owner == 0)
            own(pending_[pending_.size() - back], link);
    }
    waiting_.erase(found);
    return {};
}

Result<void> Resolver::accelerated(const Raw& raw, Event& event) {
    std::optional<Link> link;
    if (raw.correlation != 0) {
        VIRIDIAN_TRY(link, launches_.find(raw.correlation));
    }
    if ((!link || !link->is_operation) && raw.external != 0) {
        VIRIDIAN_TRY(const std::optional<Link> found, externals_.find(raw.external));
        if (found) link = found;
    }
    if (link)
        own(event, *link);
    else if (raw.correlation != 0)
        waiting_[raw.correlation].push_back(event.instance);
    return {};
}

void Resolver::own(Event& event, const Link& link) {
    event.owner = link.instance;
    event.forward = link.forward;
    if (link.pass != Pass::unknown) event.pass = link.pass;
    if (event.scope != 0) return;  // the format knew the whole name
    event.scope = link.scope;
    event.path = tables_.about.paths.add(link.path, event.name);
}

Result<void> Resolver::backward(const Raw& raw, Event& event) {
    if (raw.sequence == Raw::follows) {
        if (const auto found = last_backward_.find(event.lane); found != last_backward_.end())
            event.scope = found->second.scope;
        return {};
    }
    if (raw.sequence < 0) return {};  // what encloses it may know the forward operator
    std::optional<Link> link;
    if (const auto known = forward_lane_.find(raw.forward_thread); known != forward_lane_.end()) {
        VIRIDIAN_TRY(link, forwards_.find(sequence_key(known->second, raw.sequence)));
    } else {
        std::size_t hits = 0;
        LaneId lane = 0;
        for (const LaneId candidate : forward_lanes_) {
            VIRIDIAN_TRY(const std::optional<Link> found,
                         forwards_.find(sequence_key(candidate, raw.sequence)));
            if (!found) continue;
            ++hits;
            if (!link || found->instance > link->instance) link = found, lane = candidate;
        }
        if (hits == 1 && raw.forward_thread != 0) forward_lane_.emplace(raw.forward_thread, lane);
    }
    if (!link) return {};
    event.forward = link->instance;
    event.scope = link->scope;
    last_backward_[event.lane] = *link;
    return {};
}

// A flow leaves the slice that is open on its lane, and arrives at the one that is open or starts there.
Result<void> Resolver::flow(const Raw& raw, Nanoseconds time) {
    const Nest::Open* const slice = nest_.top(raw.lane, time);
    if (slice == nullptr) return {};
    if (raw.phase == Raw::Phase::flow_out) return flows_.add(raw.correlation, link_of(*slice));
    VIRIDIAN_TRY(const std::optional<Link> from, flows_.find(raw.correlation));
    if (!from) return {};
    if (accelerator_work(slice->kind)) {
        const InstanceId first = pending_.empty() ? 0 : pending_.front().instance;
        if (first != 0 && slice->instance >= first && pending_[slice->instance - first].owner == 0)
            own(pending_[slice->instance - first], *from);
    } else if (flows_are_data_ && from->instance != slice->instance) {
        tables_.edge(from->path, slice->path);
    }
    return {};
}

}  // namespace viridian::trace
