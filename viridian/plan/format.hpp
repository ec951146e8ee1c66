#pragma once
// A Format says how a tensor lies in memory: its layout (order, blocking, strides, offset), its element type
// and which memory holds it. The names of layouts are those of oneDNN: nchw, nhwc or nChw16c at rank 4, and
// letters such as ab or acb at other ranks. The letters are the logical dimensions, outermost first. A
// capital letter is a dimension that is split into tiles, whose size and position follow at the end.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "viridian/graph/shape.hpp"

namespace viridian::plan {

// The order of the elements of a tensor.
struct Layout {
    struct Block {
        std::uint8_t dimension = 0;
        std::int64_t size = 1;
        bool operator==(const Block&) const = default;
    };
    std::vector<std::uint8_t> order;  // logical dimensions, outermost first
    std::vector<Block> blocks;        // inner tiles, outermost first
    // In elements, by logical dimension; the stride of a split dimension is that of its tiles. Empty if
    // dense.
    std::vector<std::int64_t> strides;
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
[[nodiscard]] Result<Layout> parse_layout(std::string_view text);  // inverse of text(); errors: malformed

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

// Returns the number of elements of a dense buffer, including the padding of split dimensions.
[[nodiscard]] std::int64_t padded_elements(const Layout& layout, const graph::Dims& dims);
[[nodiscard]] std::int64_t buffer_bytes(const Format& format, const graph::Dims& dims);
// Returns the stride of each logical dimension, as `Layout::strides` defines it, also for dense layouts.
[[nodiscard]] std::vector<std::int64_t> strides_of(const Layout& layout, const graph::Dims& dims);
// Returns the offset of the element at `position`, in elements from the start of the buffer.
[[nodiscard]] std::int64_t element_offset(const Layout& layout, const graph::Dims& dims,
                                          const graph::Dims& position);

}  // namespace viridian::plan
