#pragma once
// Defines the result of accounting as plain data, from which JSON, text and the page are made
// (docs/account.md, "Products").
#include <optional>
#include <string>
#include <vector>

#include "viridian/base/energy.hpp"

namespace viridian::account {

struct Operation {       // one qualified name on one device and pass
    std::string name;    // "bert/encoder/layer_0/attention/MatMul"
    std::string parent;  // its module or operator
    std::string type;    // "MatMul"
    std::string kind;    // operation, kernel, copy, fill
    std::string device;
    std::string pass;    // forward, backward, unknown
    std::string stream;  // thread or stream; empty if several
    std::uint64_t count = 0;
    Seconds seconds;               // summed over instances, callees' time not included
    std::optional<Energy> energy;  // none if its device has no meter
    [[nodiscard]] Watts watts() const {
        return energy && seconds.value > 0 ? energy->value / seconds : Watts(0);
    }
};

struct SensorFound {
    Seconds window, shift, shift_low, shift_high;
};

struct Device {
    std::string name;
    std::string method;   // recency, overlap, deconvolve
    std::string verdict;  // why this method
    std::string power;    // provenance of the meter, "measured:powercap"
    Seconds update;       // median time between readings that differ
    Joules idle, unattributed, residual, meter_total;
    Joules others;  // other processes' part, taken off before (CPU share)
    std::optional<SensorFound> sensor;
};

struct Flow {  // data flows between qualified names
    std::string from, to;
    std::uint64_t count = 1;
};

struct Accounting {
    std::string trace, power, sharing;
    std::vector<Operation> operations;  // by energy, largest first
    std::vector<Device> devices;
    std::vector<Flow> edges;
    std::vector<std::string> warnings;
    std::uint64_t events = 0;
};

[[nodiscard]] Json to_json(const Accounting& accounting);
// Errors: malformed, mismatch (another schema).
[[nodiscard]] Result<Accounting> accounting_from_json(const Json& json, std::string_view name);

}  // namespace viridian::account
