// Frequency plans of Zeus and of lowtime's Perseus example: a Python list of lists, read as text.
#include <algorithm>
#include <optional>

#include "viridian/pipeline/formats/formats.hpp"
#include "viridian/pipeline/profile/csv.hpp"
#include "viridian/pipeline/schedules/schedules.hpp"

namespace viridian::pipeline {
namespace {

struct Item {
    std::optional<Kind> kind;  // absent in bare lists of clocks
    int mhz = 0;
};

// [ [ item, ... ], ... ] with `#` comments; item = integer | ( 'name' , integer )
class ZeusPlanParser {
  public:
    ZeusPlanParser(std::string_view text, std::string_view name) : text_(text), name_(name) {}

    Result<std::vector<std::vector<Item>>> parse() {
        std::vector<std::vector<Item>> stages;
        VIRIDIAN_TRY(expect('['));
        while (!next_is(']')) {
            VIRIDIAN_TRY(expect('['));
            auto& stage = stages.emplace_back();
            while (!next_is(']')) {
                VIRIDIAN_TRY(const Item one, item());
                stage.push_back(one);
                if (!next_is(',')) break;
                ++position_;
            }
            VIRIDIAN_TRY(expect(']'));
            if (!next_is(',')) break;
            ++position_;
        }
        VIRIDIAN_TRY(expect(']'));
        skip();
        if (position_ != text_.size()) return wrong("text after the list");
        return stages;
    }

  private:
    void skip() {
        while (position_ < text_.size()) {
            const char c = text_[position_];
            if (c == '#')
                position_ = std::min(text_.find('\n', position_), text_.size());
            else if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
                ++position_;
            else
                return;
        }
    }
    bool next_is(char c) {
        skip();
        return position_ < text_.size() && text_[position_] == c;
    }
    Error wrong(std::string_view what) const {
        const auto line =
            1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(position_), '\n');
        return fail(ErrorCode::malformed, "a plan is [[('forward', MHz), ...], ...], one list per stage",
                    "`{}`, line {}: {}", name_, line, what);
    }
    Result<void> expect(char c) {
        if (!next_is(c)) return wrong(fmt::format("`{}` expected", c));
        ++position_;
        return {};
    }
    Result<int> number() {
        skip();
        const std::size_t begin = position_;
        while (position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9') ++position_;
        const auto value = whole_of(text_.substr(begin, position_ - begin));
        if (!value || *value < 1 || *value > 100'000) return wrong("a clock in MHz expected");
        return static_cast<int>(*value);
    }
    Result<Item> item() {
        Item out;
        if (next_is('(')) {
            ++position_;
            if (!next_is('\'') && !next_is('"')) return wrong("an instruction name in quotes expected");
            const char quote = text_[position_++];
            const std::size_t close = text_.find(quote, position_);
            if (close == std::string_view::npos) return wrong("an unclosed quote");
            out.kind = kind_of(text_.substr(position_, close - position_));
            if (!out.kind || *out.kind == Kind::reduce)
                return wrong("an instruction is forward, backward or weight");
            position_ = close + 1;
            VIRIDIAN_TRY(expect(','));
            VIRIDIAN_TRY(out.mhz, number());
            VIRIDIAN_TRY(expect(')'));
        } else {
            VIRIDIAN_TRY(out.mhz, number());
        }
        return out;
    }

    std::string_view text_, name_;
    std::size_t position_ = 0;
};

}  // namespace

Result<Read> read_zeus_plan(std::string_view text, std::string_view name) {
    VIRIDIAN_TRY(const auto stages, ZeusPlanParser(text, name).parse());
    if (stages.empty() || stages[0].empty())
        return fail(ErrorCode::malformed, "a plan has one list per stage", "`{}` holds no instruction", name);
    const int count = static_cast<int>(stages.size());
    const bool bare = !stages[0][0].kind;
    Read out;
    Schedule schedule{"zeus", count, 0, false, {}};
    if (bare) {
        if (stages[0].size() % 2 != 0)
            return fail(ErrorCode::malformed, "every micro-batch has a forward and a backward",
                        "`{}`: {} clocks for stage 0 are not pairs", name, stages[0].size());
        schedule = one_f_one_b(count, static_cast<int>(stages[0].size() / 2));
        schedule.name = "zeus";
        out.dropped.push_back("bare clocks carry no instruction names: read in 1F1B order");
    }
    std::vector<Hertz> clocks;
    for (int s = 0; s < count; ++s) {
        const auto& items = stages[static_cast<std::size_t>(s)];
        if (bare && items.size() != schedule.ranks[static_cast<std::size_t>(s)].size())
            return fail(ErrorCode::malformed, "every stage runs every micro-batch",
                        "`{}`: stage {} has {} clocks, stage 0 {}", name, s, items.size(), stages[0].size());
        if (!bare) schedule.ranks.emplace_back();
        int next[kinds] = {};
        for (const Item& item : items) {
            if (item.kind.has_value() == bare)
                return fail(ErrorCode::malformed, "name every instruction, or none",
                            "`{}` mixes bare clocks and names", name);
            clocks.emplace_back(item.mhz * 1e6);
            if (bare) continue;
            const int m = next[static_cast<int>(*item.kind)]++;
            schedule.ranks.back().push_back({s, m, *item.kind});
            schedule.micro_batches = std::max(schedule.micro_batches, m + 1);
            schedule.split_backward = schedule.split_backward || *item.kind == Kind::weight;
        }
    }
    out.plan = plan_of(std::move(schedule));
    out.plan.clock = std::move(clocks);
    return out;
}

Result<Written> write_zeus_plan(const PlanFile& plan) {
    Written out;
    bool renumbered = false, two_clocks = false, reduces = false;
    std::size_t u = 0;
    out.text = "[\n";
    for (std::size_t r = 0; r < plan.schedule.ranks.size(); ++r) {
        int next[kinds] = {};
        out.text += "[";
        bool first = true;
        for (const Unit& unit : plan.schedule.ranks[r]) {
            const std::size_t i = u++;
            if (unit.kind == Kind::reduce) {
                reduces = true;
                continue;
            }
            if (unit.stage != static_cast<int>(r))
                return fail(ErrorCode::unsupported, "write --to pytorch for such schedules",
                            "a Zeus plan holds one stage per list; rank {} runs stage {}", r, unit.stage);
            Hertz clock = plan.clock[i];
            if (clock.value <= 0)
                return fail(ErrorCode::missing_entry, "plan the clocks first: `viridian pipeline plan`",
                            "{} has no clock, which a Zeus plan needs", unit.text());
            if (plan.second_clock[i].value > 0) {
                clock = std::max(clock, plan.second_clock[i]);
                two_clocks = true;
            }
            renumbered = renumbered || unit.micro_batch != next[static_cast<int>(unit.kind)]++;
            out.text +=
                fmt::format("{}('{}', {:.0f})", first ? "" : ", ", name_of(unit.kind), clock.value / 1e6);
            first = false;
        }
        out.text += "],\n";
    }
    out.text += "]\n";
    if (renumbered) out.lost.push_back("micro-batch numbers: the list only knows first, second, ...");
    if (two_clocks)
        out.lost.push_back("units at two clocks are written at the faster one; plan with --clocks whole");
    if (reduces) out.lost.push_back("all-reduce units are left to the trainer");
    return out;
}

}  // namespace viridian::pipeline
