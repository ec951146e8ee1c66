#pragma once
// Opens a file or folder as a dataset. The content decides which format it is. Only if it cannot, the
// extension decides (.csv, .tsv, .txt). docs/data.md shows each format with an example.
//
// | format          | read at random from                | held in memory                              |
// |-----------------|------------------------------------|---------------------------------------------|
// | .npy, IDX       | the file                           | nothing                                     |
// | .npz, stored    | the archive                        | nothing                                     |
// | .npz, deflated  | a temporary file, unpacked once    | members of at most 1 MiB                    |
// | any file, .gz   | a temporary file, unpacked once    | files of at most 1 MiB                      |
// | CSV             | the file                           | 8 bytes a sample, the words of the labels   |
// | text            | the file                           | the vocabulary, 8 bytes a 1,024 characters  |
// | folder          | the files                          | paths, 8 to 24 bytes a sample               |
#include "viridian/data/dataset.hpp"
#include "viridian/data/sources/csv.hpp"
#include "viridian/data/sources/folder.hpp"
#include "viridian/data/sources/text.hpp"

namespace viridian::data {

struct OpenOptions {
    Format format = Format::automatic;
    // The column of a file that holds one array; "": the file's name without extension.
    std::string name = {};
    // The arrays to take from an .npz file or a folder; empty: all.
    std::vector<std::string> arrays = {};
    CsvOptions csv = {};
    TextOptions text = {};
    FolderOptions folder = {};
};

// Errors: file_not_found, file_unreadable, malformed (empty, cut off, not of its format), unsupported
// (element type, compression), mismatch (different numbers of samples), missing_entry, limit_exceeded,
// invalid_argument, file_not_writable, disk_full (unpacking).
[[nodiscard]] Result<Dataset> open(const Path& path, const OpenOptions& options = {});

// Opens the content of one file, which is not a folder.
[[nodiscard]] Result<Dataset> open_bytes(const ByteSource& file, const OpenOptions& options = {});

}  // namespace viridian::data
