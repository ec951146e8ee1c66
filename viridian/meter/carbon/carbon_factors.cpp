#include "viridian/meter/carbon/carbon_factors.hpp"

#include <algorithm>
#include <set>

#include "viridian/meter/foreign/log_builder.hpp"

namespace viridian::meter {
namespace {

constexpr std::string_view carbon_header = "time,gco2e_per_kwh,source";
constexpr double joules_per_kilowatt_hour = 3.6e6;
constexpr double most_grams = 5000.0;  // per kilowatt-hour; lignite is near 1200
constexpr double most_pue = 10.0;

class CarbonReader {
  public:
    CarbonReader(std::string_view text, std::string_view name) : lines_(text), name_(name) {}

    Result<std::vector<CarbonFactors::Row>> rows() {
        std::vector<CarbonFactors::Row> rows;
        bool headed = false;
        while (lines_.next()) {
            std::string_view line = lines_.line();
            if (lines_.number() == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
            if (line.starts_with('#')) {
                VIRIDIAN_TRY(comment(trimmed(line.substr(1))));
            } else if (!headed) {
                if (line != carbon_header)
                    return wrong(fmt::format("should be the header `{}`", carbon_header));
                headed = true;
            } else {
                VIRIDIAN_TRY(CarbonFactors::Row row, row_of(line));
                if (always || (!rows.empty() && row.begin_ns <= rows.back().begin_ns))
                    return wrong(always ? "follows a row that holds always"
                                        : "is not later than the row before it");
                always = untimed_;
                rows.push_back(std::move(row));
            }
        }
        return check(std::move(rows));
    }

    bool always = false;
    double pue = 1.0;

  private:
    [[nodiscard]] Error wrong(std::string_view what) const {
        return fail(ErrorCode::malformed, "see \"Carbon\" in docs/fleet.md",
                    "`{}` is not a file of carbon factors: line {} {}", name_, lines_.number(), what);
    }

    // `pue 1.3`; other comments are the user's.
    Result<void> comment(std::string_view text) {
        if (!text.starts_with("pue ")) return {};
        const auto number = real_number(trimmed(text.substr(4)));
        if (!number || *number < 1.0 || *number > most_pue)
            return wrong(fmt::format("has a PUE that is not a number from 1 to {}", most_pue));
        if (std::exchange(has_pue_, true)) return wrong("names a PUE again");
        pue = *number;
        return {};
    }

    Result<CarbonFactors::Row> row_of(std::string_view line) {
        const auto fields = csv_fields(line);
        if (fields.size() != 3) return wrong("does not have 3 fields; a source with commas needs quotes");
        const auto grams = real_number(fields[1]);
        if (!grams || *grams < 0.0 || *grams > most_grams)
            return wrong(
                fmt::format("has a factor `{}` that is not a number from 0 to {}", fields[1], most_grams));
        if (*grams > 0.0 && *grams < 1.0)
            return wrong(
                fmt::format("has a factor of {} g/kWh, which looks like kilograms; write grams", fields[1]));
        if (fields[2].empty()) return wrong("does not say the source of its factor");
        untimed_ = fields[0].empty();
        std::optional<std::int64_t> begin = 0;
        if (!untimed_) {
            // The zone stands after "2026-11-24T".
            const bool zoned =
                fields[0].size() > 11 && fields[0].find_first_of("Z+-", 11) != std::string_view::npos;
            begin = zoned ? unix_date(fields[0]) : std::nullopt;
            if (!begin)
                return wrong(fmt::format(
                    "has a time `{}` that is not like 2026-11-24T13:00:00Z or 2026-11-24T14:00:00+01:00",
                    fields[0]));
        }
        return CarbonFactors::Row{*begin, *grams / joules_per_kilowatt_hour, std::string(fields[2])};
    }

    Result<std::vector<CarbonFactors::Row>> check(std::vector<CarbonFactors::Row> rows) const {
        const auto incomplete = [this](std::string_view what, std::string next) {
            return fail(ErrorCode::malformed, std::move(next),
                        "`{}` is not a file of carbon factors: it has {}", name_, what);
        };
        if (rows.empty())
            return incomplete("no factor", fmt::format("write `{}` and a row below it", carbon_header));
        if (always && rows.size() > 1)
            return incomplete("a row that holds always among others",
                              "leave the time out only where one row is all");
        if (!always && rows.size() == 1)
            return incomplete("one row, which does not say for how long it holds",
                              "leave its time out if it holds always, or add the next row");
        return rows;
    }

    Lines lines_;
    std::string_view name_;
    bool untimed_ = false, has_pue_ = false;
};

}  // namespace

Result<CarbonFactors> CarbonFactors::parse(std::string_view text, std::string_view name) {
    CarbonReader reader(text, name);
    CarbonFactors factors;
    VIRIDIAN_TRY(factors.rows_, reader.rows());
    factors.always_ = reader.always;
    factors.pue_ = reader.pue;
    if (!factors.always_) {
        const std::int64_t last = factors.rows_.back().begin_ns;
        factors.end_ns_ = last + (last - factors.rows_[factors.rows_.size() - 2].begin_ns);
    }
    return factors;
}

const CarbonFactors::Row* CarbonFactors::at(std::int64_t time_ns) const {
    if (always_) return &rows_.front();
    if (rows_.empty() || time_ns >= end_ns_) return nullptr;
    const auto after = std::ranges::upper_bound(rows_, time_ns, {}, &Row::begin_ns);
    return after == rows_.begin() ? nullptr : &*std::prev(after);
}

std::optional<CarbonFactors::Span> CarbonFactors::over(std::int64_t begin_ns, std::int64_t end_ns) const {
    const Row* first = at(begin_ns);
    if (first == nullptr || at(std::max(begin_ns, end_ns)) == nullptr) return std::nullopt;
    Span span{0.0, first->grams_per_joule, first->grams_per_joule, {}};
    std::set<std::string_view> sources;
    for (const Row* row = first; row <= &rows_.back(); ++row) {
        if (row != first && row->begin_ns >= end_ns) break;
        const std::int64_t from = std::max(begin_ns, row->begin_ns);
        const std::int64_t to = row == &rows_.back() ? end_ns : std::min(end_ns, std::next(row)->begin_ns);
        const double part =
            end_ns > begin_ns ? static_cast<double>(to - from) / static_cast<double>(end_ns - begin_ns) : 1.0;
        span.mean += row->grams_per_joule * part;
        span.least = std::min(span.least, row->grams_per_joule);
        span.most = std::max(span.most, row->grams_per_joule);
        sources.insert(row->source);
    }
    for (double* factor : {&span.mean, &span.least, &span.most}) *factor *= pue_;
    span.source = fmt::format("{}", fmt::join(sources, ", "));
    return span;
}

}  // namespace viridian::meter
