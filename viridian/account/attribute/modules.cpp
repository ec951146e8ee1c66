#include "viridian/account/attribute/modules.hpp"

#include <algorithm>

namespace viridian::account {

void Modules::add(const trace::Event& event) {
    if (event.kind != trace::Kind::module || event.path == 0) return;
    if (event.path >= by_path_.size())
        by_path_.resize(std::max<std::size_t>(event.path + 1, by_path_.size() * 2));
    std::uint32_t& number = by_path_[event.path];
    if (number == 0) {
        entries_.push_back({event.path, event.type});
        number = static_cast<std::uint32_t>(entries_.size());
    }
    Entry& entry = entries_[number - 1];
    ++(event.pass == trace::Pass::recompute ? entry.recomputed : entry.calls);
}

std::vector<Module> Modules::describe(const trace::Trace& about) const {
    std::vector<Module> out;
    for (const Entry& entry : entries_)
        out.push_back({about.qualified(entry.path), std::string(about.names[entry.type]), entry.calls,
                       entry.recomputed});
    return out;
}

}  // namespace viridian::account
