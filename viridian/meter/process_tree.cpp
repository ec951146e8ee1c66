#include "viridian/meter/process_tree.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

#include "viridian/meter/proc_stat.hpp"

namespace viridian::meter {
namespace {

// procfs files have no size: read until the end, into a buffer that is used again.
bool slurp(const std::string& path, std::string& text) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    text.resize(4096);
    std::size_t used = 0;
    while (true) {
        const ssize_t size = ::read(file, text.data() + used, text.size() - used);
        if (size <= 0) break;
        used += static_cast<std::size_t>(size);
        if (used == text.size()) text.resize(2 * text.size());
    }
    ::close(file);
    text.resize(used);
    return used > 0;
}

std::vector<int> numbers_in(const std::string& folder) {
    std::vector<int> numbers;
    std::error_code fault;
    for (std::filesystem::directory_iterator it(folder, fault), end; !fault && it != end;
         it.increment(fault)) {
        const std::string name = it->path().filename().string();
        int number = 0;
        const auto [at, bad] = std::from_chars(name.data(), name.data() + name.size(), number);
        if (bad == std::errc{} && at == name.data() + name.size()) numbers.push_back(number);
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

class Tree {
  public:
    Tree(int process, const Path& root, std::vector<int> packages)
        : process_(process), root_(root), proc_((root / "proc/").string()), packages_(std::move(packages)) {
        const int count = 1 + *std::max_element(packages_.begin(), packages_.end());
        own_.resize(static_cast<std::size_t>(count));
        channels = std::make_shared<std::vector<Channel>>();
        for (const Scope scope : {Scope::process, Scope::package})
            for (int package = 0; package < count; ++package)
                channels->push_back({"process", fmt::format("cpu:{}", package), scope, Kind::busy_ticks, 0});
    }

    Result<void> read(std::vector<Sample>& samples) {
        if (!std::filesystem::exists(proc_ + std::to_string(process_)))
            return fail(ErrorCode::file_not_found, "nothing to do: it ended", "process {} is gone", process_);
        VIRIDIAN_TRY(const CpuTimes all, read_cpu_times(root_));
        const Stamp now = stamp_now();
        std::vector<int> waiting = {process_};
        ++round_;
        while (!waiting.empty()) {
            const int process = waiting.back();
            waiting.pop_back();
            const std::string tasks = fmt::format("{}{}/task/", proc_, process);
            for (const int thread : numbers_in(tasks)) {
                read_thread(tasks, thread, now, samples);
                add_children(fmt::format("{}{}/children", tasks, thread), waiting);
            }
        }
        for (auto it = threads_.begin(); it != threads_.end();)
            it = it->second.round == round_ ? std::next(it) : threads_.erase(it);
        std::vector<std::int64_t> busy(own_.size());
        for (std::size_t cpu = 0; cpu < all.busy.size() && cpu < packages_.size(); ++cpu)
            busy[static_cast<std::size_t>(packages_[cpu])] += all.busy[cpu];
        for (std::uint32_t package = 0; package < own_.size(); ++package) {
            samples.push_back({package, now.time_ns, now.monotonic_ns, own_[package], 0});
            samples.push_back({static_cast<std::uint32_t>(own_.size()) + package, now.time_ns,
                               now.monotonic_ns, busy[package], 0});
        }
        return {};
    }

    std::shared_ptr<std::vector<Channel>> channels;

  private:
    struct Thread {
        std::int64_t ticks = 0;
        int cpu = -1;
        std::uint64_t round = 0;
    };

    void read_thread(const std::string& tasks, int number, Stamp now, std::vector<Sample>& samples) {
        if (!slurp(fmt::format("{}{}/stat", tasks, number), text_)) return;  // it ended meanwhile
        const Result<ThreadTimes> times = parse_thread_stat(text_);
        if (!times.ok()) return;
        Thread& thread = threads_[number];
        thread.round = round_;
        const auto cpu = static_cast<std::size_t>(std::max(times->cpu, 0));
        const auto package = static_cast<std::size_t>(cpu < packages_.size() ? packages_[cpu] : 0);
        own_[package] += std::max<std::int64_t>(0, times->ticks - thread.ticks);
        thread.ticks = times->ticks;
        if (thread.cpu == times->cpu) return;
        thread.cpu = times->cpu;
        samples.push_back({channel_of(number), now.time_ns, now.monotonic_ns, thread.cpu, 0});
    }

    std::uint32_t channel_of(int thread) {
        const auto [found, fresh] =
            thread_channels_.emplace(thread, static_cast<std::uint32_t>(channels->size()));
        if (fresh)
            channels->push_back(
                {"process", fmt::format("tid:{}", thread), Scope::process, Kind::thread_cpu, 0});
        return found->second;
    }

    void add_children(const std::string& path, std::vector<int>& waiting) {
        if (!slurp(path, text_)) return;
        const char* at = text_.data();
        const char* const end = at + text_.size();
        while (at != end) {
            int child = 0;
            const auto [next, fault] = std::from_chars(at, end, child);
            if (fault == std::errc{}) waiting.push_back(child);
            at = next == at ? at + 1 : next;
        }
    }

    int process_;
    Path root_;
    std::string proc_;
    std::vector<int> packages_;
    std::vector<std::int64_t> own_;  // by package
    std::unordered_map<int, Thread> threads_;
    std::unordered_map<int, std::uint32_t> thread_channels_;
    std::uint64_t round_ = 0;
    std::string text_;
};

}  // namespace

Result<ThreadTimes> parse_thread_stat(std::string_view line) {
    const auto malformed = [] {
        return fail(ErrorCode::malformed, "run `viridian doctor`", "a thread's stat line is cut");
    };
    const std::size_t name_end = line.rfind(')');  // the name may hold spaces and parentheses
    if (name_end == std::string_view::npos || name_end + 2 >= line.size()) return malformed();
    ThreadTimes times;
    times.state = line[name_end + 2];
    const char* at = line.data() + name_end + 3;
    const char* const end = line.data() + line.size();
    for (int field = 4; field <= 39; ++field) {
        while (at != end && *at == ' ') ++at;
        std::int64_t value = 0;
        const char* word = at;
        while (at != end && *at != ' ' && *at != '\n') ++at;
        if (word == at) return malformed();
        if (field != 14 && field != 15 && field != 39) continue;
        if (std::from_chars(word, at, value).ec != std::errc{}) return malformed();
        if (field == 39)
            times.cpu = static_cast<int>(value);
        else
            times.ticks += value;
    }
    return times;
}

Result<Meter> open_process_tree(int process, const Path& root) {
    VIRIDIAN_TRY(const CpuTimes all, read_cpu_times(root));
    const auto tree = std::make_shared<Tree>(process, root, cpu_packages(root, all.busy.size()));
    Meter meter{"process", *tree->channels, {}};
    meter.growing = tree->channels;
    meter.update = Seconds(1.0 / static_cast<double>(jiffies_per_second()));
    meter.read = [tree](std::vector<Sample>& samples) { return tree->read(samples); };
    return meter;
}

}  // namespace viridian::meter
