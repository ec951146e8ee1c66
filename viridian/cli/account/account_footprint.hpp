#pragma once
// Prints who used the energy of a result of accounting: the rows of its modules, their classes, the
// operators, or the qualified names.
#include <optional>

#include "viridian/account/products/footprint.hpp"
#include "viridian/account/result.hpp"
#include "viridian/cli/command.hpp"

namespace viridian::cli {

// Grouping is what the user asked for with --by and --depth, and how many rows the text has.
struct Grouping {
    std::string
        by;  // "module", "type", "operator", "name"; empty: module if the trace has modules, else name
    std::optional<std::int64_t> depth;
    std::size_t top = 15;
};

// Adds the option --by and --depth to `app`.
void define_grouping(App app, Grouping& grouping);

// Returns the table of `result` as text, and as JSON an object with `by`, `depth` and `rows`; null for names,
// whose table is the summary. Errors: missing_entry if the user asks for modules and the trace names none.
[[nodiscard]] Result<Answer> footprint_answer(const account::Accounting& result, const Grouping& grouping);

// Returns `entries` as a table with at most `top` rows.
[[nodiscard]] std::string footprint_table(const std::vector<account::FootprintRow>& entries, std::size_t top);

}  // namespace viridian::cli
