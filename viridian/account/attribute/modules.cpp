#include "viridian/account/attribute/modules.hpp"

#include <algorithm>

namespace viridian::account {

void Modules::add(const trace::Event& event, const trace::Trace& about) {
    if (event.kind != trace::Kind::module || event.path == 0) return;
    const std::uint32_t part = about.part(event.lane);
    if (part >= by_path_.size()) by_path_.resize(part + 1);
    std::vector<std::uint32_t>& numbers = by_path_[part];
    if (event.path >= numbers.size())
        numbers.resize(std::max<std::size_t>(event.path + 1, numbers.size() * 2));
    std::uint32_t& number = numbers[event.path];
    if (number == 0) {
        entries_.push_back({event.path, event.type, event.lane});
        number = static_cast<std::uint32_t>(entries_.size());
    }
    Entry& entry = entries_[number - 1];
    ++(event.pass == trace::Pass::recompute ? entry.recomputed : entry.calls);
}

std::vector<Module> Modules::describe(const trace::Trace& about) const {
    std::vector<Module> out;
    for (const Entry& entry : entries_)
        out.push_back({about.qualified(entry.path), std::string(about.names[entry.type]), entry.calls,
                       entry.recomputed, about.process(entry.lane)});
    return out;
}

}  // namespace viridian::account
