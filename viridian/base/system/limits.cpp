#include "viridian/base/system/limits.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "viridian/base/system/machine.hpp"

namespace viridian {
namespace {

constexpr int most_threads = 1024;

// A file's first words. Files of control groups hold numbers and the word `max`.
std::vector<std::string> words_of(const Path& path) {
    std::ifstream file(path);
    std::vector<std::string> words;
    for (std::string word; words.size() < 4 && file >> word;) words.push_back(word);
    return words;
}

std::optional<double> positive_number(const std::string& text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || !(number > 0)) return std::nullopt;
    return number;
}

std::optional<int> thread_number(std::string_view text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number >= 1 && number <= most_threads ? std::optional(number) : std::nullopt;
}

template <class T>
void lower(std::optional<T>& limit, const T& other) {
    if (!limit || other < *limit) limit = other;
}

void lower_processors(GroupLimits& limits, const std::vector<std::string>& quota_and_period) {
    if (quota_and_period.size() < 2) return;
    const auto quota = positive_number(quota_and_period[0]), period = positive_number(quota_and_period[1]);
    if (quota && period) lower(limits.processors, *quota / *period);
}

void lower_memory(GroupLimits& limits, const std::vector<std::string>& words) {
    if (words.empty()) return;
    if (const auto bytes = positive_number(words[0]); bytes && *bytes < 0x1p62)
        lower(limits.memory, Bytes(static_cast<std::int64_t>(*bytes)));
}

// The limits that the files of one group set. A version's files are missing where the other is mounted.
void lower_by(GroupLimits& limits, const Path& group) {
    lower_processors(limits, words_of(group / "cpu.max"));
    lower_memory(limits, words_of(group / "memory.max"));
    const auto quota = words_of(group / "cpu.cfs_quota_us"), period = words_of(group / "cpu.cfs_period_us");
    if (!quota.empty() && !period.empty()) lower_processors(limits, {quota[0], period[0]});
    lower_memory(limits, words_of(group / "memory.limit_in_bytes"));
}

}  // namespace

GroupLimits group_limits(const Path& root) {
    GroupLimits limits;
    const Path mounts = root / "sys/fs/cgroup";
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {  // "4:memory:/of/v1", "0::/of/v2"
        const auto first = line.find(':');
        const auto second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        std::vector<Path> hierarchies;
        if (controllers.empty()) hierarchies = {mounts, mounts / "unified"};
        std::istringstream names(controllers);
        for (std::string name; std::getline(names, name, ',');)
            if (name == "cpu" || name == "memory") hierarchies = {mounts / name, mounts / controllers};
        // A container may see its own group as the root and yet be told the group's path on the host; the
        // folders of that path are then missing.
        for (const Path& hierarchy : hierarchies)
            for (Path group = Path(line.substr(second + 1)).relative_path();; group = group.parent_path()) {
                lower_by(limits, hierarchy / group);
                if (group.empty()) break;
            }
    }
    return limits;
}

Result<int> default_threads(const ThreadDefaults& defaults) {
    if (!defaults.viridian_threads.empty()) {
        if (const auto number = thread_number(defaults.viridian_threads)) return *number;
        return fail(ErrorCode::invalid_argument,
                    fmt::format("set it to a number from 1 to {}, or unset it", most_threads),
                    "the environment variable VIRIDIAN_THREADS is `{}`", defaults.viridian_threads);
    }
    const std::string& list = defaults.omp_num_threads;
    if (const auto number = thread_number(std::string_view(list).substr(0, list.find(',')))) return *number;
    const int cores = std::clamp(defaults.cores, 1, most_threads);
    return defaults.processors ? static_cast<int>(std::clamp(*defaults.processors, 1.0, 1.0 * cores)) : cores;
}

Result<int> default_threads() {
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    return default_threads({variable("VIRIDIAN_THREADS"), variable("OMP_NUM_THREADS"),
                            group_limits().processors, static_cast<int>(physical_cpus().size())});
}

}  // namespace viridian
