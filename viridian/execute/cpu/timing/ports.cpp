#include "viridian/execute/cpu/timing/ports.hpp"

#include <algorithm>
#include <cstring>

namespace viridian::execute::cpu {
namespace {

constexpr std::size_t line = 64;
constexpr std::int64_t page = 4096;
constexpr int small_number = 0x3c;  // in every byte: 0.011 in f32 and bf16 alike

}  // namespace

std::size_t whole_lines(std::int64_t bytes) {
    return (static_cast<std::size_t>(bytes) + line - 1) / line * line;
}

Ports Ports::of(const Task& task, const plan::Choice& choice) {
    Ports ports;
    for (std::size_t i = 0; i < choice.inputs.size(); ++i)
        ports.inputs.push_back(plan::buffer_bytes(choice.inputs[i], task.dims(task.region.inputs[i])));
    for (const plan::Format& format : choice.inputs)
        ports.numbers.push_back(graph::is_floating(format.element));
    for (std::size_t i = 0; i < choice.outputs.size(); ++i)
        ports.outputs.push_back(plan::buffer_bytes(choice.outputs[i], task.dims(task.region.outputs[i])));
    if (choice.aliasing == plan::Aliasing::overwrite) ports.overwritten = choice.overwritten;
    return ports;
}

Ports Ports::of_conversion(const graph::Dims& dims, const plan::Format& from, const plan::Format& to) {
    return {{plan::buffer_bytes(from, dims)},
            {plan::buffer_bytes(to, dims)},
            {graph::is_floating(from.element)},
            std::nullopt};
}

Ports Ports::of_step(const Context& context, const graph::Graph& graph, const plan::Plan& plan,
                     const plan::Step& step) {
    if (step.kind == plan::Step::Kind::kernel) return of(Task{context, graph, step.region}, step.choice);
    const plan::Buffer& from = plan.buffers[step.inputs[0]];
    return of_conversion(from.dims, from.format, plan.buffers[step.outputs[0]].format);
}

std::size_t Ports::bytes() const {
    std::size_t sum = 0;
    for (const auto* list : {&inputs, &outputs})
        for (const std::int64_t bytes : *list) sum += whole_lines(bytes) + line;
    return sum;
}

PortAddresses::PortAddresses(const Ports& ports, std::byte* start) : end(start) {
    const auto take = [&](std::int64_t bytes) {
        std::byte* place = end;
        end += whole_lines(bytes) + line;
        return place;
    };
    for (const std::int64_t bytes : ports.inputs) inputs.push_back(take(bytes));
    for (std::size_t i = 0; i < ports.outputs.size(); ++i)
        outputs.push_back(i == 0 && ports.overwritten ? inputs[*ports.overwritten] : take(ports.outputs[i]));
}

void touch(std::byte* data, std::int64_t bytes, bool numbers, int thread, int threads) {
    const auto whole = static_cast<std::int64_t>(whole_lines(bytes));
    for (std::int64_t at = thread * page; at < whole; at += threads * page)
        std::memset(data + at, numbers ? small_number : 0,
                    static_cast<std::size_t>(std::min(page, whole - at)));
}

}  // namespace viridian::execute::cpu
