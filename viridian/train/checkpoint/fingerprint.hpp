#pragma once
// A fingerprint of samples tells whether a resumed run reads what it read before: how many samples there are,
// of which form, and a checksum of their values.
#include <string>
#include <vector>

#include "viridian/data/dataset.hpp"

namespace viridian::train {

struct ColumnPrint {
    std::string source;  // the option that gives the samples: "--data"
    std::string column;
    std::string form;    // "600 samples of f32[1,28,28]"; rows of different lengths as f32[*,28]
    std::string values;  // a CRC-32C as hexadecimal digits

    bool operator==(const ColumnPrint&) const = default;
};

// Returns the fingerprints of these columns. A checksum covers the names of classes and the values of blocks
// of consecutive samples; a block has at most 1 MiB and 4,096 samples, but at least one sample. If a column
// has more than 64 blocks, 64 evenly spread ones are read, the first and the last among them: a change
// elsewhere is not noticed. Errors: missing_entry (no such column), those of reading.
[[nodiscard]] Result<std::vector<ColumnPrint>> fingerprints(const data::Dataset& samples,
                                                            const std::vector<std::string>& columns,
                                                            const std::string& source);

// Checks that the samples `now` are those of the run that `file` was written by. With `other_values` only
// the form must be the same. Errors: mismatch; the sentence names each column that differs.
[[nodiscard]] Result<void> check_same_samples(const std::vector<ColumnPrint>& saved,
                                              const std::vector<ColumnPrint>& now, const std::string& file,
                                              bool other_values);

}  // namespace viridian::train
