#pragma once
// Defines the result of accounting as plain data, from which JSON, text and the page are made
// (docs/account.md, "Products").
#include <optional>
#include <string>
#include <vector>

#include "viridian/base/energy.hpp"

namespace viridian::account {

struct Operation {             // one qualified name of one process on one device and pass
    std::string name;          // "bert/encoder/layer_0/attention/MatMul"
    std::string parent;        // its module or operator
    std::string type;          // "MatMul"
    std::string kind;          // operation, kernel, copy, fill
    std::string device;        // "cpu:0"
    std::string pass;          // forward, backward, recompute, optimizer, or empty if unknown
    std::string stream;        // thread or stream; empty if several
    std::string process = {};  // "rank 0"; empty if the trace is of one process
    std::uint64_t count = 0;
    Seconds seconds;  // summed over instances; callees' time is not included, except by `recency`
    std::optional<Energy> energy;  // none if its device has no meter
    // Returns the mean power while it ran, 0 if that is unknown.
    [[nodiscard]] Watts watts() const {
        return energy && seconds.value > 0 ? energy->value / seconds : Watts(0);
    }
};

// The window and shift of a meter as deconvolve found them, with the shift's 95 % interval.
struct SensorFound {
    Seconds window, shift, shift_low, shift_high;
};

// A Device is one metered device: how its energy was divided, and the parts that no operation received.
struct Device {
    std::string name;
    std::string method;                                // recency, recency-leaves, overlap, deconvolve
    std::string verdict;                               // the reason for this method
    std::string power;                                 // provenance of the meter, "measured:powercap"
    Seconds update;                                    // median time between readings that differ
    Energy idle, unattributed, residual, meter_total;  // as in `Attribution` (attribute/attribution.hpp)
    Joules others;  // energy of other processes, removed before it was divided (power/process_share.hpp)
    std::optional<SensorFound> sensor;
};

// A Flow is data that one qualified name hands to another.
struct Flow {
    std::string from, to;
    std::uint64_t count = 1;
};

// A Module is one layer object of the program.
struct Module {
    std::string name;  // "ResNet/layer4/1/conv2", the beginning of the names of its operations
    std::string type;  // its class, "Conv2d"
    std::uint64_t calls = 0;
    std::uint64_t recomputed = 0;  // calls that the backward pass repeated
    std::string process = {};      // "rank 0"; empty if the trace is of one process
};

struct Accounting {
    std::string trace, power, sharing;  // two file names; how concurrent leaves share energy, in words
    std::vector<Operation> operations;  // by energy, largest first
    std::vector<Device> devices;
    std::vector<Flow> edges;
    std::vector<Module> modules;  // in the order of their first call; empty if the trace has none
    // Names of the processes whose traces were accounted together ("rank 0"); empty if there was one trace.
    std::vector<std::string> processes;
    std::vector<std::string> warnings;  // sentences
    std::uint64_t events = 0;           // of the trace
};

// Returns the energy of the operations of each of `accounting.processes`, in their order.
[[nodiscard]] std::vector<Joules> joules_by_process(const Accounting& accounting);

[[nodiscard]] Json to_json(const Accounting& accounting);
// Returns the accounting that `json` holds. `name` stands for the file in errors. Errors: malformed, mismatch
// (another schema).
[[nodiscard]] Result<Accounting> accounting_from_json(const Json& json, std::string_view name);

}  // namespace viridian::account
