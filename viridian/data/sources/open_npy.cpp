#include <algorithm>
#include <cstring>

#include "viridian/data/npy.hpp"
#include "viridian/data/sources/array.hpp"
#include "viridian/data/sources/spool.hpp"

namespace viridian::data {
namespace {

// Column-major elements in row-major order. Element (i, r) of `count` rows lies at i + count * r, so the
// piece of some rows is gathered from one run of bytes for each r.
Result<ByteSource> in_row_major_order(const Array& columns) {
    constexpr std::size_t most = std::size_t{1} << 24;
    const auto element = static_cast<std::size_t>(graph::size_of(columns.type));
    const auto rows = static_cast<std::size_t>(columns.dims.front());
    std::size_t width = 1;
    for (std::size_t axis = 1; axis < columns.dims.size(); ++axis)
        width *= static_cast<std::size_t>(columns.dims[axis]);
    // Where the k-th element of a row, in row-major order, lies among those of column-major order.
    const auto place = [&](std::size_t k) {
        std::size_t strides = width, at = 0;
        for (std::size_t axis = columns.dims.size() - 1; axis > 0; --axis) {
            const auto dimension = static_cast<std::size_t>(columns.dims[axis]);
            strides /= dimension;
            at += k % dimension * strides;
            k /= dimension;
        }
        return at;
    };
    Spool spool(columns.bytes.name());
    if (rows == 0 || width == 0) return spool.finish();
    const std::size_t block = std::clamp<std::size_t>(most / (width * element), 1, rows);
    std::string piece(block * width * element, '\0'), run(block * element, '\0');
    for (std::size_t first = 0; first < rows; first += block) {
        const std::size_t count = std::min(block, rows - first);
        for (std::size_t k = 0; k < width; ++k) {
            VIRIDIAN_TRY(columns.bytes.read((first + rows * place(k)) * element,
                                            std::as_writable_bytes(std::span(run.data(), count * element))));
            for (std::size_t i = 0; i < count; ++i)
                std::memcpy(piece.data() + (i * width + k) * element, run.data() + i * element, element);
        }
        VIRIDIAN_TRY(spool.append(std::as_bytes(std::span(piece.data(), count * width * element))));
    }
    return spool.finish();
}

}  // namespace

Result<Array> open_npy(const ByteSource& file) {
    VIRIDIAN_TRY(const std::string beginning, file.text(0, 4096));
    Result<NpyHeader> header = parse_npy_header(beginning, file.name());
    if (!header.ok() && is_npy(beginning) && file.size() > beginning.size()) {
        VIRIDIAN_TRY(const std::string longer, file.text(0, npy_most_prefix));
        header = parse_npy_header(longer, file.name());
    }
    if (!header.ok()) return std::move(header).error();
    if (header->dims.empty())
        return fail(ErrorCode::malformed, "save an array whose first dimension counts the samples",
                    "`{}` is a single number, not one value for each sample", file.name());
    const auto needed = static_cast<std::uint64_t>(*graph::element_count(header->dims)) *
                        static_cast<std::uint64_t>(graph::size_of(header->type));
    if (file.size() - header->start != needed)
        return fail(ErrorCode::malformed, "save the array again with numpy.save",
                    "`{}` needs {} bytes of elements and has {}", file.name(), needed,
                    file.size() - header->start);
    Array array{file.part(header->start, needed, file.name()), header->type, header->dims, false};
    if (header->column_major && header->dims.size() > 1) {
        VIRIDIAN_TRY(array.bytes, in_row_major_order(array));
    }
    return array;
}

}  // namespace viridian::data
