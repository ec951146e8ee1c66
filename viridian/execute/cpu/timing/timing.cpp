#include "viridian/execute/cpu/timing/timing.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "viridian/base/statistics.hpp"
#include "viridian/base/system/disturbance.hpp"
#include "viridian/base/system/machine.hpp"
#include "viridian/execute/cpu/bound_step.hpp"
#include "viridian/execute/cpu/kernels/movement/conversion.hpp"
#include "viridian/execute/cpu/pool/pool.hpp"
#include "viridian/execute/cpu/primitive_cache.hpp"
#include "viridian/execute/cpu/threads.hpp"
#include "viridian/execute/cpu/timing/muster.hpp"

namespace viridian::execute::cpu {
namespace {

using TimingClock = std::chrono::steady_clock;

constexpr std::size_t weight_bytes = std::size_t{400} << 20U;  // beyond any last-level cache
constexpr std::int64_t small_cycle = std::int64_t{8} << 20U;   // beyond the caches of one core
constexpr double patience = 2;                                 // budgets, where runs are disturbed

// Random numbers in f32 and bf16 alike: of either sign, between 2^-7 and 2 in magnitude, with random
// fractions, so that bits change as they do at work and no timing meets a NaN or a denormal.
void fill(std::byte* data, std::size_t bytes) {
    auto* words = reinterpret_cast<std::uint16_t*>(data);
    std::uint32_t state = 12345;
    for (std::size_t i = 0; i < bytes / 2; ++i) {
        state = state * 1664525U + 1013904223U;
        words[i] = static_cast<std::uint16_t>((state >> 16U & 0x8000U) | (0x3c00U + (state >> 20U & 0x3ffU)));
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

// A kernel with the memory that it runs on.
class Timer::Stand {
  public:
    Stand(Timer& timer, const Kernel& kernel, const Ports& ports, bool cached_weights)
        : timer_(timer),
          kernel_(kernel),
          constants_(kernel.constants.size()),
          bindings_(kernel.make_bindings ? kernel.make_bindings() : nullptr) {
        const std::size_t total = whole_lines(kernel.workspace.value) + ports.bytes();
        if (timer.activations_.size() < total) {
            timer.activations_ = Buffer(total);
            fill(timer.activations_.data(), total);
        }
        for (const Packed& packed : kernel.constants)
            constant_bytes_ += whole_lines(static_cast<std::int64_t>(packed->size()));
        Buffer& weights = timer.weights_;
        if (constant_bytes_ > 0 && weights.size() < std::max(weight_bytes, 3 * constant_bytes_)) {
            weights = Buffer(std::max(weight_bytes, 3 * constant_bytes_));
            fill(weights.data(), weights.size());
            timer.cursor_ = 0;
        }
        // As much as the weights of a network may take that stays in the last-level cache: neighbours take
        // some of it.
        cycle_ = cached_weights ? std::min(weights.size(), std::max(timer.cached_bytes_, constant_bytes_))
                                : weights.size();
        places.emplace(ports, timer.activations_.data());
        inputs_.assign(places->inputs.begin(), places->inputs.end());
        pointers_ = {inputs_.data(), places->outputs.data(), constants_.data(), places->end, bindings_.get()};
    }
    Stand(const Stand&) = delete;
    Stand& operator=(const Stand&) = delete;

    // Lets the next run read other weights than the last ones did.
    void turn_weights() {
        if (timer_.cursor_ + constant_bytes_ > cycle_) timer_.cursor_ = 0;
        for (std::size_t i = 0; i < constants_.size(); ++i) {
            constants_[i] = timer_.weights_.data() + timer_.cursor_;
            timer_.cursor_ += whole_lines(static_cast<std::int64_t>(kernel_.constants[i]->size()));
        }
        if (kernel_.bind) kernel_.bind(pointers_);
    }
    void run() { kernel_.run(pointers_); }

    std::optional<PortAddresses> places;

  private:
    Timer& timer_;
    const Kernel& kernel_;
    std::vector<const std::byte*> inputs_, constants_;
    std::shared_ptr<void> bindings_;
    Pointers pointers_{};
    std::size_t constant_bytes_ = 0, cycle_ = 0;
};

void Timer::repeat(const Kernel& kernel, const Ports& ports, bool cached_weights, Seconds at_least,
                   const Window& window) {
    // A kernel that overwrites an input reads its own results. They are replaced from time to time, before
    // they grow, or shrink to denormals.
    constexpr std::int64_t runs_in_place = 16;
    Stand stand(*this, kernel, ports, cached_weights);
    const PortAddresses& places = *stand.places;
    for (std::size_t i = 0; i < ports.inputs.size(); ++i) {
        const std::size_t bytes = whole_lines(ports.inputs[i]);
        if (ports.numbers[i])
            fill(places.inputs[i], bytes);
        else
            std::memset(places.inputs[i], 0, bytes);
    }
    stand.turn_weights();
    stand.run();  // it pays for cold code
    window([&] {
        const auto begin = TimingClock::now();
        for (std::int64_t run = 1;
             std::chrono::duration<double>(TimingClock::now() - begin).count() < at_least.value; ++run) {
            if (ports.overwritten && run % runs_in_place == 0)
                fill(places.inputs[*ports.overwritten], whole_lines(ports.inputs[*ports.overwritten]));
            stand.turn_weights();
            stand.run();
        }
    });
}

Timing Timer::measure(const Kernel& kernel, const Ports& ports, const TimingProtocol& protocol) {
    Stand stand(*this, kernel, ports, protocol.cached_weights);
    const PortAddresses& places = *stand.places;
    const auto write_activations = [&] {
        parallel(context_.threads, [&](int thread) {
            for (std::size_t i = 0; i < ports.outputs.size(); ++i)
                if (i != 0 || !ports.overwritten)
                    touch(places.outputs[i], ports.outputs[i], true, thread, context_.threads);
            for (std::size_t i = 0; i < ports.inputs.size(); ++i)
                touch(places.inputs[i], ports.inputs[i], ports.numbers[i], thread, context_.threads);
        });
    };
    // A kernel whose thread lost its processor took a time slice longer, and one whose workers had none ran
    // on fewer threads: such runs count only where others are too few.
    std::vector<double> seconds, disturbed;
    std::int64_t runs = 0;
    const auto begin = TimingClock::now();
    Timing timing;
    std::int64_t next_look = protocol.at_least;
    for (;;) {
        stand.turn_weights();
        seat().crew->end_rest();
        if (runs == 0 || !protocol.inputs_stay) write_activations();
        const bool all_there = muster(context_.threads);
        const Disturbance disturbance;
        const auto start = TimingClock::now();
        stand.run();
        const double took = std::chrono::duration<double>(TimingClock::now() - start).count();
        const bool undisturbed = all_there && disturbance.none(took);
        if (++runs == 1) continue;  // it pays for cold code
        (undisturbed ? seconds : disturbed).push_back(took);
        const auto count = static_cast<std::int64_t>(seconds.size());
        if (undisturbed && count >= next_look) {
            timing = to_timing(summarize(seconds));
            next_look = count + count / 4 + 1;
            if (sure(timing, protocol.precision)) break;
        }
        const double spent =
            std::chrono::duration<double>(TimingClock::now() - begin).count() / protocol.budget.value;
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

namespace {

template <class Work>
auto with_memory(const std::string& what, const Work& work) -> decltype(work()) {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::out_of_memory, "free memory, or use a smaller batch",
                    "there is no memory to time {}", what);
    }
}

bool takes_no_time(const plan::Choice& choice) {
    return choice.aliasing == plan::Aliasing::view || choice.aliasing == plan::Aliasing::gather;
}

}  // namespace

Result<Timing> Timer::time(const Task& task, const plan::Choice& choice, const TimingProtocol& protocol) {
    if (takes_no_time(choice)) return Timing{};
    const NoPrimitiveCache no_cache;
    return with_crew(*context_.pool, [&]() -> Result<Timing> {
        VIRIDIAN_TRY(const Kernel kernel, prepare_kernel(task, choice));
        return with_memory(choice.key(), [&]() -> Result<Timing> {
            return measure(kernel, Ports::of(task, choice), protocol);
        });
    });
}

Result<Timing> Timer::time_conversion(const graph::Dims& dims, const plan::Format& from,
                                      const plan::Format& to, const TimingProtocol& protocol) {
    const NoPrimitiveCache no_cache;
    return with_crew(*context_.pool, [&]() -> Result<Timing> {
        VIRIDIAN_TRY(const Kernel kernel, prepare_conversion(context_, dims, from, to));
        return with_memory("a conversion", [&]() -> Result<Timing> {
            return measure(kernel, Ports::of_conversion(dims, from, to), protocol);
        });
    });
}

Result<void> Timer::repeat(const Task& task, const plan::Choice& choice, const TimingProtocol& protocol,
                           Seconds at_least, const Window& window) {
    invariant(!takes_no_time(choice), "only what takes time is metered");
    const NoPrimitiveCache no_cache;
    return with_crew(*context_.pool, [&]() -> Result<void> {
        VIRIDIAN_TRY(const Kernel kernel, prepare_kernel(task, choice));
        return with_memory(choice.key(), [&]() -> Result<void> {
            repeat(kernel, Ports::of(task, choice), protocol.cached_weights, at_least, window);
            return {};
        });
    });
}

Result<void> Timer::repeat_conversion(const graph::Dims& dims, const plan::Format& from,
                                      const plan::Format& to, Seconds at_least, const Window& window) {
    const NoPrimitiveCache no_cache;
    return with_crew(*context_.pool, [&]() -> Result<void> {
        VIRIDIAN_TRY(const Kernel kernel, prepare_conversion(context_, dims, from, to));
        return with_memory("a conversion", [&]() -> Result<void> {
            repeat(kernel, Ports::of_conversion(dims, from, to), false, at_least, window);
            return {};
        });
    });
}

}  // namespace viridian::execute::cpu
