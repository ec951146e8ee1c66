#pragma once
// A Meter is a value: a name, its channels, and a function that reads them all now. The kinds of meters are
// the rows of meters/list.hpp.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "viridian/base/file.hpp"
#include "viridian/base/units.hpp"
#include "viridian/meter/sample.hpp"

namespace viridian::meter {

struct Meter {
    std::string name;
    std::vector<Channel> channels;
    // Appends one sample or more per channel that answers (`Sample::channel` indexes `channels`). If some
    // channel fails the others are still appended, and the error names it. Errors: no_permission,
    // device_failed, file_unreadable.
    std::function<Result<void>(std::vector<Sample>& samples)> read;
    // The list of channels if more of them appear while reading (threads), otherwise null.
    std::shared_ptr<const std::vector<Channel>> growing = nullptr;
    // Returns all channels so far.
    [[nodiscard]] const std::vector<Channel>& listed() const { return growing ? *growing : channels; }
    Seconds update{0.001};  // how often its values change, as far as known; `measure_update` finds out
    Seconds shortest{0.0};  // reading it more often than this tells nothing new
};

// A Diagnosis is the result of probing one meter, for `viridian doctor`.
struct Diagnosis {
    std::string name;
    bool works = false;
    std::string finding;    // the result in one sentence
    std::string next_step;  // the command that would mend it; empty if it works or nothing can be done
    std::vector<std::string> details = {};  // one line per device, if there are several things to say
};

// MeterPaths says where meters look. Every path can be moved, so that tests need no hardware.
struct MeterPaths {
    Path root = "/";                                   // sysfs and procfs lie below it
    std::map<std::string, Path, std::less<>> of = {};  // by meter: its library (nvml, amdsmi) or log (replay)
    // Kernel drivers whose devices another meter reads already.
    std::vector<std::string> covered_drivers = {};

    // Returns the path that `of` names for `meter`, else `usual`.
    [[nodiscard]] Path path_of(std::string_view meter, std::string_view usual = "") const {
        const auto found = of.find(meter);
        return found == of.end() ? Path(usual) : found->second;
    }
};

}  // namespace viridian::meter
