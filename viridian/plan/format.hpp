#pragma once
// Format: how a tensor lies in memory. Layout (order, blocking, strides, offset) × element type × memory.
// Layouts are named the field's way at rank 4 (nchw, nhwc, nChw16c), by letters elsewhere (ab, ba, acb): the
// letters are the logical dimensions, outermost first; a capital is split, and its inner tiles follow with
// their size.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "viridian/graph/shape.hpp"

namespace viridian::plan {

struct Layout {
    struct Block {
        std::uint8_t dimension = 0;
        std::int64_t size = 1;
        bool operator==(const Block&) const = default;
    };
    std::vector<std::uint8_t> order;  // logical dimensions, outermost first
    std::vector<Block> blocks;        // inner tiles, outermost first
    std::vector<std::int64_t>
        strides;              // in elements, by logical dimension (of its tiles, where split); empty: dense
    std::int64_t offset = 0;  // in elements, from the start of the buffer

    [[nodiscard]] std::size_t rank() const { return order.size(); }
    [[nodiscard]] bool dense() const { return strides.empty() && offset == 0; }
    bool operator==(const Layout&) const = default;
};

[[nodiscard]] Layout plain(std::size_t rank);                                // nchw, ab
[[nodiscard]] Layout channels_last(std::size_t rank);                        // nhwc, acb
[[nodiscard]] Layout channels_blocked(std::size_t rank, std::int64_t size);  // nChw16c
[[nodiscard]] Layout permuted(std::vector<std::uint8_t> order);              // dense, no blocks

[[nodiscard]] std::string text(const Layout& layout);              // "nChw16c", "acbd", "ab:512,1+64"
[[nodiscard]] Result<Layout> parse_layout(std::string_view text);  // inverse of text()

struct Memory {
    enum class Kind : std::uint8_t { host, cuda } kind = Kind::host;
    int index = 0;
    bool operator==(const Memory&) const = default;
};

struct Format {
    Layout layout;
    graph::ElementType element = graph::ElementType::f32;
    Memory memory;
    bool operator==(const Format&) const = default;
};

[[nodiscard]] std::string text(const Format& format);  // "nChw16c:f32", "nhwc:bf16@cuda:0"
[[nodiscard]] Result<Format> parse_format(std::string_view text);

// Elements of a dense buffer, padding of split dimensions included.
[[nodiscard]] std::int64_t padded_elements(const Layout& layout, const graph::Dims& dims);
[[nodiscard]] std::int64_t buffer_bytes(const Format& format, const graph::Dims& dims);
// Stride of each logical dimension in elements (of its tiles, where split), for a dense buffer or as given.
[[nodiscard]] std::vector<std::int64_t> strides_of(const Layout& layout, const graph::Dims& dims);
// Where the element at `position` lies, in elements from the start of the buffer.
[[nodiscard]] std::int64_t element_offset(const Layout& layout, const graph::Dims& dims,
                                          const graph::Dims& position);

}  // namespace viridian::plan
