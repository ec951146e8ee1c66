#include "viridian/cli/account/account_carbon.hpp"

#include <algorithm>
#include <limits>

#include "viridian/base/json.hpp"
#include "viridian/meter/carbon/carbon_factors.hpp"

namespace viridian::cli {

Result<void> add_carbon(Answer& answer, const account::Accounting& result, const meter::PowerLog& log,
                        const std::string& path) {
    VIRIDIAN_TRY(const std::string text, read_file(path, std::uint64_t{1} << 26));
    VIRIDIAN_TRY(const meter::CarbonFactors factors, meter::CarbonFactors::parse(text, path));
    std::int64_t begin = std::numeric_limits<std::int64_t>::max(),
                 end = std::numeric_limits<std::int64_t>::min();
    for (const meter::Series& series : log.series) {
        if (series.readings.empty() || !series.channel.is_power()) continue;
        begin = std::min(begin, series.readings.front().time_ns);
        end = std::max(end, series.readings.back().time_ns);
    }
    const auto span = begin <= end ? factors.over(begin, end) : std::nullopt;
    if (!span)
        return fail(ErrorCode::invalid_argument, "add rows for that time, or leave --carbon out",
                    "`{}` does not say the factors of the whole time of the power log", path);
    Energy energy;
    for (const account::Device& device : result.devices) {
        if (energy.provenance.source.empty())
            energy = device.meter_total;
        else
            energy += device.meter_total;
    }
    const double grams = energy.value.value * span->mean;
    // Joules may have been used when the factor was low or when it was high.
    const double low = energy.low.value * span->least, high = energy.high.value * span->most;
    answer.json["carbon"] = {{"grams", grams},
                             {"low", low},
                             {"high", high},
                             {"provenance", energy.provenance.text()},
                             {"grams_per_joule", span->mean},
                             {"pue", factors.pue()},
                             {"source", span->source}};
    answer.text += fmt::format("CO2: {:.6g} g [{:.4g}, {:.4g}] for {:.6g} J, by `{}` ({}; PUE {:g})\n", grams,
                               low, high, energy.value.value, path, span->source, factors.pue());
    return {};
}

}  // namespace viridian::cli
