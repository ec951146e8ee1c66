#include "viridian/train/checkpoint/safetensors_header.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "viridian/base/json.hpp"
#include "viridian/train/checkpoint/header_entries.hpp"

namespace viridian::train {
namespace {

using graph::ElementType;

constexpr std::array<StoredType, 22> stored_types = {{
    {"F64", 64, ElementType::f64},     {"F32", 32, ElementType::f32}, {"F16", 16, ElementType::f16},
    {"BF16", 16, ElementType::bf16},   {"I64", 64, ElementType::i64}, {"I32", 32, ElementType::i32},
    {"I16", 16, ElementType::i16},     {"I8", 8, ElementType::i8},    {"U64", 64, ElementType::u64},
    {"U32", 32, ElementType::u32},     {"U16", 16, ElementType::u16}, {"U8", 8, ElementType::u8},
    {"BOOL", 8, ElementType::boolean}, {"C64", 64, std::nullopt},     {"F8_E4M3", 8, std::nullopt},
    {"F8_E5M2", 8, std::nullopt},      {"F8_E8M0", 8, std::nullopt},  {"F8_E4M3FNUZ", 8, std::nullopt},
    {"F8_E5M2FNUZ", 8, std::nullopt},  {"F6_E2M3", 6, std::nullopt},  {"F6_E3M2", 6, std::nullopt},
    {"F4", 4, std::nullopt},
}};

// Returns the bytes of a tensor, or nothing if they are no whole number below 2^64.
std::optional<std::uint64_t> bytes_of(const StoredTensor& tensor) {
    std::uint64_t bits = static_cast<std::uint64_t>(tensor.type->bits);
    for (const std::int64_t dim : tensor.dims)
        if (__builtin_mul_overflow(bits, static_cast<std::uint64_t>(dim), &bits)) return std::nullopt;
    if (bits % 8 != 0) return std::nullopt;
    return bits / 8;
}

// Checks that the tensors, in the order of their bytes, fill the data without overlap or gap.
Result<void> check_places(const SafetensorsHeader& header, std::uint64_t data_bytes, std::string_view file) {
    const auto wrong = [&](const std::string& what) {
        return fail(ErrorCode::malformed, "copy or write the file again", "`{}` is damaged: {}", file, what);
    };
    std::uint64_t end = 0;
    std::string_view before;
    for (const StoredTensor& tensor : header.tensors) {
        const auto bytes = bytes_of(tensor);
        if (tensor.end < tensor.begin || !bytes || tensor.end - tensor.begin != *bytes)
            return wrong(fmt::format("the place of `{}` ({} to {}) does not fit its type {} and shape [{}]",
                                     tensor.name, tensor.begin, tensor.end, tensor.type->name,
                                     fmt::join(tensor.dims, ", ")));
        if (tensor.begin < end) return wrong(fmt::format("`{}` and `{}` share bytes", before, tensor.name));
        if (tensor.begin > end)
            return wrong(
                fmt::format("{} bytes before `{}` belong to no tensor", tensor.begin - end, tensor.name));
        end = tensor.end;
        before = tensor.name;
    }
    if (end > data_bytes)
        return wrong(
            fmt::format("it ends {} bytes too early, within or before `{}`", end - data_bytes, before));
    if (end < data_bytes)
        return wrong(fmt::format("its last {} bytes belong to no tensor", data_bytes - end));
    return {};
}

std::string quoted(const std::string& text) {
    return Json(text).dump();  // throws if `text` is no UTF-8
}

std::string header_json(const SafetensorsHeader& header) {
    std::string json = "{";
    const auto separate = [&] {
        if (json.back() != '{') json += ',';
    };
    if (!header.metadata.empty()) {
        json += R"("__metadata__":{)";
        for (const auto& [key, value] : header.metadata) {
            separate();
            json += quoted(key) + ':' + quoted(value);
        }
        json += '}';
    }
    for (const StoredTensor& tensor : header.tensors) {
        separate();
        json += fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", quoted(tensor.name),
                            tensor.type->name, fmt::join(tensor.dims, ","), tensor.begin, tensor.end);
    }
    return json + '}';
}

}  // namespace

const StoredType* stored_type(std::string_view name) {
    const auto* const found = std::ranges::find(stored_types, name, &StoredType::name);
    return found == stored_types.end() ? nullptr : found;
}

const StoredType* stored_type(ElementType element) {
    const auto* const found = std::ranges::find(stored_types, element, &StoredType::element);
    return found == stored_types.end() ? nullptr : found;
}

Result<SafetensorsHeader> parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                                   std::string_view file) {
    VIRIDIAN_TRY(SafetensorsHeader header, read_header_entries(json, file));
    std::ranges::sort(header.tensors, {}, [](const StoredTensor& tensor) {
        return std::tuple(tensor.begin, tensor.end, std::string_view(tensor.name));
    });
    VIRIDIAN_TRY(check_places(header, data_bytes, file));
    return header;
}

Result<std::string> safetensors_head(const SafetensorsHeader& header) {
    std::string json;
    try {
        json = header_json(header);
    } catch (const Json::exception&) {
        return fail(ErrorCode::invalid_argument, "rename it in the model",
                    "the name of a tensor or a text about the file is no UTF-8, which the format needs");
    }
    json.append((8 - json.size() % 8) % 8, ' ');
    if (json.size() > most_header_bytes)
        return fail(ErrorCode::limit_exceeded, "write fewer tensors to one file",
                    "the names of {} tensors need a header of {} bytes, the limit is {}",
                    header.tensors.size(), json.size(), most_header_bytes);
    std::string head;
    for (unsigned byte = 0; byte < 8; ++byte)
        head += static_cast<char>((static_cast<std::uint64_t>(json.size()) >> (8 * byte)) & 0xffU);
    return head + json;
}

}  // namespace viridian::train
