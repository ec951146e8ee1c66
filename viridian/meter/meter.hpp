#pragma once
// A Meter is a value: a name, its channels, and a function that reads them all now. `list.hpp` names every
// kind of meter. `Finding` is what a probe says of one, for `viridian doctor`.
#include <functional>
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
    // Channels that appear while reading (threads); null: `channels` is all.
    std::shared_ptr<const std::vector<Channel>> growing = nullptr;
    [[nodiscard]] const std::vector<Channel>& listed() const { return growing ? *growing : channels; }
    Seconds update{0.001};  // how often its values change, as far as known; `measure_update` finds out
    Seconds shortest{0.0};  // reading it more often than this tells nothing
};

struct Finding {
    std::string name;
    bool works = false;
    std::string finding;    // what was found, in one sentence
    std::string next_step;  // the command that would mend it; empty where it works or nothing can be done
    std::vector<std::string> details = {};  // one line per device, where there are several things to say
};

// Where meters look. Everything is relocatable so that tests need no hardware.
struct Places {
    Path root = "/";                         // sysfs and procfs below it
    std::string nvml = "libnvidia-ml.so.1";  // opened at run time
    std::string amdsmi = "libamd_smi.so";    // opened at run time
    std::string hwmon_without = {};          // a driver whose GPUs another meter reads
    Path replay = {};                        // a power log
    double static_watts = 0.0;               // model, whole machine: 0 takes the default (model.hpp)
    double core_watts = 0.0;                 // model, one busy logical CPU
};

}  // namespace viridian::meter
