#pragma once
// Divides the energy of a result of accounting among the modules of the program, among their classes, or
// among the framework's operators. Every joule of an operation is in exactly one row, so that the rows add up
// to the energy of all operations: the meter's total less idle, unattributed and residual.
#include <optional>

#include "viridian/account/result.hpp"

namespace viridian::account {

enum class GroupBy { module, type, op };
// Returns the grouping of a name ("module", "type", "operator"), nothing if there is none of that name.
[[nodiscard]] std::optional<GroupBy> group_by_from(std::string_view name);

struct PassJoules {
    Joules forward, backward, recompute, optimizer, unknown;
};

struct GroupRow {
    // Module: its qualified name, "layer4.1.conv2", as `named_modules()` of the model gives it. If the
    // program has several models, the class of its model stands before: "Generator.main.0". Work outside
    // modules has rows of its own: `(optimizer)`, `(outside modules)`.
    std::string name;
    std::string type;  // class of a module; empty for other rows
    // The row holds what the module does itself, without the modules in it, which have rows of their own.
    bool own = false;
    std::uint64_t calls = 0;   // of modules, recomputed calls included; of operators
    Joules energy, low, high;  // `low` and `high` are the interval of `energy`
    Seconds seconds;
    PassJoules passes;                    // they add up to `energy`
    std::vector<Joules> by_process = {};  // in the order of Accounting::processes; they add up to `energy`
};

// Returns the rows, largest energy first. A module that holds no others has a row even if it did no work.
// With `depth`, a module farther than `depth` names below its model is part of the module above it that is
// not; 0 gives one row for each model. Energies of several devices and processes are added up.
[[nodiscard]] std::vector<GroupRow> module_footprint(const Accounting& accounting, GroupBy by,
                                                     std::optional<std::size_t> depth = std::nullopt);

}  // namespace viridian::account
