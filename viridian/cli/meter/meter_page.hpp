#pragma once
// Writes the result of `viridian meter identify` as JSON, as a table, and as a page in Markdown with plots.
#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"
#include "viridian/meter/characterise/characterise.hpp"

namespace viridian::cli {

[[nodiscard]] Json to_json(const meter::FieldCharacter& field);
// Returns one row per field, in Markdown.
[[nodiscard]] std::string table_of(const std::vector<meter::FieldCharacter>& fields);
// Writes PAGE.md, PAGE-steps.svg and PAGE-gaps.svg, with `page` for PAGE. `log`, `load` and `fields` are the
// input and the result of `characterise`. Errors: those of writing.
[[nodiscard]] Result<void> write_meter_page(const Path& page, const std::string& title,
                                            const meter::ProbeLog& log, std::span<const meter::LoadStep> load,
                                            const std::vector<meter::FieldCharacter>& fields);

}  // namespace viridian::cli
