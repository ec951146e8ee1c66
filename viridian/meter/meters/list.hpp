#pragma once
// Lists every meter that Viridian knows, best first. To add a meter, write its source with
// its row, declare and list the row in list.cpp, and test it.
#include <span>

#include "viridian/meter/meter.hpp"

namespace viridian::meter {

// Use says when `open_all` opens a meter.
enum class Use : std::uint8_t {
    always,
    if_named,     // only if MeterPaths names its path
    last_resort,  // only if no other meter covers the processor
};

// A Row is one kind of meter.
struct Row {
    std::string_view name;
    Diagnosis (*probe)(const MeterPaths& paths);     // says what is found here, and what to do if nothing is
    Result<Meter> (*open)(const MeterPaths& paths);  // opens the meter
    Use use = Use::always;
    std::string_view driver = {};  // the kernel driver whose devices it reads; later meters leave them out
};

// Returns all rows, best first.
[[nodiscard]] std::span<const Row> rows();
// Probes every meter, except those that only run if named and are not.
[[nodiscard]] std::vector<Diagnosis> probe_all(const MeterPaths& paths = {});
// Probe and open the meter called `name`. Errors: invalid_argument, with the list of names; those of opening.
[[nodiscard]] Result<Diagnosis> probe(std::string_view name, const MeterPaths& paths = {});
[[nodiscard]] Result<Meter> open(std::string_view name, const MeterPaths& paths = {});
// Opens the meters that work here: the best one of the CPU, those of every accelerator, and the model if no
// hardware meter covers the CPU. The list is never empty. Errors: those of the model if nothing else works.
[[nodiscard]] Result<std::vector<Meter>> open_all(const MeterPaths& paths = {});

// Returns the indices of the channels to add up for a total that counts no joule twice. Packages, their dram
// and GPUs count. A channel that contains or is contained in one of these counts only if that is missing:
// psys if there is no package, core and uncore if the device has no package and there is no psys, a module if
// the device has no GPU channel, and memory if it has neither. If one quantity has several channels, the
// counter counts, else the average, else the instantaneous power.
[[nodiscard]] std::vector<std::uint32_t> counted(std::span<const Channel> channels);

}  // namespace viridian::meter
