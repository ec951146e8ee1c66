#include "viridian/cli/record/torch_traces.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "viridian/base/json.hpp"
#include "viridian/cli/natural_order.hpp"

namespace viridian::cli {
namespace {

constexpr std::string_view only_trace = "torch.json.gz", prefix = "torch.", trace_ending = ".json.gz",
                           facts_ending = ".about";

// A process of the program that imported torch.
struct Traced {
    Json facts;
    Path trace;
    bool complete = false;  // the trace was written to its end
};

bool is_facts(std::string_view name) { return name.starts_with(prefix) && name.ends_with(facts_ending); }

// What a process that was killed may leave of its files.
bool is_part(std::string_view name) {
    return name.starts_with(prefix) && (name.ends_with(".about.new") || name.ends_with(".json.gz.raw.json"));
}

std::vector<Path> files(const Path& folder, bool (*wanted)(std::string_view)) {
    std::vector<Path> found;
    std::error_code fault;
    for (const auto& entry : std::filesystem::directory_iterator(folder, fault))
        if (wanted(entry.path().filename().string())) found.push_back(entry.path());
    std::ranges::sort(found, natural_less, [](const Path& file) { return file.string(); });
    return found;
}

std::optional<std::int64_t> number(const Json& facts, const char* key) {
    const auto found = facts.find(key);
    if (found == facts.end() || !found->is_number_integer()) return std::nullopt;
    return found->get<std::int64_t>();
}

std::vector<Traced> traced(const Path& folder) {
    std::vector<Traced> found;
    std::error_code fault;
    for (const Path& file : files(folder, is_facts)) {
        const Result<std::string> text = read_file(file, 1 << 16);
        Result<Json> facts = text.ok() ? parse_json(*text, file.string()) : Result<Json>(text.error());
        if (!facts.ok() || !facts->is_object() || !number(*facts, "process")) continue;
        Path trace = Path(file).replace_extension(trace_ending);
        const bool complete = facts->contains("modules") && std::filesystem::exists(trace, fault);
        found.push_back({std::move(*facts), std::move(trace), complete});
    }
    return found;
}

std::string trace_name(const Json& facts, std::set<std::string>& taken) {
    const auto rank = number(facts, "rank");
    std::string name =
        rank ? fmt::format("torch.rank{}", *rank) : fmt::format("torch.process{}", *number(facts, "process"));
    if (!taken.insert(name).second) {  // a rank that was started again
        name += fmt::format(".process{}", *number(facts, "process"));
        taken.insert(name);
    }
    return name + std::string(trace_ending);
}

}  // namespace

Json collect_torch_traces(const Path& folder, std::vector<std::string>& warnings) {
    std::vector<Traced> all = traced(folder);
    const auto lost = std::ranges::stable_partition(all, &Traced::complete);
    std::ranges::stable_sort(all.begin(), lost.begin(), {}, [](const Traced& one) {
        return number(one.facts, "rank").value_or(std::numeric_limits<std::int64_t>::max());
    });
    Json traces = Json::array();
    std::set<std::string> taken;
    std::set<std::int64_t> ranks;
    const bool only = lost.begin() - all.begin() == 1;
    for (auto one = all.begin(); one != lost.begin(); ++one) {
        const std::string name = only ? std::string(only_trace) : trace_name(one->facts, taken);
        std::error_code fault;
        std::filesystem::rename(one->trace, folder / name, fault);
        Json trace = {{"file", fault ? one->trace.filename().string() : name}};
        trace.update(one->facts);
        if (trace["modules"].is_null()) trace.erase("modules");
        for (const char* passing : {"born", "listener", "ending"}) trace.erase(passing);
        if (const auto rank = number(one->facts, "rank")) ranks.insert(*rank);
        traces.push_back(std::move(trace));
    }
    std::error_code fault;
    for (const Traced& one : lost) {
        const auto rank = number(one.facts, "rank");
        const std::int64_t process = *number(one.facts, "process");
        if (rank && !ranks.contains(*rank))
            warnings.push_back(
                fmt::format("rank {} (process {}) left no trace: it was killed", *rank, process));
        else if (!rank && number(one.facts, "listener"))
            warnings.push_back(fmt::format("process {} left no trace: it was killed", process));
        std::filesystem::remove(one.trace, fault);
    }
    for (const auto wanted : {is_facts, is_part})
        for (const Path& file : files(folder, wanted)) std::filesystem::remove(file, fault);
    return traces;
}

std::vector<pid_t> torch_processes(const Path& folder) {
    std::vector<pid_t> found;
    for (const Traced& one : traced(folder))
        found.push_back(static_cast<pid_t>(*number(one.facts, "process")));
    return found;
}

std::vector<Listener> torch_listeners(const Path& folder) {
    std::vector<Listener> found;
    for (const Traced& one : traced(folder)) {
        const auto thread = number(one.facts, "listener"), born = number(one.facts, "born");
        const bool ending = one.facts.contains("ending");
        if (!born || !(thread || ending)) continue;
        found.push_back({static_cast<pid_t>(*number(one.facts, "process")),
                         static_cast<pid_t>(thread.value_or(0)), std::to_string(*born), ending});
    }
    return found;
}

std::string process_label(const Json& trace) {
    if (const auto rank = number(trace, "rank")) return fmt::format("rank {}", *rank);
    return fmt::format("process {}", number(trace, "process").value_or(0));
}

bool is_torch_trace(std::string_view name) {
    return name.starts_with(prefix) && name.ends_with(trace_ending);
}

void remove_torch_traces(const Path& folder) {
    std::error_code fault;
    for (const auto wanted : {is_torch_trace, is_facts, is_part})
        for (const Path& file : files(folder, wanted)) std::filesystem::remove(file, fault);
}

}  // namespace viridian::cli
