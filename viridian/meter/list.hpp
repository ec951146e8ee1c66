#pragma once
// Every meter Viridian knows, in one explicit list, best first. A meter is a row: name, probe, open.
#include <span>

#include "viridian/meter/meter.hpp"

namespace viridian::meter {

struct Row {
    std::string_view name;
    Finding (*probe)(const Places& places);
    Result<Meter> (*open)(const Places& places);
};

[[nodiscard]] std::span<const Row> rows();
[[nodiscard]] std::vector<Finding> probe_all(const Places& places = {});
// Errors: invalid_argument (no such meter; names them all), and whatever opening says.
[[nodiscard]] Result<Meter> open(std::string_view name, const Places& places = {});
// The meters that work here: of the CPU's the best one, every accelerator's, and the model where no hardware
// meter covers the CPU. Never empty.
[[nodiscard]] Result<std::vector<Meter>> open_all(const Places& places = {});

// Which of these channels to add up for a total without counting any joule twice: packages and their dram;
// psys only where a package is missing; core, uncore are inside the package, gpu and memory inside the
// module.
[[nodiscard]] std::vector<std::uint32_t> counted(std::span<const Channel> channels);

}  // namespace viridian::meter
