#include "viridian/trace/names.hpp"

#include <algorithm>
#include <cstring>

namespace viridian::trace {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 16;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

// In memory only: it may change between versions. Sixteen bytes at a time.
std::uint64_t hash_of(std::string_view text) {
    constexpr std::uint64_t a = 0x9e3779b97f4a7c15U, b = 0xd6e8feb86659fd93U;
    std::uint64_t state = a ^ text.size();
    const char* bytes = text.data();
    std::size_t left = text.size();
    const auto word = [](const char* from, std::size_t count) {
        std::uint64_t value = 0;
        std::memcpy(&value, from, count);
        return value;
    };
    for (; left > 16; left -= 16, bytes += 16) state = mix(word(bytes, 8) ^ b, word(bytes + 8, 8) ^ state);
    const std::size_t low = std::min<std::size_t>(left, 8);
    return mix(word(bytes, low) ^ b ^ state, word(bytes + low, left - low) ^ a ^ (state >> 32U));
}

}  // namespace

Names::Names() : slots_(1024), texts_(1) {}

Names::Names(const Names& other) : slots_(other.slots_), texts_(other.texts_), blocks_(other.blocks_) {}

Names& Names::operator=(const Names& other) {
    if (this != &other) *this = Names(other);
    return *this;
}

NameId Names::add(std::string_view text) {
    if (text.empty()) return 0;
    const std::uint64_t hash = hash_of(text);
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    for (; slots_[at].name != 0; at = (at + 1) & mask)
        if (slots_[at].hash == hash && texts_[slots_[at].name] == text) return slots_[at].name;
    const auto name = static_cast<NameId>(texts_.size());
    texts_.push_back(keep(text));
    slots_[at] = {hash, name};
    if (texts_.size() * 2 > slots_.size()) grow();
    return name;
}

NameId Names::find(std::string_view text) const {
    if (text.empty()) return 0;
    const std::uint64_t hash = hash_of(text);
    std::size_t at = hash & (slots_.size() - 1);
    for (; slots_[at].name != 0; at = (at + 1) & (slots_.size() - 1))
        if (slots_[at].hash == hash && texts_[slots_[at].name] == text) return slots_[at].name;
    return 0;
}

std::string_view Names::operator[](NameId name) const {
    return name < texts_.size() ? texts_[name] : std::string_view();
}

std::string_view Names::keep(std::string_view text) {
    if (free_ < text.size()) {
        block_size_ = std::max(block_bytes, text.size());
        free_ = block_size_;
        blocks_.emplace_back(new char[block_size_]);
    }
    char* at = blocks_.back().get() + (block_size_ - free_);
    std::memcpy(at, text.data(), text.size());
    free_ -= text.size();
    return {at, text.size()};
}

void Names::grow() {
    std::vector<Slot> larger(slots_.size() * 2);
    for (const Slot& slot : slots_) {
        if (slot.name == 0) continue;
        std::size_t at = slot.hash & (larger.size() - 1);
        while (larger[at].name != 0) at = (at + 1) & (larger.size() - 1);
        larger[at] = slot;
    }
    slots_ = std::move(larger);
}

Paths::Paths() : nodes_(1), slots_(1024) {}

PathId Paths::add(PathId parent, NameId part) {
    const auto hash_node = [](PathId p, NameId n) {
        return mix(p ^ 0x9e3779b97f4a7c15U, n ^ 0xd6e8feb86659fd93U);
    };
    std::size_t mask = slots_.size() - 1;
    std::size_t at = hash_node(parent, part) & mask;
    for (; slots_[at] != 0; at = (at + 1) & mask)
        if (nodes_[slots_[at]].parent == parent && nodes_[slots_[at]].part == part) return slots_[at];
    if (nodes_.size() >= most) return parent;
    const auto path = static_cast<PathId>(nodes_.size());
    nodes_.push_back({parent, part, nodes_[parent].depth + 1});
    slots_[at] = path;
    if (nodes_.size() * 2 > slots_.size()) {
        std::vector<PathId> larger(slots_.size() * 2);
        mask = larger.size() - 1;
        for (PathId id = 1; id < nodes_.size(); ++id) {
            at = hash_node(nodes_[id].parent, nodes_[id].part) & mask;
            while (larger[at] != 0) at = (at + 1) & mask;
            larger[at] = id;
        }
        slots_ = std::move(larger);
    }
    return path;
}

PathId Paths::add(PathId parent, std::string_view text, Names& names, char separator) {
    while (!text.empty()) {
        const std::size_t length = std::min(text.find(separator), text.size());
        if (length > 0) parent = add(parent, names.add(text.substr(0, length)));
        text.remove_prefix(std::min(length + 1, text.size()));
    }
    return parent;
}

std::string Paths::text(PathId path, const Names& names) const {
    std::vector<NameId> parts;
    for (; path != 0; path = nodes_[path].parent) parts.push_back(nodes_[path].part);
    std::string joined;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        if (!joined.empty()) joined += '/';
        joined += names[*part];
    }
    return joined;
}

}  // namespace viridian::trace
