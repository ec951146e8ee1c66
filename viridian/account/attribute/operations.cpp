#include "viridian/account/attribute/operations.hpp"

namespace viridian::account {

OperationId Operations::of(const trace::Event& event, const trace::Trace& about) {
    const std::size_t part = about.part(event.lane);
    if (part >= known_.size()) known_.resize(part + 1);
    auto& [by_path, unqualified] = known_[part];
    const auto pass = static_cast<std::size_t>(event.pass);
    OperationId id = UINT32_MAX;
    const auto add = [&] {
        entries_.push_back({event.path, event.name, event.type, event.kind, event.pass, event.lane, false});
        return static_cast<OperationId>(entries_.size() - 1);
    };
    if (event.path != 0) {
        const std::size_t key = std::size_t{event.path} * trace::pass_count + pass;
        if (key >= by_path.size()) by_path.resize(std::max(key + 1, by_path.size() * 2));
        if (by_path[key] == 0) by_path[key] = add() + 1;
        id = by_path[key] - 1;
    } else {
        const std::uint64_t key = std::uint64_t{event.name} * trace::pass_count + pass;
        const auto found = unqualified.find(key);
        id = found != unqualified.end() ? found->second : unqualified.emplace(key, add()).first->second;
    }
    if (entries_[id].lane != event.lane) entries_[id].several_lanes = true;
    return id;
}

Operation Operations::describe(OperationId operation, const trace::Trace& about,
                               std::string_view device) const {
    const Identity& entry = entries_[operation];
    Operation out;
    out.name = entry.path != 0 ? about.qualified(entry.path) : std::string(about.names[entry.name]);
    out.parent = entry.path != 0 ? about.qualified(about.paths.parent(entry.path)) : "";
    out.type = about.names[entry.type != 0 ? entry.type : entry.name];
    out.kind = trace::name_of(entry.kind);
    out.device = device;
    out.pass = trace::name_of(entry.pass);
    out.process = about.process(entry.lane);
    if (!entry.several_lanes && entry.lane < about.lanes.size())
        out.stream = std::to_string(about.lanes[entry.lane].thread);
    return out;
}

}  // namespace viridian::account
