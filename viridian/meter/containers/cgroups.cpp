#include "viridian/meter/containers/cgroups.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "viridian/meter/meters/read_number.hpp"

namespace viridian::meter {
namespace {

constexpr std::size_t id_length = 64;
constexpr int deepest_cgroup = 12;
constexpr std::size_t most_containers = 4096;

// What stands before the id, with the systemd driver; nothing does with the cgroupfs driver.
constexpr std::array<std::string_view, 6> id_prefixes = {"",      "docker-", "cri-containerd-",
                                                         "crio-", "libpod-", "nerdctl-"};

bool is_hexadecimal(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// "pod0f2c…" or "kubepods-burstable-pod0f2c….slice": the id of a pod, whose dashes systemd's driver writes as
// underscores. Static pods have a hash without dashes.
std::string pod_in(std::string_view part) {
    const std::size_t at = part.rfind("pod");
    if (at == std::string_view::npos || (at != 0 && part[at - 1] != '-')) return "";
    part.remove_prefix(at + 3);
    if (part.ends_with(".slice")) part.remove_suffix(6);
    std::string pod(part);
    std::ranges::replace(pod, '_', '-');
    std::string digits = pod;
    std::erase(digits, '-');
    return digits.size() == 32 && is_hexadecimal(digits) ? pod : "";
}

// The number after `key` in a file of the kernel's, or the file's only number for an empty key.
std::optional<std::int64_t> number_in(const Path& path, std::string_view key) {
    const Result<KernelFile> file = KernelFile::open(path);
    if (!file.ok()) return std::nullopt;
    std::array<char, 2048> bytes{};
    const Result<std::size_t> size = file->read(bytes);
    if (!size.ok()) return std::nullopt;
    std::string_view text(bytes.data(), *size);
    if (!key.empty()) {
        const std::size_t at = text.find(key);
        if (at == std::string_view::npos || (at != 0 && text[at - 1] != '\n')) return std::nullopt;
        text.remove_prefix(at + key.size());
    }
    std::int64_t number = 0;
    const auto fault = std::from_chars(text.data(), text.data() + text.size(), number).ec;
    return fault == std::errc{} && number >= 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<Container> container_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    std::string_view name = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
    if (name.ends_with(".scope")) name.remove_suffix(6);
    if (name.size() < id_length) return std::nullopt;
    const std::string_view id = name.substr(name.size() - id_length);
    if (!is_hexadecimal(id) ||
        std::ranges::find(id_prefixes, name.substr(0, name.size() - id_length)) == id_prefixes.end())
        return std::nullopt;
    Container container{std::string(id), ""};
    for (std::string_view above = path.substr(0, slash == std::string_view::npos ? 0 : slash);
         !above.empty() && container.pod.empty();) {
        const std::size_t begin = above.rfind('/');
        container.pod = pod_in(begin == std::string_view::npos ? above : above.substr(begin + 1));
        above = above.substr(0, begin == std::string_view::npos ? 0 : begin);
    }
    return container;
}

Result<Cgroups> Cgroups::open(const Path& root) {
    const Path top = root / "sys/fs/cgroup";
    std::error_code ignored;
    if (std::filesystem::exists(top / "cgroup.controllers", ignored)) return Cgroups(top, true);
    for (const char* hierarchy : {"cpuacct", "cpu,cpuacct"})
        if (std::filesystem::exists(top / hierarchy / "cpuacct.usage", ignored))
            return Cgroups(top / hierarchy, false);
    return fail(
        ErrorCode::file_not_found,
        "start it without --containers, or set VIRIDIAN_ROOT to the folder that holds the host's /sys",
        "there are no control groups with CPU times in `{}`", top.string());
}

std::vector<ContainerTime> Cgroups::read() const {
    std::vector<ContainerTime> found;
    walk("", 0, found);
    return found;
}

void Cgroups::walk(const std::string& path, int depth, std::vector<ContainerTime>& found) const {
    if (found.size() >= most_containers) return;
    if (std::optional<Container> container = container_of(path)) {
        const Path folder = top_ / path;
        const auto time = unified_ ? number_in(folder / "cpu.stat", "usage_usec ")
                                   : number_in(folder / "cpuacct.usage", "");
        // The group of a container that ends is gone before it can be read.
        if (time)
            found.push_back(
                {std::move(*container), Seconds(static_cast<double>(*time) * (unified_ ? 1e-6 : 1e-9))});
        return;
    }
    if (depth >= deepest_cgroup) return;
    std::error_code fault;
    std::filesystem::directory_iterator entries(path.empty() ? top_ : top_ / path, fault);
    for (; !fault && entries != std::filesystem::directory_iterator{}; entries.increment(fault)) {
        std::error_code gone;
        if (entries->is_symlink(gone) || !entries->is_directory(gone)) continue;
        const std::string name = entries->path().filename().string();
        walk(path.empty() ? name : path + "/" + name, depth + 1, found);
    }
}

}  // namespace viridian::meter
