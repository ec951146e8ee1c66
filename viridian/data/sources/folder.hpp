#pragma once
// Opens a folder of arrays (.npy or IDX, the latter also gzipped). What the folder holds decides:
//
// - Files only: each file is one array, as in an .npz file. Its name without extension is its column's.
// - Folders only: each folder is a class, and each .npy file in it is one sample of that class. The columns
//   are "data" and "label". Classes are numbered in the order of their names. Samples must have one shape,
//   except that the first dimension of all may differ (then the column varies).
// - Files only and `samples`: each .npy file is one sample, in the order of the names, in the column "data".
//
// The header of every file is read when the folder is opened. What stays in memory is the names of the files
// and the position of each; a sample's file is opened when the sample is read.
#include "viridian/base/file.hpp"
#include "viridian/data/dataset.hpp"

namespace viridian::data {

struct FolderOptions {
    bool samples = false;  // files are samples, not arrays
    // The names of the classes, if a folder is opened for evaluation; empty: the sorted names of its folders.
    std::vector<std::string> categories = {};
};

// `wanted` names the arrays to take; empty: all. Errors: file_not_found, file_unreadable, malformed, mismatch
// (shapes, types or numbers of samples that differ), missing_entry (array or class).
[[nodiscard]] Result<Dataset> open_folder(const Path& folder, const std::vector<std::string>& wanted,
                                          const FolderOptions& options);

}  // namespace viridian::data
