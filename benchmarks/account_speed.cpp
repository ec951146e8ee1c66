// rooms: account trace
// How fast events are attributed: the same generated trace (operators on a processor, kernels on two streams)
// from memory and from Viridian's binary file, by overlap and recency. account_speed [MILLIONS] [FOLDER]
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "viridian/account/account.hpp"
#include "viridian/base/random.hpp"
#include "viridian/trace/binary/binary.hpp"
#include "viridian/trace/read.hpp"
#include "viridian/trace/write/write.hpp"

namespace {

using namespace viridian;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr std::int64_t origin = 1'700'000'000'000'000'000;

trace::Collected make(std::size_t events) {
    trace::Collected out;
    Random random(1);
    trace::Trace& about = out.about;
    const trace::DeviceId cpu = about.device("cpu:0"), gpu = about.device("cuda:0");
    const trace::LaneId lanes[] = {about.lane(cpu, 1, 1), about.lane(gpu, 0, 7), about.lane(gpu, 0, 8)};
    std::vector<trace::NameId> names;
    for (int i = 0; i < 48; ++i) names.push_back(about.names.add(fmt::format("layer_{}/op", i)));
    std::int64_t time[] = {origin, origin + 20'000, origin + 40'000};
    while (out.events.size() < events) {
        const std::size_t lane = static_cast<std::size_t>(std::min_element(time, time + 3) - time);
        trace::Event event;
        event.start = time[lane];
        event.end = event.start + random.between(20'000, 80'000);
        time[lane] = event.end + random.between(0, 4'000);
        event.name = event.type = names[random.below(names.size())];
        event.device = lane == 0 ? cpu : gpu;
        event.lane = lanes[lane];
        event.kind = lane == 0 ? trace::Kind::operation : trace::Kind::kernel;
        out.events.push_back(event);
    }
    return out;
}

meter::PowerLog power(std::int64_t end) {
    meter::PowerLog log;
    for (const char* device : {"cpu:0", "cuda:0"}) {
        log.series.push_back({{"counter", device, meter::Scope::package, meter::Kind::energy_uj, 0}, {}});
        for (std::int64_t i = 0; origin + i * 4'000'000 < end + 8'000'000; ++i)
            log.series.back().readings.push_back({origin + (i - 1) * 4'000'000, i * 400'000, 0});
    }
    return log;
}

Result<void> measure(trace::Source& source, const meter::PowerLog& log, account::Method method,
                     const char* what, std::size_t events) {
    const double begin = now();
    VIRIDIAN_TRY(const account::Accounting result, account::account(source, log, {.method = method}));
    const double seconds = now() - begin;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    fmt::print("{:<7} {:<8} {:6.3f} s {:6.2f} M events/s, {} operations, residual {:.3g} J, peak {} MiB\n",
               what, method == account::Method::overlap ? "overlap" : "recency", seconds,
               static_cast<double>(events) / seconds * 1e-6, result.operations.size(),
               result.devices[0].residual.value.value, usage.ru_maxrss / 1024);
    return {};
}

Result<void> run(std::size_t events, const Path& folder) {
    const trace::Collected made = make(events);
    const Path file = folder / "account_speed.vtrace";
    {
        const auto source = trace::from_memory(made.about, made.events);
        VIRIDIAN_TRY(trace::write_viridian(*source, file));
    }
    const auto source = trace::from_memory(made.about, made.events);
    VIRIDIAN_TRY(const trace::Collected ready,
                 trace::collect(*source));  // sorted, numbered, nested: as a run hands it on
    const meter::PowerLog log = power(ready.about.end);
    for (int round = 0; round < 3; ++round)
        for (const account::Method method : {account::Method::overlap, account::Method::recency}) {
            const auto memory = trace::from_memory(ready.about, ready.events);
            VIRIDIAN_TRY(measure(*memory, log, method, "memory", events));
            const double begin = now();
            VIRIDIAN_TRY(const auto binary, trace::open(file));
            VIRIDIAN_TRY(measure(*binary, log, method, "binary", events));
            fmt::print("        with opening {:.3f} s\n", now() - begin);
        }
    std::filesystem::remove(file);
    return {};
}

}  // namespace

int main(int count, char** arguments) {
    const std::size_t millions = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 10;
    const Result<void> done = run(millions * 1'000'000, count > 2 ? arguments[2] : "/tmp");
    if (!done.ok()) fmt::print("{}\n", done.error().text());
    return done.ok() ? 0 : 1;
}
