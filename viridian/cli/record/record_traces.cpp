#include "viridian/cli/record/record_traces.hpp"

#include "viridian/base/json.hpp"
#include "viridian/cli/record/torch_traces.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include "viridian/trace/binary/binary.hpp"

extern char** environ;

namespace viridian::cli {
namespace {

constexpr const char* cupti_library = "libviridian_cupti.so";
constexpr const char* raw_prefix = "cupti.raw.";
constexpr const char* stop_file = "cupti.stop";

// Finds what other programs are given: beside the program (build folder, bundle), where it is installed
// (scripts and libraries apart), or in the repository. `source` is its path there.
Result<Path> installed(const char* name, const char* source) {
    std::error_code fault;
    const Path here = std::filesystem::read_symlink("/proc/self/exe", fault).parent_path();
    const Path above = here.parent_path();
    for (const Path& candidate : {here / name, above / "share/viridian" / name, above / "lib/viridian" / name,
                                  above.parent_path().parent_path() / source})
        if (std::filesystem::exists(candidate, fault)) return candidate;
    return fail(ErrorCode::file_not_found, "use the bundle (`make bundle`) or the build folder",
                "`{}` is not beside this program", name);
}

// Every environment variable of ours but `name`, then `name=value`.
void set(std::vector<std::string>& all, const std::string& name, const std::string& value) {
    std::erase_if(all, [&](const std::string& one) { return one.starts_with(name + "="); });
    all.push_back(name + "=" + value);
}

// What the injected library said at the end of its file: a number or a text, empty where it says nothing.
std::string last_word(const Path& raw, std::string_view key) {
    std::ifstream file(raw, std::ios::binary);
    file.seekg(0, std::ios::end);
    const std::streamoff size = file.tellg();
    file.seekg(std::max<std::streamoff>(size - 512, 0));
    const std::string tail{std::istreambuf_iterator<char>(file), {}};
    const std::size_t at = tail.rfind(fmt::format("\"{}\":", key));
    if (at == std::string::npos) return "";
    const std::size_t begin = tail.find_first_not_of('"', at + key.size() + 3);
    return tail.substr(begin, tail.find_first_of("\"}", begin) - begin);
}

std::vector<Path> raw_files(const Path& folder) {
    std::vector<Path> files;
    std::error_code fault;
    for (const auto& entry : std::filesystem::directory_iterator(folder, fault))
        if (entry.path().filename().string().starts_with(raw_prefix)) files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

Result<Json> pack(const Path& raw, const Path& target) {
    VIRIDIAN_TRY(const auto source, trace::open(raw));
    VIRIDIAN_TRY(std::unique_ptr<trace::Out> out, trace::open_out(target));
    const auto sink = trace::binary_sink(std::move(out), trace::Packing::small);
    VIRIDIAN_TRY(trace::copy(*source, *sink));
    return Json{{"file", target.filename().string()},
                {"events", source->about().events},
                {"lost", source->about().lost_events}};
}

Json torch_traces(const Path& folder, bool stopped, std::vector<std::string>& warnings) {
    Json traces = collect_torch_traces(folder, warnings);
    if (traces.empty() && warnings.empty())
        warnings.emplace_back(
            stopped
                ? "the program left no trace of PyTorch: the time ended before it had imported torch and run "
                  "an operator; give more --seconds"
                : "the program left no trace of PyTorch: it never imported torch, ran no operator, or was "
                  "killed");
    for (const Json& trace : traces)
        if (const auto modules = trace.find("modules"); modules != trace.end())
            if (const std::uint64_t unseen = modules->value("unseen", std::uint64_t{0}); unseen > 0)
                warnings.push_back(fmt::format(
                    "{} calls of modules ran in threads that PyTorch's profiler does not see", unseen));
    return traces;
}

}  // namespace

Result<std::vector<std::string>> traced_environment(const Tracing& tracing, const Path& folder) {
    std::vector<std::string> all;
    for (char** one = environ; *one != nullptr; ++one) all.emplace_back(*one);
    const Path absolute = std::filesystem::absolute(folder);
    if (tracing.torch) {
        VIRIDIAN_TRY(const Path site, installed("on_device/torch_site", "tools/on_device/torch_site"));
        const char* known = std::getenv("PYTHONPATH");
        set(all, "PYTHONPATH",
            known != nullptr && *known != '\0' ? site.string() + ":" + known : site.string());
        set(all, "VIRIDIAN_TORCH_FOLDER", absolute.string());
        if (tracing.ends) set(all, "VIRIDIAN_TORCH_ENDS", "1");
        if (tracing.events) set(all, "VIRIDIAN_TORCH_EVENTS", "cuda");
    }
    if (tracing.cupti) {
        VIRIDIAN_TRY(const Path library, installed(cupti_library, cupti_library));
        set(all, "CUDA_INJECTION64_PATH", library.string());
        set(all, "VIRIDIAN_CUPTI_TRACE", (absolute / "cupti.raw").string());
        if (tracing.ends) {
            std::error_code fault;
            std::filesystem::remove(absolute / stop_file, fault);
            set(all, "VIRIDIAN_CUPTI_STOP", (absolute / stop_file).string());
        }
    }
    return all;
}

void end_traces(const Tracing& tracing, const Path& folder) {
    if (!tracing.cupti) return;
    std::ofstream(folder / stop_file).put('\n');
    const auto finished = [](const Path& raw) {  // it, or its process, which then does not write either
        const std::string process = raw.filename().string().substr(std::string_view(raw_prefix).size());
        return !last_word(raw, "viridianLost").empty() || !last_word(raw, "viridianError").empty() ||
               !std::filesystem::exists("/proc/" + process);
    };
    for (int i = 0; i < 200 && !std::ranges::all_of(raw_files(folder), finished); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::error_code fault;
    std::filesystem::remove(folder / stop_file, fault);
}

Result<Json> collect_traces(const Tracing& tracing, const Path& folder, bool stopped,
                            std::vector<std::string>& warnings) {
    Json traces = tracing.torch ? torch_traces(folder, stopped, warnings) : Json::array();
    std::error_code fault;
    if (!tracing.cupti) return traces;
    const std::vector<Path> files = raw_files(folder);
    for (const Path& raw : files) {
        const std::string process = raw.filename().string().substr(std::string_view(raw_prefix).size());
        const Path target =
            folder / (files.size() == 1 ? "kernels.vtrace" : "kernels." + process + ".vtrace");
        Result<Json> packed = pack(raw, target);
        if (!packed.ok()) return packed.error();
        (*packed)["process"] = std::strtoll(process.c_str(), nullptr, 10);
        if ((*packed)["events"] == 0) {
            const std::string why = last_word(raw, "viridianError");
            warnings.push_back(fmt::format("process {} used CUDA, but CUPTI reported nothing{}", process,
                                           why.empty() ? "" : ": " + why));
            std::filesystem::remove(target, fault);
        } else {
            if (const std::string lost = last_word(raw, "viridianLost"); !lost.empty() && lost != "0") {
                (*packed)["lost"] = std::strtoull(lost.c_str(), nullptr, 10);
                warnings.push_back(fmt::format("CUPTI dropped {} records of process {}", lost, process));
            }
            traces.push_back(std::move(*packed));
        }
        std::filesystem::remove(raw, fault);
    }
    if (files.empty()) warnings.emplace_back("no process used CUDA: there are no kernels to record");
    return traces;
}

void remove_traces(const Path& folder) {
    std::error_code fault;
    std::vector<Path> old = raw_files(folder);
    for (const auto& entry : std::filesystem::directory_iterator(folder, fault)) {
        const std::string name = entry.path().filename().string();
        if (name == stop_file || (name.starts_with("kernels.") && name.ends_with(".vtrace")))
            old.push_back(entry.path());
    }
    for (const Path& file : old) std::filesystem::remove(file, fault);
    remove_torch_traces(folder);
}

}  // namespace viridian::cli
