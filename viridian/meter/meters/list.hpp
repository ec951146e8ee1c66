#pragma once
// Every meter that Viridian knows, in one explicit list, best first. To add a meter, write its source with
// its row, declare and list the row in list.cpp, and test it.
#include <span>

#include "viridian/meter/meter.hpp"

namespace viridian::meter {

enum class Use : std::uint8_t {
    always,
    if_named,     // only if MeterPaths names its path
    last_resort,  // only if no other meter covers the processor
};

struct Row {
    std::string_view name;
    Diagnosis (*probe)(const MeterPaths& paths);  // what is found here, and which command mends the rest
    Result<Meter> (*open)(const MeterPaths& paths);
    Use use = Use::always;
    std::string_view driver = "";  // the kernel driver whose devices it reads: later meters leave them out
};

[[nodiscard]] std::span<const Row> rows();
[[nodiscard]] std::vector<Diagnosis> probe_all(const MeterPaths& paths = {});
// Errors of both: invalid_argument (no such meter; names them all). `open` adds whatever opening says.
[[nodiscard]] Result<Diagnosis> probe(std::string_view name, const MeterPaths& paths = {});
[[nodiscard]] Result<Meter> open(std::string_view name, const MeterPaths& paths = {});
// The meters that work here: the best one of the CPU, those of every accelerator, and the model if no
// hardware meter covers the CPU. Never empty.
[[nodiscard]] Result<std::vector<Meter>> open_all(const MeterPaths& paths = {});

// Which of these channels to add up for a total without counting any joule twice: packages and their dram;
// psys only if a package is missing; core, uncore are inside the package, gpu and memory inside the
// module.
[[nodiscard]] std::vector<std::uint32_t> counted(std::span<const Channel> channels);

}  // namespace viridian::meter
