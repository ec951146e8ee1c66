// Megatron-LM's chunk order: per rank the chunks in the order they run, 1-based, negative for backwards.
#include <algorithm>

#include "viridian/pipeline/formats/formats.hpp"
#include "viridian/pipeline/profile/csv.hpp"

namespace viridian::pipeline {

Result<Read> read_megatron_order(std::string_view text, std::string_view name) {
    std::vector<std::vector<int>> ranks;
    int chunks = 0, line = 0;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view row = trimmed(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        ++line;
        if (row.empty() || row.starts_with('#')) continue;
        auto& rank = ranks.emplace_back();
        while (!row.empty()) {
            const std::size_t blank = row.find_first_of(" \t");
            const auto number = whole_of(row.substr(0, blank));
            if (!number || *number == 0 || std::abs(*number) > 4096)
                return fail(ErrorCode::malformed, "write chunk numbers from 1, negative for backwards",
                            "`{}`, line {}: `{}` is not a chunk", name, line,
                            row.substr(0, std::min<std::size_t>(blank, 40)));
            rank.push_back(static_cast<int>(*number));
            chunks = std::max(chunks, std::abs(rank.back()));
            row = blank == std::string_view::npos ? std::string_view() : trimmed(row.substr(blank));
        }
    }
    if (ranks.empty())
        return fail(ErrorCode::malformed, "give one line per rank", "`{}` holds no order", name);
    const int count = static_cast<int>(ranks.size());
    Schedule schedule{"megatron", count * chunks, 0, false, {}};
    for (int r = 0; r < count; ++r) {
        auto& units = schedule.ranks.emplace_back();
        std::vector<int> forward(static_cast<std::size_t>(chunks), 0), backward = forward;
        for (const int chunk : ranks[static_cast<std::size_t>(r)]) {
            const auto c = static_cast<std::size_t>(std::abs(chunk) - 1);
            const int m = (chunk > 0 ? forward : backward)[c]++;
            units.push_back({static_cast<int>(c) * count + r, m, chunk > 0 ? Kind::forward : Kind::backward});
            schedule.micro_batches = std::max(schedule.micro_batches, m + 1);
        }
    }
    return Read{plan_of(std::move(schedule)), {}};
}

Result<Written> write_megatron_order(const PlanFile& plan) {
    Written out;
    const Schedule& schedule = plan.schedule;
    const int ranks = static_cast<int>(schedule.ranks.size());
    bool renumbered = false, reduces = false;
    for (int r = 0; r < ranks; ++r) {
        std::vector<int> next(static_cast<std::size_t>(schedule.stages) * 2, 0);
        std::string row;
        for (const Unit& unit : schedule.ranks[static_cast<std::size_t>(r)]) {
            if (unit.kind == Kind::reduce) {
                reduces = true;
                continue;
            }
            if (unit.kind == Kind::weight || unit.stage % ranks != r)
                return fail(ErrorCode::unsupported, "write --to pytorch for such schedules",
                            "Megatron's order knows forwards and backwards of stages rank + chunk × ranks, "
                            "not {} on rank {}",
                            unit.text(), r);
            const int chunk = unit.stage / ranks + 1;
            renumbered =
                renumbered ||
                unit.micro_batch !=
                    next[static_cast<std::size_t>(unit.stage) * 2 + (unit.kind == Kind::forward ? 0 : 1)]++;
            row += fmt::format("{}{}", row.empty() ? "" : " ", unit.kind == Kind::forward ? chunk : -chunk);
        }
        out.text += row + "\n";
    }
    if (renumbered) out.lost.push_back("micro-batch numbers: a chunk's micro-batches run in order");
    if (reduces) out.lost.push_back("all-reduce units are left to the trainer");
    if (std::ranges::any_of(plan.clock, [](Hertz c) { return c.value > 0; })) out.lost.push_back("clocks");
    return out;
}

}  // namespace viridian::pipeline
