#include "viridian/execute/peaks.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <new>

#include "viridian/base/system/machine.hpp"
#include "viridian/execute/cpu/buffer.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/execute/cpu/pool/pool.hpp"
#include "viridian/execute/cpu/simd/bf16/tiles.hpp"
#include "viridian/execute/cpu/threads.hpp"
#include "viridian/execute/cpu/timing/peak_loops.hpp"

namespace viridian::execute {
namespace cpu {
namespace {

constexpr std::size_t rounds_of_a_probe = 15;
constexpr double least_seconds_of_a_round = 5e-3;
constexpr double most_seconds_of_a_probe = 3;
constexpr double expected_scaling = 0.95;
constexpr std::int64_t slice = 256;  // what the loops over memory read or write at once, in bytes

// `pass` is the work of one thread; `work` is that of all threads in one pass, in flop or bytes.
struct Race {
    std::function<void(int thread, std::int64_t passes)> pass;
    double work = 0;
};

// From the first thread's begin to the last one's end: a thread that loses its processor makes a round
// longer, and never shorter.
double seconds_of(const Race& race, int threads, std::int64_t passes) {
    using Clock = std::chrono::steady_clock;
    std::vector<Clock::time_point> begin(static_cast<std::size_t>(threads)), end(begin.size());
    parallel(threads, [&](int thread) {
        barrier(threads);
        begin[static_cast<std::size_t>(thread)] = Clock::now();
        race.pass(thread, passes);
        end[static_cast<std::size_t>(thread)] = Clock::now();
    });
    return std::chrono::duration<double>(*std::ranges::max_element(end) - *std::ranges::min_element(begin))
        .count();
}

// Has more rounds, for a while, as long as none reaches `expected`.
Peak run(Probe probe, int threads, Bytes working_set, const Race& race, double expected = 0) {
    std::int64_t passes = 1;
    while (seconds_of(race, threads, passes) < least_seconds_of_a_round) passes *= 2;
    std::vector<double> rates;
    double best = 0, seconds = 0;
    while (rates.size() < rounds_of_a_probe || (best < expected && seconds < most_seconds_of_a_probe)) {
        const double round = seconds_of(race, threads, passes);
        seconds += round;
        rates.push_back(race.work * static_cast<double>(passes) / round);
        best = std::max(best, rates.back());
    }
    return {probe, threads, working_set, best, summarize(rates)};
}

std::atomic<float> used;  // what the loops return must be used

// n threads on cores of their own reach nearly n times the rate of one. The host of a virtual machine may run
// two of the machine's processors on one core for seconds, and what they reach then is not the peak.
double expected_of(Probe probe, int threads, const std::vector<Peak>& peaks) {
    const Peak* alone = find_peak(peaks, probe, 1);
    return alone == nullptr ? 0 : expected_scaling * threads * alone->best;
}

void probe_arithmetic(int threads, bool pinned, const Machine& machine, std::vector<Peak>& peaks) {
    const auto probe = [&](Probe name, const ArithmeticLoop& loop) {
        constexpr std::int64_t steps = 4096;  // of one pass
        const Race race{[loop](int, std::int64_t passes) { used = loop.run(steps * passes); },
                        loop.flop_of_a_pass * steps * threads};
        peaks.push_back(run(name, threads, {}, race, pinned ? expected_of(name, threads, peaks) : 0));
    };
    probe(Probe::f32, f32_loop(machine.has("avx512")));
    if (machine.has("avx512_bf16")) probe(Probe::bf16, bf16_loop());
    if (simd::matrix_unit()) probe(Probe::bf16_tiles, tile_loop());
}

// Each thread has a part of the working set of its own.
void probe_bandwidth(int threads, Bytes working_set, bool cache, std::vector<Peak>& peaks) {
    const std::int64_t part = working_set.value / threads / (2 * slice) * (2 * slice);
    const auto bytes = static_cast<std::size_t>(part), half = bytes / 2;
    const Buffer all(bytes * static_cast<std::size_t>(threads));
    const auto own = [&](int thread) { return all.data() + bytes * static_cast<std::size_t>(thread); };
    // Memory that nobody wrote is one page of zeroes, which stays in a cache.
    parallel(threads, [&](int thread) { write_all(own(thread), bytes, false); });
    const auto probe = [&](Probe name, const std::function<void(std::byte*)>& once) {
        const Race race{[&](int thread, std::int64_t passes) {
                            for (std::int64_t pass = 0; pass < passes; ++pass) once(own(thread));
                        },
                        static_cast<double>(part) * threads};
        peaks.push_back(run(name, threads, Bytes(part * threads), race));
    };
    probe(cache ? Probe::cache_read : Probe::memory_read, [&](std::byte* at) { used = read_all(at, bytes); });
    probe(cache ? Probe::cache_write : Probe::memory_write,
          [&](std::byte* at) { write_all(at, bytes, !cache); });
    probe(cache ? Probe::cache_copy : Probe::memory_copy,
          [&](std::byte* at) { copy_all(at, at + half, half, !cache); });
}

Result<void> probe_all(int threads, const Machine& machine, std::vector<Peak>& peaks) {
    const std::vector<int> cores = physical_cpus();
    const bool pinned = static_cast<std::size_t>(threads) <= cores.size();
    Pool pool(threads, pinned ? cores : std::vector<int>());
    return with_crew(pool, [&]() -> Result<void> {
        probe_arithmetic(threads, pinned, machine, peaks);
        const std::int64_t last = machine.l3.value > 0 ? machine.l3.value : machine.l2.value;
        if (machine.l3.value > 0) probe_bandwidth(threads, Bytes(last / 2), true, peaks);
        const std::int64_t most = std::max<std::int64_t>(machine.memory.value / 4, 1 << 20);
        probe_bandwidth(threads, Bytes(std::min(most, std::max<std::int64_t>(8 * last, 256 << 20))), false,
                        peaks);
        return {};
    });
}

}  // namespace
}  // namespace cpu

std::string_view name_of(Probe probe) {
    switch (probe) {
        case Probe::f32:
            return "f32";
        case Probe::bf16:
            return "bf16";
        case Probe::bf16_tiles:
            return "bf16 tiles";
        case Probe::cache_read:
            return "last cache read";
        case Probe::cache_write:
            return "last cache write";
        case Probe::cache_copy:
            return "last cache copy";
        case Probe::memory_read:
            return "memory read";
        case Probe::memory_write:
            return "memory write";
        case Probe::memory_copy:
            return "memory copy";
    }
    return {};
}

bool counts_flop(Probe probe) {
    return probe == Probe::f32 || probe == Probe::bf16 || probe == Probe::bf16_tiles;
}

Result<std::vector<Peak>> probe_peaks(int threads) {
    const Machine machine = this_machine();
    if (!machine.has("avx2") || !machine.has("fma"))
        return fail(ErrorCode::no_device, "use an x86-64 CPU from 2013 or later",
                    "this CPU has no AVX2, which the probes need");
    const PinnedCaller pinned(true);
    std::vector<Peak> peaks;
    try {
        VIRIDIAN_TRY(cpu::probe_all(1, machine, peaks));
        if (threads > 1) VIRIDIAN_TRY(cpu::probe_all(threads, machine, peaks));
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::out_of_memory, "end other programs", "the probes of bandwidth find no memory");
    }
    return peaks;
}

const Peak* find_peak(const std::vector<Peak>& peaks, Probe probe, int threads) {
    const auto found = std::ranges::find_if(
        peaks, [&](const Peak& peak) { return peak.probe == probe && peak.threads == threads; });
    return found == peaks.end() ? nullptr : &*found;
}

}  // namespace viridian::execute
