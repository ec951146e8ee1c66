#pragma once
// Random Kineto-like text with a known answer, written as a real profiler would and then shuffled.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "viridian/base/random.hpp"

namespace viridian::tests {

struct RandomTrace {
    std::vector<std::string> rows;
    std::size_t operators = 0, kernels = 0, backward = 0;

    [[nodiscard]] std::string text() const {
        std::string all = "{\"schemaVersion\": 1, \"traceEvents\": [\n";
        for (const std::string& row : rows) all += row + ",\n";
        return all + "{}], \"baseTimeNanoseconds\": 1700000000000000000}\n";
    }
    void shuffle(Random& random) {
        for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random.below(i)]);
    }
};

// Steps of modules with operators, a launch and a kernel each, then the same operators backward on another
// thread.
inline RandomTrace random_trace(Random& random, int steps) {
    RandomTrace trace;
    std::int64_t time = 1'000'000, id = 0, sequence = 0;  // nanoseconds
    const auto us = [](std::int64_t ns) { return fmt::format("{}.{:03d}", ns / 1000, ns % 1000); };
    const auto add = [&](std::string_view category, std::string_view name, int pid, int tid,
                         std::int64_t start, std::int64_t length, std::string_view args) {
        trace.rows.push_back(fmt::format(
            R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
            category, name, pid, tid, us(start), us(length), args));
    };
    for (int step = 0; step < steps; ++step) {
        const std::int64_t step_start = time;
        std::vector<std::int64_t> numbers;
        for (int module = 0; module < 3; ++module) {
            const std::int64_t module_start = time;
            time += 10;
            for (auto left = 1 + random.below(4); left > 0; --left) {
                const std::int64_t length = random.between(2'000, 90'000);
                ++id;
                add("cpu_op", fmt::format("aten::op{}", id % 7), 10, 10, time, length,
                    fmt::format(R"("External id": {}, "Sequence number": {}, "Fwd thread id": 0)", id,
                                ++sequence));
                add("cuda_runtime", "cudaLaunchKernel", 10, 10, time + 500, 900,
                    fmt::format(R"("correlation": {})", id + 50'000));
                add("kernel", fmt::format("kernel{}", id % 5), 0, 7, time + random.between(-3'000, 400'000),
                    length, fmt::format(R"("device": 0, "stream": 7, "correlation": {})", id + 50'000));
                numbers.push_back(sequence);
                time += length + random.between(1, 3'000);
                ++trace.operators, ++trace.kernels;
            }
            add("python_function", fmt::format("nn.Module: Block_{}", module), 10, 10, module_start,
                time - module_start, "");
            time += 5;
        }
        for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
            const std::int64_t length = random.between(2'000, 90'000);
            ++id;
            add("cpu_op", fmt::format("autograd::engine::evaluate_function: Op{}Backward0", id % 7), 10, 11,
                time, length,
                fmt::format(R"("External id": {}, "Sequence number": {}, "Fwd thread id": 1)", id, *number));
            time += length + 3;
            ++trace.operators, ++trace.backward;
        }
        add("user_annotation", fmt::format("ProfilerStep#{}", step), 10, 10, step_start - 5,
            time - step_start + 10, "");
        time += 1000;
    }
    return trace;
}

}  // namespace viridian::tests
