#include "viridian/execute/cpu/timing/timing.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "viridian/base/statistics.hpp"
#include "viridian/base/system/machine.hpp"
#include "viridian/base/system/preemptions.hpp"
#include "viridian/execute/cpu/bound_step.hpp"
#include "viridian/execute/cpu/kernels/movement/conversion.hpp"
#include "viridian/execute/cpu/primitive_cache.hpp"
#include "viridian/execute/cpu/team.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using TimingClock = std::chrono::steady_clock;

constexpr std::size_t weight_bytes = std::size_t{400} << 20U;  // beyond any last-level cache
constexpr std::int64_t small_cycle = std::int64_t{8} << 20U;   // beyond the caches of one core
constexpr double patience = 2;                                 // budgets, where runs are disturbed

// Small positive numbers in f32 and bf16 alike, so that no timing meets a NaN or a denormal.
void fill(std::byte* data, std::size_t bytes) {
    auto* words = reinterpret_cast<std::uint16_t*>(data);
    std::uint32_t state = 12345;
    for (std::size_t i = 0; i < bytes / 2; ++i) {
        state = state * 1664525U + 1013904223U;
        words[i] = static_cast<std::uint16_t>(0x3c00U + (state >> 24U));
    }
}

Timing to_timing(const Summary& summary) {
    return {Seconds(summary.minimum), Seconds(summary.median), Seconds(summary.low),
            Seconds(summary.high),    summary.count,           Bytes()};
}

bool sure(const Timing& timing, double precision) {
    return (timing.high - timing.low).value <= 2 * precision * timing.median.value;
}

}  // namespace

Timer::Timer(const Context& context)
    : context_(context),
      cached_bytes_(static_cast<std::size_t>(std::max(small_cycle, this_machine().l3.value / 2))) {}

Timing Timer::measure(const Kernel& kernel, const Ports& ports, const TimingProtocol& protocol) {
    const std::size_t total = whole_lines(kernel.workspace.value) + ports.bytes();
    if (activations_.size() < total) {
        activations_ = Buffer(total);
        fill(activations_.data(), total);
    }
    std::size_t constant_bytes = 0;
    for (const Packed& packed : kernel.constants)
        constant_bytes += whole_lines(static_cast<std::int64_t>(packed->size()));
    if (constant_bytes > 0 && weights_.size() < std::max(weight_bytes, 3 * constant_bytes)) {
        weights_ = Buffer(std::max(weight_bytes, 3 * constant_bytes));
        fill(weights_.data(), weights_.size());
        cursor_ = 0;
    }

    const PortAddresses places(ports, activations_.data());
    const std::vector<const std::byte*> inputs(places.inputs.begin(), places.inputs.end());
    std::vector<const std::byte*> constants(kernel.constants.size());
    const std::shared_ptr<void> bindings = kernel.make_bindings ? kernel.make_bindings() : nullptr;
    const Pointers pointers{inputs.data(), places.outputs.data(), constants.data(), places.end,
                            bindings.get()};

    const auto write_activations = [&] {
        parallel(context_.threads, [&](int thread) {
            for (std::size_t i = 0; i < ports.outputs.size(); ++i)
                if (i != 0 || !ports.overwritten)
                    touch(places.outputs[i], ports.outputs[i], true, thread, context_.threads);
            for (std::size_t i = 0; i < ports.inputs.size(); ++i)
                touch(places.inputs[i], ports.inputs[i], ports.numbers[i], thread, context_.threads);
        });
    };
    // A kernel whose thread lost its processor took a time slice longer: such runs count only where others
    // are too few.
    std::vector<double> seconds, disturbed;
    std::int64_t runs = 0;
    const auto begin = TimingClock::now();
    Timing timing;
    std::int64_t next_look = protocol.at_least;
    // As much as the weights of a network may take that stays in the last-level cache: neighbours take some
    // of it.
    const std::size_t cycle = protocol.cached_weights
                                  ? std::min(weights_.size(), std::max(cached_bytes_, constant_bytes))
                                  : weights_.size();
    for (;;) {
        if (cursor_ + constant_bytes > cycle) cursor_ = 0;
        for (std::size_t i = 0; i < constants.size(); ++i) {
            constants[i] = weights_.data() + cursor_;
            cursor_ += whole_lines(static_cast<std::int64_t>(kernel.constants[i]->size()));
        }
        if (kernel.bind) kernel.bind(pointers);
        write_activations();
        const std::int64_t before = preemptions();
        const auto start = TimingClock::now();
        kernel.run(pointers);
        const auto end = TimingClock::now();
        const bool undisturbed = preemptions() == before;
        if (++runs == 1) continue;  // it pays for cold code
        (undisturbed ? seconds : disturbed).push_back(std::chrono::duration<double>(end - start).count());
        const auto count = static_cast<std::int64_t>(seconds.size());
        if (undisturbed && count >= next_look) {
            timing = to_timing(summarize(seconds));
            next_look = count + count / 4 + 1;
            if (sure(timing, protocol.precision)) break;
        }
        const double spent = std::chrono::duration<double>(end - begin).count() / protocol.budget.value;
        if (count >= std::max<std::int64_t>(1, protocol.at_least) && spent > 1) {
            timing = to_timing(summarize(std::move(seconds)));
            break;
        }
        if (runs > protocol.at_least && spent > patience) {
            seconds.insert(seconds.end(), disturbed.begin(), disturbed.end());
            timing = to_timing(summarize(std::move(seconds)));
            break;
        }
    }
    timing.workspace = kernel.workspace;
    return timing;
}

Result<Timing> Timer::time(const Task& task, const plan::Choice& choice, const TimingProtocol& protocol) {
    if (choice.aliasing == plan::Aliasing::view || choice.aliasing == plan::Aliasing::gather) return Timing{};
    const NoPrimitiveCache no_cache;
    return with_team(context_.threads, [&]() -> Result<Timing> {
        VIRIDIAN_TRY(const Kernel kernel, prepare_kernel(task, choice));
        try {
            return measure(kernel, Ports::of(task, choice), protocol);
        } catch (const std::bad_alloc&) {
            return fail(ErrorCode::out_of_memory, "free memory, or use a smaller batch",
                        "there is no memory to time `{}`", choice.key());
        }
    });
}

Result<Timing> Timer::time_conversion(const graph::Dims& dims, const plan::Format& from,
                                      const plan::Format& to, const TimingProtocol& protocol) {
    const NoPrimitiveCache no_cache;
    return with_team(context_.threads, [&]() -> Result<Timing> {
        VIRIDIAN_TRY(const Kernel kernel, prepare_conversion(context_, dims, from, to));
        try {
            return measure(kernel, Ports::of_conversion(dims, from, to), protocol);
        } catch (const std::bad_alloc&) {
            return fail(ErrorCode::out_of_memory, "free memory, or use a smaller batch",
                        "there is no memory to time a conversion");
        }
    });
}

}  // namespace viridian::execute::cpu
