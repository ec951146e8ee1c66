#pragma once
// Reads the file with which a user says how much CO2 a joule causes (docs/fleet.md, "Carbon"). Viridian never
// guesses a factor: without a file there are no grams, and a time of which the file says nothing has none.
//
//     # pue 1.3
//     time,gco2e_per_kwh,source
//     2026-11-24T00:00:00Z,312,grid operator
//     2026-11-24T01:00:00Z,298,grid operator
//
// A row holds from its time until the next row's, the last row for as long as the row before it. A file with
// one row whose time is empty holds always. Joules are multiplied by the power usage effectiveness (PUE, the
// energy of the building over that of its computers), which is 1 unless the file says it.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "viridian/base/result.hpp"
#include "viridian/base/units.hpp"

namespace viridian::meter {

using Grams = Quantity<struct GramsTag>;  // of CO2 equivalents

class CarbonFactors {
  public:
    struct Row {
        std::int64_t begin_ns = 0;   // Unix time
        double grams_per_joule = 0;  // of CO2 equivalents, without the PUE
        std::string source;
    };
    // Reads the text of the file `name`. Errors: malformed, with the line's number.
    [[nodiscard]] static Result<CarbonFactors> parse(std::string_view text, std::string_view name);
    // Returns the row in force at `time_ns`, Unix time; nullptr if the file says nothing of that time.
    [[nodiscard]] const Row* at(std::int64_t time_ns) const;
    [[nodiscard]] double pue() const { return pue_; }

    // Span holds the factors of a stretch of time, in grams per joule, with the PUE.
    struct Span {
        double mean = 0, least = 0, most = 0;  // the mean is weighted by time
        std::string source;                    // that of every row in it, between commas
    };
    // Returns the factors from `begin_ns` to `end_ns`, Unix time. Nothing if the file does not cover all of
    // it.
    [[nodiscard]] std::optional<Span> over(std::int64_t begin_ns, std::int64_t end_ns) const;

  private:
    std::vector<Row> rows_;    // by time
    std::int64_t end_ns_ = 0;  // of the last row
    bool always_ = false;
    double pue_ = 1.0;
};

}  // namespace viridian::meter
