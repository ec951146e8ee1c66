#include "viridian/meter/process_tree.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "viridian/meter/meters/proc_stat.hpp"

namespace viridian::meter {
namespace {

class File {
  public:
    File() = default;
    explicit File(const std::string& path, int flags = 0)
        : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags)) {}
    File(File&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
    File& operator=(File&& other) noexcept {
        std::swap(file_, other.file_);
        return *this;
    }
    ~File() {
        if (file_ >= 0) ::close(file_);
    }
    [[nodiscard]] bool open() const { return file_ >= 0; }
    [[nodiscard]] int number() const { return file_; }
    // From the start to the end, into a buffer that is used again: procfs files have no size.
    [[nodiscard]] bool read(std::string& text) const {
        if (file_ < 0) return false;
        if (text.size() < 4096) text.resize(4096);
        std::size_t used = 0;
        while (true) {
            const ssize_t size =
                ::pread(file_, text.data() + used, text.size() - used, static_cast<off_t>(used));
            if (size < 0) return false;
            used += static_cast<std::size_t>(size);
            if (used < text.size()) break;  // procfs fills the buffer where it has more
            text.resize(2 * text.size());
        }
        text.resize(used);
        return used > 0;
    }

  private:
    int file_ = -1;
};

// The numbers among a folder's names. The folder stays open; std::filesystem's walk allocates for each entry.
void numbers_in(const File& folder, std::vector<int>& numbers) {
    numbers.clear();
    if (::lseek(folder.number(), 0, SEEK_SET) != 0) return;
    alignas(8) std::array<char, 4096> buffer;
    while (true) {
        const long size = ::syscall(SYS_getdents64, folder.number(), buffer.data(), buffer.size());
        if (size <= 0) break;
        for (long at = 0; at < size;) {  // struct linux_dirent64: length at 16, name at 19
            std::uint16_t length = 0;
            std::memcpy(&length, buffer.data() + at + 16, sizeof(length));
            const char* name = buffer.data() + at + 19;
            const char* const end = name + ::strnlen(name, static_cast<std::size_t>(length) - 19);
            int number = 0;
            const auto [last, fault] = std::from_chars(name, end, number);
            if (fault == std::errc{} && last == end) numbers.push_back(number);
            at += length;
        }
    }
    std::sort(numbers.begin(), numbers.end());
}

constexpr std::size_t most_open_files = 256;  // of threads; more are opened for each read

class Tree {
  public:
    Tree(int process, const Path& root, CpuTimesFile all, std::vector<int> packages, bool placement)
        : process_(process),
          placement_(placement),
          all_(std::move(all)),
          proc_((root / "proc/").string()),
          packages_(std::move(packages)) {
        const int count = 1 + *std::max_element(packages_.begin(), packages_.end());
        own_.resize(static_cast<std::size_t>(count));
        channels = std::make_shared<std::vector<Channel>>();
        for (const Scope scope : {Scope::process, Scope::package})
            for (int package = 0; package < count; ++package)
                channels->push_back({"process", fmt::format("cpu:{}", package), scope, Kind::busy_ticks, 0});
    }

    Result<void> read(std::vector<Sample>& samples) {
        VIRIDIAN_TRY(all_.read(times_));
        const Stamp now = stamp_now();
        waiting_.assign(1, process_);
        ++round_;
        bool found = false;
        while (!waiting_.empty()) {
            const int process = waiting_.back();
            waiting_.pop_back();
            found = read_process(process, now, samples) || found;
        }
        if (!found)
            return fail(ErrorCode::file_not_found, "nothing to do: it ended", "process {} is gone", process_);
        const auto old = [this](const auto& entry) { return entry.second.round != round_; };
        std::erase_if(threads_, old);
        std::erase_if(processes_, old);
        std::vector<std::int64_t> busy(own_.size());
        for (std::size_t cpu = 0; cpu < times_.busy.size() && cpu < packages_.size(); ++cpu)
            busy[static_cast<std::size_t>(packages_[cpu])] += times_.busy[cpu];
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
        File stat;
        std::int64_t ticks = 0;
        int cpu = -1;
        std::uint64_t round = 0;
    };
    struct Process {
        File tasks;
        std::uint64_t round = 0;
    };

    bool read_process(int number, Stamp now, std::vector<Sample>& samples) {
        Process& process = processes_[number];
        if (process.round == round_) return true;  // a child of two threads
        if (!process.tasks.open()) process.tasks = File(fmt::format("{}{}/task", proc_, number), O_DIRECTORY);
        if (!process.tasks.open()) return false;
        numbers_in(process.tasks, numbers_);
        if (numbers_.empty()) return false;  // it ended
        process.round = round_;
        for (const int thread : numbers_) {
            read_thread(number, thread, now, samples);
            add_children(fmt::format("{}{}/task/{}/children", proc_, number, thread), waiting_);
        }
        return true;
    }

    void read_thread(int process, int number, Stamp now, std::vector<Sample>& samples) {
        const auto known = threads_.find(number);
        if (known == threads_.end() || !known->second.stat.read(text_)) {
            File file(fmt::format("{}{}/task/{}/stat", proc_, process, number));
            if (!file.read(text_)) return;  // it ended meanwhile
            if (threads_.size() < most_open_files) threads_[number].stat = std::move(file);
        }
        const Result<ThreadTimes> times = parse_thread_stat(text_);
        if (!times.ok()) return;
        Thread& thread = threads_[number];
        thread.round = round_;
        const auto cpu = static_cast<std::size_t>(std::max(times->cpu, 0));
        const auto package = static_cast<std::size_t>(cpu < packages_.size() ? packages_[cpu] : 0);
        own_[package] += std::max<std::int64_t>(0, times->ticks - thread.ticks);
        thread.ticks = times->ticks;
        if (!placement_ || thread.cpu == times->cpu) return;
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
        if (!File(path).read(text_)) return;
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
    bool placement_;
    CpuTimesFile all_;
    CpuTimes times_;
    std::vector<int> waiting_;
    std::string proc_;
    std::vector<int> packages_;
    std::vector<std::int64_t> own_;  // by package
    std::unordered_map<int, Thread> threads_;
    std::unordered_map<int, Process> processes_;
    std::vector<int> numbers_;
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

Result<Meter> open_process_tree(int process, const Path& root, bool placement) {
    VIRIDIAN_TRY(CpuTimesFile file, CpuTimesFile::open(root));
    CpuTimes all;
    VIRIDIAN_TRY(file.read(all));
    const std::vector<int> packages = cpu_packages(root, all.busy.size());
    const auto tree = std::make_shared<Tree>(process, root, std::move(file), packages, placement);
    Meter meter{"process", *tree->channels, {}};
    meter.growing = tree->channels;
    meter.update = Seconds(1.0 / static_cast<double>(jiffies_per_second()));
    meter.shortest = Seconds(0.02);  // two jiffies
    meter.read = [tree](std::vector<Sample>& samples) { return tree->read(samples); };
    return meter;
}

}  // namespace viridian::meter
