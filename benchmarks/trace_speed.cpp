// rooms: trace
// How fast traces are read, in one run: a generated training trace (Kineto's layout: operators, launches,
// kernels on two streams, joins) as JSON text and as Viridian's binary. trace_speed MEGABYTES [FOLDER]
// [BUDGET_MB]. And trace_speed generate MEGABYTES FILE.json writes the trace alone, with a power log beside
// it (FILE.json.power.csv, 4 ms counters of cpu:0 and cuda:0), for `viridian account`.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>

#include "viridian/base/random.hpp"
#include "viridian/trace/binary/binary.hpp"
#include "viridian/trace/read.hpp"
#include "viridian/trace/write/out.hpp"

namespace {

using namespace viridian;
using namespace viridian::trace;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double peak_mebibytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

constexpr const char* operator_row =
    R"({{"ph": "X", "cat": "cpu_op", "name": "aten::op_{}", "pid": 1102, "tid": 1102, "ts": {:.3f}, "dur": {:.3f}, )"
    R"("args": {{"External id": {}, "Record function id": 0, "Sequence number": {}, "Fwd thread id": 0, "Ev Idx": {}}}}},)"
    "\n";
constexpr const char* launch_row =
    R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1102, "tid": 1102, "ts": {:.3f}, "dur": 4.120, )"
    R"("args": {{"External id": {}, "cbid": 211, "correlation": {}}}}},)"
    "\n";
constexpr const char* kernel_row =
    R"({{"ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel<4, F{}>", "pid": 0, "tid": {}, )"
    R"("ts": {:.3f}, "dur": {:.3f}, "args": {{"External id": {}, "queued": 0, "device": 0, "context": 1, "stream": {}, )"
    R"("correlation": {}, "registers per thread": 32, "shared memory": 0, "blocks per SM": 0.5, "grid": [128, 1, 1], "block": [128, 1, 1]}}}},)"
    "\n";

// Steps of operators, then their launches, then the kernels, as the profiler writes them.
Result<std::uint64_t> generate(const Path& path, std::uint64_t bytes, double* microseconds = nullptr) {
    VIRIDIAN_TRY(std::unique_ptr<Out> out, open_out(path));
    Random random(1);
    std::string text = "{\"schemaVersion\": 1, \"deviceProperties\": [], \"traceEvents\": [\n";
    std::uint64_t written = 0, id = 0;
    double time = 4'203'669'603'000.0;
    while (written < bytes) {
        std::string launches, kernels;
        for (int op = 0; op < 2000; ++op) {
            const double duration = 20.0 + random.uniform() * 60.0;
            const auto layer = random.below(48);
            const int stream = 7 + op % 2;
            ++id;
            fmt::format_to(std::back_inserter(text), fmt::runtime(operator_row), layer, time, duration, id,
                           id, id);
            fmt::format_to(std::back_inserter(launches), fmt::runtime(launch_row), time + 5.0, id, id);
            fmt::format_to(std::back_inserter(kernels), fmt::runtime(kernel_row), layer, stream, time + 40.0,
                           duration, id, stream, id);
            time += duration + 2.0;
        }
        text += launches + kernels;
        written += text.size();
        VIRIDIAN_TRY(out->put(text));
        text.clear();
    }
    if (microseconds != nullptr) *microseconds = time - 4'203'669'603'000.0;
    VIRIDIAN_TRY(out->put("{}], \"baseTimeNanoseconds\": 1735632360000000000}\n"));
    VIRIDIAN_TRY(out->close());
    return id * 3;
}

// 4 ms counters over the generated span: 80 W and 250 W.
Result<void> generate_power(const Path& path, double microseconds) {
    VIRIDIAN_TRY(std::unique_ptr<Out> out, open_out(path));
    std::string text = "time_ns,meter,device,scope,kind,value,window_ns\n";
    const std::int64_t begin = 1'735'632'360'000'000'000 + 4'203'669'603'000'000 - 8'000'000;
    const auto count = static_cast<std::int64_t>(microseconds * 1e3 / 4e6) + 4;
    for (std::int64_t i = 0; i < count; ++i) {
        fmt::format_to(std::back_inserter(text),
                       "{0},powercap,cpu:0,package,energy_uj,{1},0\n{0},nvml,cuda:0,gpu,energy_uj,{2},0\n",
                       begin + i * 4'000'000, i * 320'000, i * 1'000'000);
        if (text.size() < (1U << 20U)) continue;
        VIRIDIAN_TRY(out->put(text));
        text.clear();
    }
    VIRIDIAN_TRY(out->put(text));
    return out->close();
}

// Reads everything; the sum keeps the work from being optimised away.
Result<void> drain(const Path& path, const ReadOptions& options, const char* what, std::uint64_t expected) {
    const double begin = now(), megabytes = static_cast<double>(std::filesystem::file_size(path)) * 1e-6;
    VIRIDIAN_TRY(const std::unique_ptr<Source> source, open(path, options));
    std::uint64_t events = 0;
    std::int64_t sum = 0;
    for (;;) {
        VIRIDIAN_TRY(const std::span<const Event> batch, source->next());
        if (batch.empty()) break;
        events += batch.size();
        for (const Event& event : batch) sum += event.duration();
    }
    const double seconds = now() - begin;
    fmt::print(
        "{:<7} {:8.1f} MB {:9} events {:7.3f} s {:7.1f} MB/s {:6.2f} M events/s, unowned {}, peak {:.0f} "
        "MiB, sum {}\n",
        what, megabytes, events, seconds, megabytes / seconds, static_cast<double>(events) / seconds * 1e-6,
        source->about().unowned, peak_mebibytes(), sum);
    if (events != expected)
        return fail(ErrorCode::mismatch, "mend it", "{} events written, {} read", expected, events);
    return {};
}

Result<void> run(std::uint64_t megabytes, const Path& folder, const ReadOptions& options) {
    const Path json = folder / "trace_speed.json", binary = folder / "trace_speed.vtrace";
    std::uint64_t events = 0;
    if (!std::filesystem::exists(json)) {
        VIRIDIAN_TRY(events, generate(json, megabytes * 1'000'000));
    }
    VIRIDIAN_TRY(drain(json, options, "json", events));
    const double begin = now();
    {
        VIRIDIAN_TRY(const std::unique_ptr<Source> source, open(json, options));
        VIRIDIAN_TRY(write_viridian(*source, binary));
    }
    fmt::print("json to binary {:.3f} s\n", now() - begin);
    VIRIDIAN_TRY(drain(binary, options, "binary", events));
    std::filesystem::remove(json);
    std::filesystem::remove(binary);
    return {};
}

}  // namespace

int main(int count, char** arguments) {
    if (count > 3 && std::string_view(arguments[1]) == "generate") {
        double microseconds = 0.0;
        const auto events =
            generate(arguments[3], std::strtoull(arguments[2], nullptr, 10) * 1'000'000, &microseconds);
        const auto power = events.ok()
                               ? generate_power(std::string(arguments[3]) + ".power.csv", microseconds)
                               : Result<void>();
        if (!events.ok() || !power.ok()) return 1;
        fmt::print("{} events, {:.1f} s\n", *events, microseconds * 1e-6);
        return 0;
    }
    const std::uint64_t megabytes = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 200;
    ReadOptions options;
    const Path folder = count > 2 ? arguments[2] : "/tmp";
    options.spill.folder = folder;
    if (count > 3) options.spill.budget = std::strtoull(arguments[3], nullptr, 10) << 20U;
    const Result<void> done = run(megabytes, folder, options);
    if (!done.ok()) fmt::print("{}\n", done.error().text());
    return done.ok() ? 0 : 1;
}
