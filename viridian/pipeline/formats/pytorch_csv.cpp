// The schedule CSV of torch.distributed.pipelining. A whole backward in a schedule with weight units is our
// backward joined to its weight unit (`overlapped`), written `B` again.
#include <algorithm>
#include <charconv>
#include <optional>

#include "viridian/pipeline/formats/formats.hpp"
#include "viridian/pipeline/profile/csv.hpp"

namespace viridian::pipeline {
namespace {

constexpr int most_index = 1 << 22;

struct Action {
    int stage = 0;
    std::string_view kind;
    int micro_batch = -1;  // absent: an action of the whole stage
};

// `{stage}{letters}{micro_batch}`
std::optional<Action> action_of(std::string_view cell) {
    Action action;
    const char* const end = cell.data() + cell.size();
    const auto stage = std::from_chars(cell.data(), end, action.stage);
    if (stage.ec != std::errc() || action.stage < 0 || action.stage > most_index) return std::nullopt;
    const char* letters = stage.ptr;
    while (letters != end && (*letters == '_' || (*letters >= 'A' && *letters <= 'Z'))) ++letters;
    action.kind = std::string_view(stage.ptr, static_cast<std::size_t>(letters - stage.ptr));
    if (action.kind.empty()) return std::nullopt;
    if (letters == end) return action;
    const auto number = std::from_chars(letters, end, action.micro_batch);
    if (number.ec != std::errc() || number.ptr != end || action.micro_batch < 0 ||
        action.micro_batch > most_index)
        return std::nullopt;
    return action;
}

class Reader {
  public:
    Result<void> cell(std::string_view text, std::string_view name, int line) {
        if (text.empty()) return {};  // a bubble
        if (text.front() == '(') {
            const std::size_t middle = text.find(';'), close = text.find(')');
            if (middle == std::string_view::npos || close == std::string_view::npos || middle > close ||
                text.substr(close + 1) != "OVERLAP_F_B")
                return wrong(text, name, line);
            const auto first = action_of(text.substr(1, middle - 1));
            const auto second = action_of(text.substr(middle + 1, close - middle - 1));
            if (!first || !second) return wrong(text, name, line);
            VIRIDIAN_TRY(add(*first, text, name, line));
            if (!rank().empty()) rank().back().overlapped = true;
            return add(*second, text, name, line);
        }
        const auto action = action_of(text);
        if (!action) return wrong(text, name, line);
        return add(*action, text, name, line);
    }
    std::vector<std::vector<Unit>> ranks;
    std::vector<bool> whole;  // per unit: written `B`
    int communications = 0;

