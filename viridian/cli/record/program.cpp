#include "viridian/cli/record/program.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

namespace viridian::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto pause = std::chrono::milliseconds(10);

std::vector<char*> pointers(const std::vector<std::string>& words) {
    std::vector<char*> all;
    all.reserve(words.size() + 1);
    for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
    all.push_back(nullptr);
    return all;
}

// What it started, and what those started, each with the time of its birth: numbers are used again.
struct Process {
    pid_t id;
    std::string born;
};
// A field of a `stat` file below /proc, counted from 1 as in proc(5); empty if what it describes has ended.
std::string stat_field(const std::string& path, int wanted) {
    std::ifstream file(path);
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos || text.compare(name_end, 3, ") Z") == 0) return "";
    std::size_t at = name_end;
    for (int field = 2; field < wanted && at != std::string::npos; ++field) at = text.find(' ', at + 1);
    return at == std::string::npos ? "" : text.substr(at + 1, text.find(' ', at + 1) - at - 1);
}
std::string born(pid_t id) { return stat_field(fmt::format("/proc/{}/stat", id), 22); }
Seconds busy(const Listener& one) {
    const std::string thread = fmt::format("/proc/{}/task/{}/stat", one.process, one.thread);
    double ticks = 0;
    for (const int field : {14, 15}) ticks += std::strtod(stat_field(thread, field).c_str(), nullptr);
    return Seconds(ticks / static_cast<double>(::sysconf(_SC_CLK_TCK)));
}
void add_descendants(pid_t parent, std::vector<Process>& found) {
    std::error_code fault;
    for (const auto& thread :
         std::filesystem::directory_iterator(fmt::format("/proc/{}/task", parent), fault)) {
        std::ifstream file(thread.path() / "children");
        for (pid_t id = 0; file >> id;) {
            found.push_back({id, born(id)});
            add_descendants(id, found);
        }
    }
}

bool ended(pid_t program) {
    siginfo_t about{};
    return ::waitid(P_PID, static_cast<id_t>(program), &about, WEXITED | WNOWAIT | WNOHANG) < 0 ||
           about.si_pid == program;
}
template <class Done>
bool wait_until(Clock::time_point time, Done done) {
    while (!done()) {
        if (Clock::now() >= time) return false;
        std::this_thread::sleep_for(pause);
    }
    return true;
}
Clock::time_point in(Seconds seconds) {
    return Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds.value));
}

// Sends SIGTERM, and kills those who cannot hear it: Python calls a handler between two of its own
// instructions, so a rank that waits in C++ for a rank that is gone would wait until the grace is over. Other
// threads of such a process may be busy, as gloo's is when a connection has ended.
class Ender {
  public:
    explicit Ender(const TimeLimit& limit) : limit_(limit) {}

    void terminate(pid_t id) {
        ::kill(id, SIGTERM);
        told_.push_back(id);
    }

    // Is called again and again while the processes end.
    void kill_deaf() {
        if (!limit_.listeners || Clock::now() < next_) return;
        next_ = Clock::now() + std::chrono::seconds(1);
        std::vector<Listener> living = limit_.listeners();
        std::erase_if(living, [](const Listener& one) { return born(one.process) != one.born; });
        // What waits for one that still writes its trace will hear when that one is gone.
        if (living.size() != living_ || std::ranges::any_of(living, &Listener::ending)) idle_.clear();
        living_ = living.size();
        for (const Listener& one : living)
            if (!one.ending && std::ranges::find(told_, one.process) != told_.end()) judge(one);
    }

  private:
    static constexpr auto patience = std::chrono::seconds(60);
    static constexpr double idle = 0.6;  // seconds of processor time in that time

    void judge(const Listener& one) {
        const Seconds now = busy(one);
        const auto [known, is_new] = idle_.try_emplace(one.process, Clock::now(), now);
        if (is_new) return;
        auto& [since, before] = known->second;
        if (now.value - before.value > idle) known->second = {Clock::now(), now};
        if (Clock::now() - since >= patience) ::kill(one.process, SIGKILL);
    }

