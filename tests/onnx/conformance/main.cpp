// conformance [--device NAME] [--excluded FILE] [--skip PATTERN] [--show N] [--slow] [--least N]
// [--least-fast N] ROOT...: runs ONNX's backend tests found below each ROOT. A test that several roots hold
// (with older and newer operator sets) passes when it passes in all of them. Fewer that pass than --least, or
// of whose nodes a kernel other than the reference computed one than --least-fast, are a failure too. Views,
// copies and other kernels that only move elements do not count as such; they are counted apart.
#include <fnmatch.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "conformance/case.hpp"

namespace viridian::conformance {
namespace {

struct Exclusion {
    std::string pattern;
    std::string reason;
};

// Lines "pattern: reason"; '#' begins a comment.
std::vector<Exclusion> read_exclusions(const std::string& path) {
    std::vector<Exclusion> exclusions;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(": ");
        if (line.empty() || line[0] == '#' || colon == std::string::npos) continue;
        exclusions.push_back({line.substr(0, colon), line.substr(colon + 2)});
    }
    return exclusions;
}

struct Tally {
    std::map<std::string, bool> passed;     // by test; false once it failed anywhere
    std::set<std::string> computed, moved;  // on kernels other than the reference
    int excluded = 0;
};

Result<Kernels> guarded(const Case& test, const Run& run) {
    try {
        return run_case(test, run);
    } catch (const BrokenInvariant& broken) {
        return fail(ErrorCode::broken_invariant, "report it", "invariant `{}`", broken.name);
    } catch (const std::exception& exception) {
        return fail(ErrorCode::broken_invariant, "report it", "exception: {}", exception.what());
    }
}

bool is_excluded(const std::vector<Exclusion>& exclusions, const Case& test) {
    for (const Exclusion& exclusion : exclusions)
        for (const std::string& name : {test.name, test.model.string()})
            if (::fnmatch(exclusion.pattern.c_str(), name.c_str(), 0) == 0) return true;
    return false;
}

struct Options {
    std::string device = "reference";
    std::vector<Exclusion> exclusions;
    int show = 1'000'000;  // failures printed
    bool slow = false;     // tests in which only reference kernels computed are printed
    std::size_t least = 1, least_fast = 0;
};

void run_root(const Path& root, const Run& run, const Options& options, Tally& tally) {
    int show = options.show;
    for (const Case& test : find_cases(root)) {
        if (is_excluded(options.exclusions, test)) {
            ++tally.excluded;
            continue;
        }
        const Result<Kernels> outcome = guarded(test, run);
        const bool passed = outcome.ok();
        auto [entry, fresh] = tally.passed.try_emplace(test.name, passed);
        entry->second = entry->second && passed;
        if (passed && outcome->computing > 0) tally.computed.insert(test.name);
        if (passed && outcome->moving > 0) tally.moved.insert(test.name);
        if (passed && outcome->computing == 0 && options.slow) fmt::print("reference {}\n", test.name);
        if (!passed && show-- > 0) fmt::print("FAILED {}: {}\n", test.name, outcome.error().message);
    }
}

int run_all(std::vector<std::string> arguments) {
    Options options;
    std::vector<Path> roots;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const bool more = i + 1 < arguments.size();
        if (arguments[i] == "--device" && more)
            options.device = arguments[++i];
        else if (arguments[i] == "--excluded" && more)
            std::ranges::copy(read_exclusions(arguments[++i]), std::back_inserter(options.exclusions));
        else if (arguments[i] == "--skip" && more)
            options.exclusions.push_back({arguments[++i], "asked for"});
        else if (arguments[i] == "--show" && more)
            options.show = std::stoi(arguments[++i]);
        else if (arguments[i] == "--least" && more)
            options.least = std::stoul(arguments[++i]);
        else if (arguments[i] == "--least-fast" && more)
            options.least_fast = std::stoul(arguments[++i]);
        else if (arguments[i] == "--slow")
            options.slow = true;
        else
            roots.emplace_back(arguments[i]);
    }
    Tally tally;
    const std::vector<Device> all = devices();
    const auto device = std::ranges::find(all, options.device, &Device::name);
    if (device == all.end() || roots.empty()) {
        fmt::print(stderr,
                   "usage: conformance [--device NAME] [--excluded FILE] [--skip PATTERN] [--show N] "
                   "[--slow] [--least N] [--least-fast N] ROOT...\n");
        return 2;
    }
    const Result<Run> run = device->open();
    if (!run.ok()) {
        fmt::print(stderr, "{}\n", run.error().text());
        return 2;
    }
    for (const Path& root : roots) run_root(root, *run, options, tally);
    std::size_t passed = 0;
    for (const auto& [name, good] : tally.passed) passed += good ? 1 : 0;
    const std::size_t failed = tally.passed.size() - passed;
    for (const std::string& name : tally.computed) tally.moved.erase(name);
    fmt::print(
        "{} passed, {} failed ({} excluded); other kernels than the reference computed in {}, and only "
        "moved elements in {} more\n",
        passed, failed, tally.excluded, tally.computed.size(), tally.moved.size());
    const bool enough = passed >= options.least && tally.computed.size() >= options.least_fast;
    if (!enough)
        fmt::print("too few: {} to pass and {} on computing kernels were asked for\n", options.least,
                   options.least_fast);
    return failed == 0 && enough ? 0 : 1;
}

}  // namespace
}  // namespace viridian::conformance

int main(int count, char** arguments) {
    return viridian::conformance::run_all(std::vector<std::string>(arguments + 1, arguments + count));
}
