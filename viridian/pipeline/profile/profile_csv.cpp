#include "viridian/pipeline/profile/profile_csv.hpp"

#include "viridian/pipeline/profile/csv.hpp"

namespace viridian::pipeline {

Result<Profile> read_profile_csv(std::string_view text, std::string_view name) {
    constexpr int most_stages = 65'535;
    VIRIDIAN_TRY(const Csv csv, parse_csv(text, name));
    VIRIDIAN_TRY(const std::size_t stage, csv.column("stage"));
    VIRIDIAN_TRY(const std::size_t instruction, csv.column("instruction"));
    VIRIDIAN_TRY(const std::size_t frequency, csv.column("frequency"));
    VIRIDIAN_TRY(const std::size_t time, csv.column("time"));
    VIRIDIAN_TRY(const std::size_t energy, csv.column("energy"));
    Profile profile;
    for (const CsvRow& row : csv.rows) {
        VIRIDIAN_TRY(const int s, csv.whole(row, stage, most_stages));
        const auto kind = kind_of(row.cells[instruction]);
        if (!kind || *kind == Kind::reduce)
            return fail(ErrorCode::malformed, "the instruction is forward, backward or weight",
                        "`{}`, line {}: unknown instruction `{}`", name, row.line,
                        row.cells[instruction].substr(0, 40));
        VIRIDIAN_TRY(const double mhz, csv.number(row, frequency));
        VIRIDIAN_TRY(const double seconds, csv.number(row, time));
        VIRIDIAN_TRY(const double joules, csv.number(row, energy));
        if (s >= profile.size()) profile.stages.resize(static_cast<std::size_t>(s) + 1);
        profile.stages[static_cast<std::size_t>(s)].of(*kind).push_back(
            {Hertz(mhz * 1e6), Seconds(seconds), Joules(joules)});
    }
    profile.provenance = {Provenance::Kind::derived, fmt::format("stage profile {}", name)};
    if (auto checked = check_and_sort(profile); !checked.ok())
        return std::move(checked).error().within(fmt::format("in `{}`", name));
    return profile;
}

std::string write_profile_csv(const Profile& profile) {
    std::string text = "stage,instruction,frequency,time,energy\n";
    for (int s = 0; s < profile.size(); ++s)
        for (const Kind kind : profiled_kinds)
            for (const Point& p : profile.stages[static_cast<std::size_t>(s)].of(kind))
                text += fmt::format("{},{},{},{},{}\n", s, name_of(kind), p.clock.value / 1e6, p.time.value,
                                    p.energy.value);
    return text;
}

}  // namespace viridian::pipeline