    const TimeLimit& limit_;
    Clock::time_point next_ = Clock::now();
    std::vector<pid_t> told_;
    std::size_t living_ = 0;
    std::map<pid_t, std::pair<Clock::time_point, Seconds>> idle_;  // since when, and its processor time then
};

void end(pid_t program, const TimeLimit& limit) {
    std::vector<Process> others;
    add_descendants(program, others);
    Ender ender(limit);
    ender.terminate(program);
    if (limit.with_it)
        for (const pid_t id : limit.with_it())
            for (const Process& one : others)
                if (one.id == id && !one.born.empty() && born(id) == one.born) ender.terminate(id);
    const auto waiting = [&ender](auto done) {
        return [&ender, done] {
            if (done()) return true;
            ender.kill_deaf();
            return false;
        };
    };
    if (!wait_until(in(limit.grace), waiting([&] { return ended(program); }))) ::kill(program, SIGKILL);
    const auto any_left = [&](int signal) {
        bool any = false;
        for (const Process& one : others)
            if (!one.born.empty() && born(one.id) == one.born) {
                any = true;
                if (signal == SIGTERM) ender.terminate(one.id);
                if (signal == SIGKILL) ::kill(one.id, SIGKILL);
            }
        return any;
    };
    if (any_left(SIGTERM) && !wait_until(in(limit.grace), waiting([&] { return !any_left(0); })))
        any_left(SIGKILL);
}

// Whether `name` is a file that may be run: 0, or the fault.
int fault_of_file(const std::filesystem::path& name) {
    if (::access(name.c_str(), X_OK) != 0) return errno;
    std::error_code ignored;
    return std::filesystem::is_directory(name, ignored) ? EACCES : 0;
}
// Whether posix_spawnp finds `name`: 0, or the fault. An empty folder of PATH is the current one.
int fault_of(const std::string& name) {
    if (name.find('/') != std::string::npos) return fault_of_file(name);
    const char* path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "/bin:/usr/bin" : std::string(path) + ':');
    int fault = ENOENT;
    for (std::string folder; std::getline(folders, folder, ':');) {
        const int here = fault_of_file(std::filesystem::path(folder) / name);
        if (here == 0) return 0;
        if (here == EACCES) fault = EACCES;
    }
    return fault;
}

Error cannot_start(const std::string& name, int fault) {
    const bool renamed = name == "python" && fault_of("python3") == 0;  // as in Debian
    return fail(ErrorCode::invalid_argument,
                renamed ? "give `python3`, which is installed" : "check the command after `--`",
                "`{}` cannot be started: {}", name, std::strerror(fault));
}

}  // namespace

Result<void> find_program(const std::vector<std::string>& command) {
    const int fault = fault_of(command[0]);
    if (fault != 0) return cannot_start(command[0], fault);
    return {};
}

Result<pid_t> start_program(const std::vector<std::string>& command,
                            const std::vector<std::string>& environment, bool output_to_error) {
    std::vector<char*> arguments = pointers(command), variables = pointers(environment);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (output_to_error) posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    posix_spawnattr_t attributes;  // the program gets the signals that a shell would give it
    posix_spawnattr_init(&attributes);
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    pid_t child = 0;
    const int fault =
        ::posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), variables.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (fault != 0) return cannot_start(command[0], fault);
    return child;
}

bool wait_for_end(pid_t program, const std::optional<TimeLimit>& limit) {
    const auto interrupt =
        std::signal(SIGINT, SIG_IGN);  // Ctrl-C is the program's; we write the log to its end
    const auto quit = std::signal(SIGQUIT, SIG_IGN);
    bool by_us = false;
    if (limit && !wait_until(in(limit->after), [&] { return ended(program); })) {
        by_us = true;
        if (limit->before_end) limit->before_end();
        end(program, *limit);
    }
    siginfo_t about{};
    while (::waitid(P_PID, static_cast<id_t>(program), &about, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
    std::signal(SIGINT, interrupt);
    std::signal(SIGQUIT, quit);
    return by_us;
}

int reap(pid_t program) {
    int status = 0;
    while (::waitpid(program, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace viridian::cli
