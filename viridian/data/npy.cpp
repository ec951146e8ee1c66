#include "viridian/data/npy.hpp"

#include <charconv>
#include <cstring>
#include <optional>

namespace viridian::data {
namespace {

using graph::ElementType;
using graph::Tensor;

constexpr std::string_view npy_magic = "\x93NUMPY";
constexpr std::pair<std::string_view, ElementType> npy_types[] = {
    {"<f8", ElementType::f64}, {"<f4", ElementType::f32}, {"<f2", ElementType::f16},
    {"<i8", ElementType::i64}, {"<i4", ElementType::i32}, {"<i2", ElementType::i16},
    {"|i1", ElementType::i8},  {"<u8", ElementType::u64}, {"<u4", ElementType::u32},
    {"<u2", ElementType::u16}, {"|u1", ElementType::u8},  {"|b1", ElementType::boolean}};

// What stands after 'key': in the header.
std::string_view entry(std::string_view header, std::string_view key) {
    std::size_t at = header.find(fmt::format("'{}'", key));
    if (at == std::string_view::npos) return {};
    at = header.find(':', at);
    if (at == std::string_view::npos) return {};
    header.remove_prefix(at + 1);
    while (!header.empty() && header.front() == ' ') header.remove_prefix(1);
    return header;
}

std::optional<graph::Dims> parse_shape(std::string_view text) {
    if (text.empty() || text.front() != '(') return std::nullopt;
    text = text.substr(1, text.find(')') - 1);
    graph::Dims dims;
    while (!text.empty()) {
        if (text.front() == ' ' || text.front() == ',') {
            text.remove_prefix(1);
            continue;
        }
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || value < 0) return std::nullopt;
        dims.push_back(value);
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    }
    return dims;
}

Error bad_npy(std::string_view name, std::string_view what) {
    return fail(ErrorCode::malformed, "save the array again with numpy.save",
                "`{}` is not a readable .npy file: {}", name, what);
}

// Column-major elements, put in row-major order.
Tensor transposed(const Tensor& columns) {
    Tensor rows(columns.type(), columns.dims());
    const auto size = static_cast<std::size_t>(graph::size_of(columns.type()));
    std::byte* out = rows.mutable_bytes();
    const std::size_t rank = columns.dims().size();
    std::vector<std::int64_t> at(rank, 0);
    for (std::int64_t i = 0; i < rows.count(); ++i) {
        std::int64_t from = 0;
        for (std::size_t axis = rank; axis-- > 0;) from = from * columns.dims()[axis] + at[axis];
        std::memcpy(out + static_cast<std::size_t>(i) * size,
                    columns.bytes() + static_cast<std::size_t>(from) * size, size);
        for (std::size_t axis = rank; axis-- > 0;) {
            if (++at[axis] < columns.dims()[axis]) break;
            at[axis] = 0;
        }
    }
    return rows;
}

}  // namespace

bool is_npy(std::string_view bytes) { return bytes.starts_with(npy_magic); }

Result<NpyHeader> parse_npy_header(std::string_view bytes, std::string_view name) {
    if (!is_npy(bytes) || bytes.size() < 12) return bad_npy(name, "it does not begin as one");
    const bool first_version = bytes[6] == 1;
    std::size_t length = 0;
    for (std::size_t i = 0; i < (first_version ? 2U : 4U); ++i)
        length |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[8 + i])) << (8 * i);
    const std::size_t start = first_version ? 10 : 12;
    if (length > npy_longest_header) return bad_npy(name, "its header is too long");
    if (bytes.size() - start < length) return bad_npy(name, "its header is cut off");
    const std::string_view header = bytes.substr(start, length);

    const std::string_view written = entry(header, "descr");
    std::string descr(written.substr(0, written.size() < 5 ? 0 : 5));
    if (descr.size() < 5 || (descr[0] != '\'' && descr[0] != '"'))
        return bad_npy(name, "it has structured elements, or none");
    descr = descr.substr(1, 3);
    if (descr[0] == '=') descr[0] = '<';
    NpyHeader result;
    for (const auto& [text, known] : npy_types)
        if (text == descr) result.type = known;
    if (result.type == ElementType::undefined)
        return fail(ErrorCode::unsupported, "convert the array to a plain numeric type",
                    "`{}` has elements of type `{}`", name, descr);
    const auto dims = parse_shape(entry(header, "shape"));
    if (!dims) return bad_npy(name, "its shape is not a tuple of numbers");
    result.dims = *dims;
    if (const auto count = graph::element_count(result.dims); !count.ok())
        return bad_npy(name, count.error().message);
    result.column_major = entry(header, "fortran_order").starts_with("True");
    result.start = start + length;
    return result;
}

Result<Tensor> parse_npy(std::string_view bytes, std::string_view name) {
    VIRIDIAN_TRY(const NpyHeader header, parse_npy_header(bytes, name));
    const std::string_view data = bytes.substr(header.start);
    const std::int64_t needed = *graph::element_count(header.dims) * graph::size_of(header.type);
    if (data.size() != static_cast<std::size_t>(needed))
        return bad_npy(name, fmt::format("it needs {} bytes of elements and has {}", needed, data.size()));
    Tensor tensor(header.type, header.dims);
    if (!data.empty()) std::memcpy(tensor.mutable_bytes(), data.data(), data.size());
    return header.column_major ? transposed(tensor) : tensor;
}

Result<std::string> npy_bytes(const Tensor& tensor) {
    std::string_view descr;
    for (const auto& [text, type] : npy_types)
        if (type == tensor.type()) descr = text;
    if (descr.empty())
        return fail(ErrorCode::unsupported, "write a .pb file", "NumPy has no element type {}",
                    graph::name_of(tensor.type()));
    std::string shape;
    for (const std::int64_t dimension : tensor.dims()) shape += fmt::format("{}, ", dimension);
    std::string header =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
    header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
    header += '\n';
    std::string bytes = std::string(npy_magic) + '\x01' + '\0';
    bytes += static_cast<char>(header.size() & 0xffU);
    bytes += static_cast<char>(header.size() >> 8U);
    bytes += header;
    bytes.append(reinterpret_cast<const char*>(tensor.bytes()),
                 static_cast<std::size_t>(tensor.byte_count()));
    return bytes;
}

}  // namespace viridian::data