  private:
    std::vector<Unit>& rank() { return ranks.back(); }
    static Error wrong(std::string_view text, std::string_view name, int line) {
        return fail(ErrorCode::malformed, "cells look like 0F0, 1I2, 0W3, 1B0 or (0F1;1B0)OVERLAP_F_B",
                    "`{}`, line {}: `{}` is not an action", name, line, text.substr(0, 40));
    }
    Result<void> add(const Action& action, std::string_view text, std::string_view name, int line) {
        const bool computes = action.kind.size() == 1 &&
                              std::string_view("FBIW").find(action.kind[0]) != std::string_view::npos;
        if (!computes) {
            constexpr std::string_view known[] = {
                "UNSHARD",     "RESHARD", "REDUCE_GRAD", "WAIT_REDUCE_GRAD", "WAIT_SEND_F",
                "WAIT_SEND_B", "SEND_F",  "RECV_F",      "SEND_B",           "RECV_B"};
            if (std::ranges::find(known, action.kind) == std::end(known)) return wrong(text, name, line);
            ++communications;
            return {};
        }
        if (action.micro_batch < 0) return wrong(text, name, line);
        const char letter = action.kind[0];
        Unit unit{action.stage, action.micro_batch, Kind::forward};
        if (letter == 'B' || letter == 'I') unit.kind = Kind::backward;
        if (letter == 'W') unit.kind = Kind::weight;
        whole.push_back(letter == 'B');
        rank().push_back(unit);
        return {};
    }
};

}  // namespace

Result<Read> read_pytorch_csv(std::string_view text, std::string_view name) {
    Reader reader;
    int line = 0;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view row = trimmed(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        ++line;
        if (row.empty() && text.empty()) break;
        reader.ranks.emplace_back();
        while (true) {
            const std::size_t comma = row.find(',');
            VIRIDIAN_TRY(reader.cell(trimmed(row.substr(0, comma)), name, line));
            if (comma == std::string_view::npos) break;
            row.remove_prefix(comma + 1);
        }
    }
    Schedule schedule{"pytorch", 0, 0, false, {}};
    for (const auto& rank : reader.ranks)
        for (const Unit& unit : rank) {
            schedule.stages = std::max(schedule.stages, unit.stage + 1);
            schedule.micro_batches = std::max(schedule.micro_batches, unit.micro_batch + 1);
            schedule.split_backward = schedule.split_backward || unit.kind == Kind::weight;
        }
    if (schedule.stages == 0)
        return fail(ErrorCode::malformed, "give one row of actions per rank", "`{}` holds no action", name);
    std::size_t u = 0;
    for (auto& rank : reader.ranks) {
        auto& units = schedule.ranks.emplace_back();
        for (Unit unit : rank) {
            const bool joined = schedule.split_backward && unit.kind == Kind::backward && reader.whole[u];
            unit.overlapped = unit.overlapped || joined;
            units.push_back(unit);
            if (joined) units.push_back({unit.stage, unit.micro_batch, Kind::weight});
            ++u;
        }
    }
    Read out{plan_of(std::move(schedule)), {}};
    if (reader.communications > 0)
        out.dropped.push_back(
            fmt::format("{} communication actions; torch inserts them again", reader.communications));
    return out;
}

Result<Written> write_pytorch_csv(const PlanFile& plan) {
    Written out;
    bool reduces = false;
    std::vector<std::int64_t> home(static_cast<std::size_t>(plan.schedule.stages), -1);
    for (std::size_t r = 0; r < plan.schedule.ranks.size(); ++r)
        for (const Unit& unit : plan.schedule.ranks[r]) {
            std::int64_t& rank = home[static_cast<std::size_t>(unit.stage)];
            if (rank >= 0 && rank != static_cast<std::int64_t>(r))
                return fail(ErrorCode::unsupported, "choose a schedule that runs each stage on one rank",
                            "torch keeps each stage on one rank; stage {} runs on ranks {} and {}",
                            unit.stage, rank, r);
            rank = static_cast<std::int64_t>(r);
        }
    const bool split = plan.schedule.split_backward;
    for (const auto& rank : plan.schedule.ranks) {
        std::string row;
        for (std::size_t i = 0; i < rank.size(); ++i) {
            const auto cell = [&](std::size_t& k) {
                const Unit& unit = rank[k];
                char letter = unit.kind == Kind::forward  ? 'F'
                              : unit.kind == Kind::weight ? 'W'
                              : split                     ? 'I'
                                                          : 'B';
                if (split && unit.kind == Kind::backward && unit.overlapped && k + 1 < rank.size() &&
                    rank[k + 1] == Unit{unit.stage, unit.micro_batch, Kind::weight}) {
                    letter = 'B';
                    ++k;
                }
                return fmt::format("{}{}{}", unit.stage, letter, unit.micro_batch);
            };
            if (rank[i].kind == Kind::reduce) {
                reduces = true;
                continue;
            }
            if (!row.empty()) row += ',';
            if (rank[i].kind == Kind::forward && rank[i].overlapped && i + 1 < rank.size() &&
                rank[i + 1].kind == Kind::backward) {
                const std::string first = cell(i);
                const std::string second = cell(++i);
                row += fmt::format("({};{})OVERLAP_F_B", first, second);
            } else {
                row += cell(i);
            }
        }
        out.text += row + "\n";
    }
    if (std::ranges::any_of(plan.clock, [](Hertz c) { return c.value > 0; }))
        out.lost.push_back(
            "the CSV has no clocks: apply them by `register_custom_function`, or write --to zeus beside it");
    if (reduces) out.lost.push_back("all-reduce units are left to the trainer");
    return out;
}

}  // namespace viridian::pipeline
