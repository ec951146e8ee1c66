// DeepSpeed-style instruction lists, one stage per rank; ENVPIPE's LockGpuClock carries the clocks.
#include <algorithm>
#include <optional>

#include "viridian/pipeline/formats/formats.hpp"
#include "viridian/pipeline/profile/csv.hpp"

namespace viridian::pipeline {
namespace {

constexpr std::string_view moves[] = {"LoadMicroBatch", "SendActivation",  "RecvActivation", "SendGrad",
                                      "RecvGrad",       "ReduceTiedGrads", "OptimizerStep"};

struct Instruction {
    std::string_view name;
    std::optional<std::int64_t> argument;  // the one number between the brackets
};

std::optional<Instruction> instruction_of(std::string_view line) {
    const std::size_t open = line.find('(');
    if (open == std::string_view::npos || !line.ends_with(')')) return std::nullopt;
    Instruction out{trimmed(line.substr(0, open)), {}};
    std::string_view inside = trimmed(line.substr(open + 1, line.size() - open - 2));
    if (inside.empty()) return out;
    if (const std::size_t equals = inside.find('='); equals != std::string_view::npos)
        inside.remove_prefix(equals + 1);
    out.argument = whole_of(trimmed(inside));
    if (!out.argument || *out.argument < 0 || *out.argument > 1'000'000'000) return std::nullopt;
    return out;
}

}  // namespace

Result<Read> read_deepspeed(std::string_view text, std::string_view name) {
    Schedule schedule{"deepspeed", 0, 0, false, {}};
    std::vector<Hertz> clocks;
    Hertz clock;
    int line = 0, forward = 0, backward = 0, dropped = 0;
    const auto wrong = [&](std::string_view what) {
        return fail(ErrorCode::malformed,
                    "a list is `rank 0:` and then one instruction per line, as ForwardPass(buffer_id=0)",
                    "`{}`, line {}: {}", name, line, what);
    };
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view row = trimmed(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        ++line;
        if (row.empty() || row.starts_with('#')) continue;
        if (row.starts_with("rank ")) {
            if (row != fmt::format("rank {}:", schedule.ranks.size()))
                return wrong(fmt::format("`rank {}:` expected", schedule.ranks.size()));
            schedule.ranks.emplace_back();
            clock = Hertz();
            forward = backward = 0;
            continue;
        }
        const auto instruction = instruction_of(row);
        if (!instruction) return wrong(fmt::format("`{}` is not an instruction", row.substr(0, 40)));
        if (schedule.ranks.empty()) return wrong("an instruction before `rank 0:`");
        const int s = static_cast<int>(schedule.ranks.size()) - 1;
        if (instruction->name == "LockGpuClock") {
            if (!instruction->argument || *instruction->argument < 1 || *instruction->argument > 100'000)
                return wrong("a clock in MHz expected");
            clock = Hertz(static_cast<double>(*instruction->argument) * 1e6);
        } else if (instruction->name == "ForwardPass" || instruction->name == "BackwardPass") {
            const bool is_forward = instruction->name == "ForwardPass";
            const int m = is_forward ? forward++ : backward++;
            schedule.ranks.back().push_back({s, m, is_forward ? Kind::forward : Kind::backward});
            schedule.micro_batches = std::max(schedule.micro_batches, m + 1);
            clocks.push_back(clock);
        } else if (instruction->name == "ReduceGrads") {
            schedule.ranks.back().push_back({s, 0, Kind::reduce});
            clocks.emplace_back();
        } else if (std::ranges::find(moves, instruction->name) != std::end(moves)) {
            ++dropped;
        } else {
            return wrong(fmt::format("unknown instruction `{}`", instruction->name.substr(0, 40)));
        }
    }
    schedule.stages = static_cast<int>(schedule.ranks.size());
    if (schedule.micro_batches == 0) return wrong("no forward and no backward pass");
    Read out{plan_of(std::move(schedule)), {}};
    out.plan.clock = std::move(clocks);
    if (dropped > 0)
        out.dropped.push_back(
            fmt::format("{} transfers, loads and optimiser steps: they follow from the order", dropped));
    return out;
}

Result<Written> write_deepspeed(const PlanFile& plan) {
    Written out;
    const Schedule& schedule = plan.schedule;
    bool renumbered = false, two_clocks = false;
    std::size_t u = 0;
    for (std::size_t r = 0; r < schedule.ranks.size(); ++r) {
        const auto& rank = schedule.ranks[r];
        int in_flight = 0, buffers = 1, next[kinds] = {};
        for (const Unit& unit : rank) {
            if (unit.kind == Kind::forward) buffers = std::max(buffers, ++in_flight);
            if (unit.kind == Kind::backward) --in_flight;
        }
        out.text += fmt::format("rank {}:\n", r);
        double locked = 0;
        for (const Unit& unit : rank) {
            const std::size_t i = u++;
            if (unit.kind == Kind::weight || unit.stage != static_cast<int>(r))
                return fail(ErrorCode::unsupported, "write --to pytorch for such schedules",
                            "DeepSpeed lists hold one stage per rank and whole backwards, not {} on rank {}",
                            unit.text(), r);
            if (unit.kind == Kind::reduce) {
                out.text += "ReduceTiedGrads()\nReduceGrads()\n";
                continue;
            }
            renumbered = renumbered || unit.micro_batch != next[static_cast<int>(unit.kind)]++;
            Hertz clock = plan.clock[i];
            if (plan.second_clock[i].value > 0)
                clock = std::max(clock, plan.second_clock[i]), two_clocks = true;
            if (clock.value > 0 && clock.value != locked)
                out.text += fmt::format("LockGpuClock(frequency={:.0f})\n", (locked = clock.value) / 1e6);
            const int buffer = unit.micro_batch % buffers;
            const auto line = [&](std::string_view what) {
                out.text += fmt::format("{}(buffer_id={})\n", what, buffer);
            };
            const bool first = r == 0, last = r + 1 == schedule.ranks.size();
            if (unit.kind == Kind::forward) {
                if (first || last) line("LoadMicroBatch");
                if (!first) line("RecvActivation");
                line("ForwardPass");
                if (!last) line("SendActivation");
            } else {
                if (!last) line("RecvGrad");
                line("BackwardPass");
                if (!first) line("SendGrad");
            }
        }
        out.text += "OptimizerStep()\n";
    }
    if (renumbered) out.lost.push_back("micro-batch numbers: passes run in order");
    if (two_clocks)
        out.lost.push_back("units at two clocks are written at the faster one; plan with --clocks whole");
    return out;
}

}  // namespace viridian::pipeline
