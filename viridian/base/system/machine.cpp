#include "viridian/base/system/machine.hpp"

#include "viridian/base/json.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "viridian/base/hash.hpp"
#include "viridian/base/system/limits.hpp"

namespace viridian {
namespace {

std::map<std::string, std::string> first_processor() {
    std::map<std::string, std::string> fields;
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line) && !line.empty();) {
        const auto colon = line.find(':');
        if (colon == std::string::npos) continue;
        const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
        fields[key] = colon + 2 <= line.size() ? line.substr(colon + 2) : "";
    }
    return fields;
}

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

Bytes sysfs_size(const std::string& text) {  // "32768K", "2M"
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return Bytes(0);
    const char unit = end == text.data() + text.size() ? '\0' : *end;
    return Bytes(unit == 'K' ? number << 10 : unit == 'M' ? number << 20 : number);
}

// Read once: after pin_thread() the calling thread's own mask no longer says what the process may use.
const std::vector<int>& allowed_cpus() {
    static const std::vector<int> allowed = [] {
        cpu_set_t set;
        CPU_ZERO(&set);
        std::vector<int> cpus;
        if (sched_getaffinity(0, sizeof set, &set) == 0)
            for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
                if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
        if (cpus.empty()) cpus.push_back(0);
        return cpus;
    }();
    return allowed;
}

}  // namespace

std::vector<int> physical_cpus() {
    std::set<std::string> seen;
    std::vector<int> cpus;
    for (const int cpu : allowed_cpus()) {
        const std::string siblings =
            first_line(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
        if (siblings.empty() || seen.insert(siblings).second) cpus.push_back(cpu);
    }
    return cpus;
}

Machine this_machine() {
    Machine machine;
    const auto fields = first_processor();
    const auto field = [&](const std::string& name) {
        const auto found = fields.find(name);
        return found == fields.end() ? std::string() : found->second;
    };
    machine.cpu_model = field("model name");
    machine.logical_cpus = static_cast<int>(allowed_cpus().size());
    machine.physical_cores = static_cast<int>(physical_cpus().size());

    std::set<std::string> flags;
    std::istringstream words(field("flags"));
    for (std::string word; words >> word;) flags.insert(word);
    machine.virtual_machine = flags.contains("hypervisor");
    const std::pair<const char*, std::vector<const char*>> sets[] = {
        {"avx2", {"avx2"}},
        {"fma", {"fma"}},
        {"avx512", {"avx512f", "avx512bw", "avx512vl", "avx512dq"}},
        {"avx512_vnni", {"avx512_vnni"}},
        {"avx512_bf16", {"avx512_bf16"}},
        {"amx_bf16", {"amx_bf16", "amx_tile"}},
        {"amx_int8", {"amx_int8", "amx_tile"}},
    };
    for (const auto& [name, needed] : sets)
        if (std::all_of(needed.begin(), needed.end(), [&](const char* flag) { return flags.contains(flag); }))
            machine.instruction_sets.emplace_back(name);

    for (int index = 0; index < 8; ++index) {
        const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
        const std::string level = first_line(folder + "level");
        if (level.empty()) break;
        const Bytes size = sysfs_size(first_line(folder + "size"));
        if (level == "1" && first_line(folder + "type") == "Data") machine.l1_data = size;
        if (level == "2") machine.l2 = size;
        if (level == "3") machine.l3 = size;
    }
    machine.memory = Bytes(static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE));
    if (const auto limit = group_limits().memory) machine.memory = std::min(machine.memory, *limit);
    utsname name{};
    if (uname(&name) == 0) machine.kernel = fmt::format("{} {}", name.sysname, name.release);
    return machine;
}

bool Machine::has(std::string_view instruction_set) const {
    return std::find(instruction_sets.begin(), instruction_sets.end(), instruction_set) !=
           instruction_sets.end();
}

std::string Machine::fingerprint() const {
    Hash hash;
    hash.add(cpu_model);
    for (const auto& set : instruction_sets) hash.add(set);
    hash.add(l1_data.value).add(l2.value).add(l3.value);
    return fmt::format("cpu-{:016x}", hash.value());
}

Json to_json(const Machine& machine) {
    return {{"cpu", machine.cpu_model},
            {"logical_cpus", machine.logical_cpus},
            {"physical_cores", machine.physical_cores},
            {"instruction_sets", machine.instruction_sets},
            {"l1_data_bytes", machine.l1_data.value},
            {"l2_bytes", machine.l2.value},
            {"l3_bytes", machine.l3.value},
            {"memory_bytes", machine.memory.value},
            {"kernel", machine.kernel},
            {"virtual_machine", machine.virtual_machine},
            {"fingerprint", machine.fingerprint()}};
}

Result<void> pin_thread(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cpu), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        return fail(ErrorCode::no_permission, "run without pinning", "cannot pin a thread to CPU {}", cpu);
    return {};
}

}  // namespace viridian
