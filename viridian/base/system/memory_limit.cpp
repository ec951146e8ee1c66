#include "viridian/base/system/memory_limit.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <new>
#include <string>

namespace viridian {
namespace {

constexpr std::int64_t most_of_memory = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t worth_a_look = std::int64_t{256} << 20;

// The number that the file begins with; "max" and a file that is not there give nothing.
std::optional<std::int64_t> number_in_file(const Path& path) {
    std::string line;
    std::ifstream file(path);
    if (!std::getline(file, line)) return std::nullopt;
    std::uint64_t value = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), value).ec != std::errc{}) return std::nullopt;
    return static_cast<std::int64_t>(std::min<std::uint64_t>(value, most_of_memory));
}

// The number behind `key` in a file of lines such as "MemAvailable:  100 kB" or "inactive_file 100".
std::optional<std::int64_t> number_behind(const Path& path, std::string_view key) {
    std::ifstream file(path);
    for (std::string word; file >> word;) {
        std::int64_t value = 0;
        if (word == key && file >> value && value >= 0) return value;
        file.clear();
        file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    return std::nullopt;
}

struct GroupFiles {
    std::string_view limit, used, given_back;
};
constexpr GroupFiles version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr GroupFiles version_2{"memory.max", "memory.current", "inactive_file"};

// What one control group leaves.
std::int64_t left_in(const Path& group, const GroupFiles& files) {
    const auto limit = number_in_file(group / files.limit);
    const auto used = number_in_file(group / files.used);
    if (!limit || !used) return most_of_memory;
    const std::int64_t given_back = number_behind(group / "memory.stat", files.given_back).value_or(0);
    const std::int64_t held = std::max<std::int64_t>(0, *used - given_back);
    return std::max<std::int64_t>(0, *limit - held);
}

// What the group `name` below `hierarchy` and all groups above it leave. In a container the names may be
// those of the host, which are not there: then only the top is looked at, which is the container's own group.
std::int64_t left_below(const Path& hierarchy, std::string_view name, const GroupFiles& files) {
    Path group = hierarchy;
    std::int64_t least = left_in(group, files);
    for (const Path& part : Path(name).relative_path()) {
        group /= part;
        least = std::min(least, left_in(group, files));
    }
    return least;
}

}  // namespace

std::optional<Bytes> available_memory(const Path& root) {
    const auto kibibytes = number_behind(root / "proc/meminfo", "MemAvailable:");
    std::int64_t least = kibibytes && *kibibytes < most_of_memory / 1024 ? *kibibytes * 1024 : most_of_memory;
    std::ifstream groups(root / "proc/self/cgroup");  // lines such as "4:memory:/a/b" and "0::/a/b"
    const Path mounted = root / "sys/fs/cgroup";
    for (std::string line; std::getline(groups, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string_view whole = line;
        const std::string controllers = fmt::format(",{},", whole.substr(first + 1, second - first - 1));
        const std::string_view name = std::string_view(line).substr(second + 1);
        if (controllers.find(",memory,") != std::string::npos)
            least = std::min(least, left_below(mounted / "memory", name, version_1));
        else if (line.starts_with("0::"))
            least = std::min(least, left_below(mounted, name, version_2));
    }
    return least == most_of_memory ? std::nullopt : std::optional(Bytes(least));
}

Bytes usual_memory_limit() {
    const std::optional<Bytes> available = available_memory();
    return available ? Bytes(available->value / 4 * 3) : Bytes(most_of_memory);
}

void require_memory(Bytes bytes) {
    if (bytes.value < worth_a_look) return;
    if (const auto available = available_memory(); available && *available < bytes) throw std::bad_alloc();
}

}  // namespace viridian
