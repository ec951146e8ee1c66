#include "viridian/plan/format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

namespace viridian::plan {
namespace {

// More levels of tiles than any kernel knows; oneDNN has room for twelve.
constexpr std::size_t most_blocks = 4;

// Rank-4 names and their letters: n c h w are a b c d.
constexpr std::string_view image_letters = "nchw";

std::string letters(const Layout& layout, bool image) {
    std::string out;
    const auto letter = [&](std::uint8_t dimension) {
        return image ? image_letters[dimension] : static_cast<char>('a' + dimension);
    };
    for (const std::uint8_t dimension : layout.order) {
        const bool split =
            std::any_of(layout.blocks.begin(), layout.blocks.end(),
                        [&](const Layout::Block& block) { return block.dimension == dimension; });
        const char c = letter(dimension);
        out += split ? static_cast<char>(c - 'a' + 'A') : c;
    }
    for (const Layout::Block& block : layout.blocks) {
        out += std::to_string(block.size);
        out += letter(block.dimension);
    }
    return out;
}

Error bad_layout(std::string_view text) {
    return fail(ErrorCode::malformed, "use names such as nchw, nhwc, nChw16c, ab", "`{}` is not a layout",
                text);
}

// Reads "8" or "-8" from the front of `text`.
bool take_number(std::string_view& text, std::int64_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

std::int64_t tile_of(const Layout& layout, std::size_t dimension) {
    std::int64_t tile = 1;
    for (const Layout::Block& block : layout.blocks)
        if (block.dimension == dimension) tile *= block.size;
    return tile;
}

// The elements of one tile of all split dimensions.
std::int64_t inner_tile(const Layout& layout) {
    std::int64_t elements = 1;
    for (const Layout::Block& block : layout.blocks) elements *= block.size;
    return elements;
}

// The last element that a tensor without empty dimensions touches, from the start of the buffer. It is a real
// number because a file may ask for more than an integer holds.
double last_touched(const Layout& layout, const graph::Dims& dims) {
    std::vector<double> tiles(dims.size(), 1);
    double inner = 1;
    for (const Layout::Block& block : layout.blocks) {
        tiles[block.dimension] *= static_cast<double>(block.size);
        inner *= static_cast<double>(block.size);
    }
    double last = static_cast<double>(layout.offset) + inner - 1;
    double dense = inner;
    for (auto d = layout.order.rbegin(); d != layout.order.rend(); ++d) {
        const double count = std::ceil(std::max(1.0, static_cast<double>(dims[*d])) / tiles[*d]);
        const double stride = layout.strides.empty() ? dense : static_cast<double>(layout.strides[*d]);
        last += (count - 1) * stride;
        dense *= count;
    }
    return last;
}

}  // namespace

Layout permuted(std::vector<std::uint8_t> order) {
    Layout layout;
    layout.order = std::move(order);
    return layout;
}

Layout plain(std::size_t rank) {
    std::vector<std::uint8_t> order(rank);
    std::iota(order.begin(), order.end(), std::uint8_t{0});
    return permuted(std::move(order));
}

Layout channels_last(std::size_t rank) {
    Layout layout = plain(rank);
    if (rank > 2) std::rotate(layout.order.begin() + 1, layout.order.begin() + 2, layout.order.end());
    return layout;
}

Layout channels_blocked(std::size_t rank, std::int64_t size) {
    Layout layout = plain(rank);
    layout.blocks.push_back({1, size});
    return layout;
}

std::string text(const Layout& layout) {
    std::string out = layout.order.empty() ? "scalar" : letters(layout, layout.rank() == 4);
    if (!layout.strides.empty()) out += fmt::format(":{}", fmt::join(layout.strides, ","));
    if (layout.offset != 0) out += fmt::format("+{}", layout.offset);
    return out;
}

Result<Layout> parse_layout(std::string_view whole) {
    std::string_view rest = whole;
    Layout layout;
    if (rest.starts_with("scalar")) {
        rest.remove_prefix(6);
    } else {
        const auto end = rest.find_first_of("0123456789:+");
        const std::string_view outer = rest.substr(0, end);
        const bool image = outer.size() == 4;
        const auto dimension = [&](char c) -> int {
            const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
            if (image) {
                const auto at = image_letters.find(lower);
                return at == std::string_view::npos ? -1 : static_cast<int>(at);
            }
            return lower >= 'a' && lower <= 'z' ? lower - 'a' : -1;
        };
        std::vector<bool> seen(outer.size(), false);
        for (const char c : outer) {
            const int d = dimension(c);
            if (d < 0 || d >= static_cast<int>(outer.size()) || seen[static_cast<std::size_t>(d)])
                return bad_layout(whole);
            seen[static_cast<std::size_t>(d)] = true;
            layout.order.push_back(static_cast<std::uint8_t>(d));
        }
        if (outer.empty()) return bad_layout(whole);
        rest.remove_prefix(outer.size());
        while (!rest.empty() && rest[0] != ':' && rest[0] != '+') {
            std::int64_t size = 0;
            if (!take_number(rest, size) || rest.empty() || size < 1 || size > 4096) return bad_layout(whole);
            const int d = dimension(rest[0]);
            if (d < 0 || d >= static_cast<int>(outer.size())) return bad_layout(whole);
            layout.blocks.push_back({static_cast<std::uint8_t>(d), size});
            rest.remove_prefix(1);
        }
    }
    if (!rest.empty() && rest[0] == ':') {
        do {
            rest.remove_prefix(1);
            if (!take_number(rest, layout.strides.emplace_back())) return bad_layout(whole);
        } while (!rest.empty() && rest[0] == ',');
        if (layout.strides.size() != layout.rank()) return bad_layout(whole);
    }
    if (!rest.empty() && rest[0] == '+') {
        rest.remove_prefix(1);
        if (!take_number(rest, layout.offset)) return bad_layout(whole);
    }
    if (!rest.empty() || text(layout) != whole) return bad_layout(whole);
    return layout;
}

std::string text(const Format& format) {
    std::string out = fmt::format("{}:{}", text(format.layout), graph::name_of(format.element));
    if (format.memory.kind == Memory::Kind::cuda) out += fmt::format("@cuda:{}", format.memory.index);
    return out;
}

Result<Format> parse_format(std::string_view whole) {
    Format format;
    std::string_view rest = whole;
    if (const auto at = rest.find("@cuda:"); at != std::string_view::npos) {
        std::string_view number = rest.substr(at + 6);
        std::int64_t index = 0;
        if (!take_number(number, index) || !number.empty()) return bad_layout(whole);
        format.memory = {Memory::Kind::cuda, static_cast<int>(index)};
        rest = rest.substr(0, at);
    }
    const auto colon = rest.rfind(':');
    const auto element =
        colon == std::string_view::npos ? std::nullopt : graph::element_type(rest.substr(colon + 1));
    if (!element) return bad_layout(whole);
    format.element = *element;
    VIRIDIAN_TRY(format.layout, parse_layout(rest.substr(0, colon)));
    return format;
}

bool can_hold(const graph::TensorType& type, const Format& format) {
    using enum graph::ElementType;
    if (!type.known() || format.layout.rank() != type.shape->size()) return false;
    if (format.element != type.element && !(type.element == f32 && format.element == bf16)) return false;
    const Layout& layout = format.layout;
    return layout.blocks.size() <= most_blocks && layout.offset >= 0 &&
           std::ranges::all_of(layout.strides, [](std::int64_t stride) { return stride >= 0; }) &&
           last_touched(layout, type.dims()) < 0x1p48;
}

std::int64_t padded_elements(const Layout& layout, const graph::Dims& dims) {
    std::int64_t count = 1;
    for (std::size_t d = 0; d < dims.size(); ++d) {
        const std::int64_t tile = tile_of(layout, d);
        count *= (dims[d] + tile - 1) / tile * tile;
    }
    return count;
}

std::int64_t buffer_bytes(const Format& format, const graph::Dims& dims) {
    if (format.layout.strides.empty())
        return (padded_elements(format.layout, dims) + format.layout.offset) * graph::size_of(format.element);
    std::int64_t last = format.layout.offset;
    for (std::size_t d = 0; d < dims.size(); ++d) {
        const std::int64_t tile = tile_of(format.layout, d);
        last += std::max<std::int64_t>(0, (dims[d] + tile - 1) / tile - 1) * format.layout.strides[d];
    }
    return (last + inner_tile(format.layout)) * graph::size_of(format.element);
}

std::vector<std::int64_t> strides_of(const Layout& layout, const graph::Dims& dims) {
    if (!layout.strides.empty()) return layout.strides;
    std::int64_t stride = inner_tile(layout);
    std::vector<std::int64_t> strides(dims.size(), 1);
    for (auto it = layout.order.rbegin(); it != layout.order.rend(); ++it) {
        strides[*it] = stride;
        const std::int64_t tile = tile_of(layout, *it);
        stride *= (dims[*it] + tile - 1) / tile;
    }
    return strides;
}

std::int64_t element_offset(const Layout& layout, const graph::Dims& dims, const graph::Dims& position) {
    const std::vector<std::int64_t> strides = strides_of(layout, dims);
    std::int64_t offset = layout.offset;
    for (std::size_t d = 0; d < dims.size(); ++d) offset += position[d] / tile_of(layout, d) * strides[d];
    std::int64_t inner = 1;
    graph::Dims left = position;
    for (std::size_t d = 0; d < dims.size(); ++d) left[d] %= tile_of(layout, d);
    for (auto block = layout.blocks.rbegin(); block != layout.blocks.rend(); ++block) {
        offset += left[block->dimension] % block->size * inner;
        left[block->dimension] /= block->size;
        inner *= block->size;
    }
    return offset;
}

}  // namespace viridian::plan
