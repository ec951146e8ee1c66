#pragma once
// Opens an .npz file: a zip archive of .npy arrays, as numpy.savez and numpy.savez_compressed write it.
#include "viridian/data/dataset.hpp"
#include "viridian/data/sources/byte_source.hpp"

namespace viridian::data {

// Returns the arrays as columns of their names without `.npy`: those named in `wanted`, or all if it is
// empty. Arrays that are not wanted are not unpacked. Errors: malformed, unsupported, missing_entry (no such
// array), mismatch (different numbers of samples), file_not_writable, disk_full.
[[nodiscard]] Result<Dataset> open_npz(const ByteSource& archive, const std::vector<std::string>& wanted);

// Returns the columns as one dataset, or the error `mismatch` that lists their numbers of samples.
// `counts[i]` belongs to `fields[i]`.
[[nodiscard]] Result<Dataset> of_equal_length(std::string name, std::vector<Field> fields,
                                              const std::vector<std::int64_t>& counts);

}  // namespace viridian::data
