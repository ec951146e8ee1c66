#pragma once
// An Array is an array of numbers in a file, one sample after the other along its first dimension. It becomes
// a column of a dataset: `array_field` reads samples at their positions in the file.
#include "viridian/data/dataset.hpp"
#include "viridian/data/sources/byte_source.hpp"

namespace viridian::data {

struct Array {
    ByteSource bytes;  // the elements alone, row-major
    graph::ElementType type = graph::ElementType::undefined;
    graph::Dims dims;
    bool big_endian = false;
};

// Opens the array in a .npy file. Elements in column-major order are written once in row-major order to a
// Spool, in pieces of at most 16 MiB. Errors: malformed (not .npy, cut off, of rank 0), unsupported (element
// type), file_not_writable, disk_full.
[[nodiscard]] Result<Array> open_npy(const ByteSource& file);

// Opens the array in an IDX file, MNIST's format: two zero bytes, the element type, the rank, the dimensions
// in 32 bits, most significant byte first, then the elements in the same byte order. Errors: malformed.
[[nodiscard]] Result<Array> open_idx(const ByteSource& file);
// True if these first bytes of a file may begin an IDX file.
[[nodiscard]] bool is_idx(std::string_view bytes);

// Returns the column `name` of the array's samples: `array.dims` has at least one dimension.
[[nodiscard]] Field array_field(std::string name, Array array);

}  // namespace viridian::data
