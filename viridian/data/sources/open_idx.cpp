#include <optional>

#include "viridian/data/sources/array.hpp"

namespace viridian::data {
namespace {

using graph::ElementType;

std::optional<ElementType> idx_type(unsigned char code) {
    switch (code) {
        case 0x08:
            return ElementType::u8;
        case 0x09:
            return ElementType::i8;
        case 0x0B:
            return ElementType::i16;
        case 0x0C:
            return ElementType::i32;
        case 0x0D:
            return ElementType::f32;
        case 0x0E:
            return ElementType::f64;
        default:
            return std::nullopt;
    }
}

}  // namespace

bool is_idx(std::string_view bytes) {
    return bytes.size() >= 4 && bytes[0] == 0 && bytes[1] == 0 &&
           idx_type(static_cast<unsigned char>(bytes[2])) && bytes[3] > 0 && bytes[3] <= 8;
}

Result<Array> open_idx(const ByteSource& file) {
    VIRIDIAN_TRY(const std::string beginning, file.text(0, 4 + 8 * 4));
    const auto bad = [&](std::string_view what) {
        return fail(ErrorCode::malformed, "download or write the file again",
                    "`{}` is not a readable IDX file: {}", file.name(), what);
    };
    if (!is_idx(beginning)) return bad("it does not begin as one");
    const auto rank = static_cast<std::size_t>(beginning[3]);
    if (beginning.size() < 4 + 4 * rank) return bad("its header is cut off");
    Array array;
    array.type = *idx_type(static_cast<unsigned char>(beginning[2]));
    array.big_endian = true;
    for (std::size_t axis = 0; axis < rank; ++axis) {
        std::int64_t dimension = 0;
        for (std::size_t i = 0; i < 4; ++i)
            dimension = dimension << 8 | static_cast<unsigned char>(beginning[4 + 4 * axis + i]);
        array.dims.push_back(dimension);
    }
    const auto count = graph::element_count(array.dims);
    if (!count.ok()) return bad("its dimensions multiply to more than 2^40");
    const auto needed = static_cast<std::uint64_t>(*count * graph::size_of(array.type));
    const std::uint64_t start = 4 + 4 * rank;
    if (file.size() - start != needed)
        return bad(fmt::format("it needs {} bytes of elements and has {}", needed, file.size() - start));
    array.bytes = file.part(start, needed, file.name());
    return array;
}

}  // namespace viridian::data
