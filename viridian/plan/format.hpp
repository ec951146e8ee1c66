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

// A Layout says in which order the elements of a tensor lie.
struct Layout {
    // A Block is one level of tiles: dimension `dimension` is split into tiles of `size` elements.
    struct Block {
        std::uint8_t dimension = 0;
        std::int64_t size = 1;
        bool operator==(const Block&) const = default;
    };
    std::vector<std::uint8_t> order;  // logical dimensions, outermost first
    std::vector<Block> blocks;        // inner tiles, outermost first
    // The strides are in elements, by logical dimension; the stride of a split dimension is that of its
    // tiles. They are empty if the layout is dense.
    std::vector<std::int64_t> strides;
    std::int64_t offset = 0;  // in elements, from the start of the buffer

    [[nodiscard]] std::size_t rank() const { return order.size(); }
    // Returns whether the elements fill the buffer from its start.
    [[nodiscard]] bool dense() const { return strides.empty() && offset == 0; }
    bool operator==(const Layout&) const = default;
};

// These return dense layouts of `rank` dimensions: row-major, with the channels (dimension 1) innermost,
// with the channels split into blocks of `size`, and with the dimensions in `order`, outermost first.
[[nodiscard]] Layout plain(std::size_t rank);                                // nchw, ab
[[nodiscard]] Layout channels_last(std::size_t rank);                        // nhwc, acb
[[nodiscard]] Layout channels_blocked(std::size_t rank, std::int64_t size);  // nChw16c
[[nodiscard]] Layout permuted(std::vector<std::uint8_t> order);              // dense, no blocks

[[nodiscard]] std::string text(const Layout& layout);              // "nChw16c", "acbd", "ab:512,1+64"
[[nodiscard]] Result<Layout> parse_layout(std::string_view text);  // inverse of text(); errors: malformed

// Memory names the memory that holds a tensor: that of the host, or that of CUDA device `index`.
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
// Reads a format as text() writes it. Errors: malformed.
[[nodiscard]] Result<Format> parse_format(std::string_view text);

// Returns whether a tensor of `type` can lie in `format`: its extents are known, the rank is the same, the
// element type is its own or bf16 for f32, there are at most four levels of tiles, no stride and no offset is
// negative, and no element lies further from the start of the buffer than 2^48 elements.
[[nodiscard]] bool can_hold(const graph::TensorType& type, const Format& format);

// Returns the number of elements of a dense buffer for a tensor of `dims`, including the padding of split
// dimensions.
[[nodiscard]] std::int64_t padded_elements(const Layout& layout, const graph::Dims& dims);
// Returns the bytes from the start of the buffer to the end of a tensor of `dims` in `format`.
[[nodiscard]] std::int64_t buffer_bytes(const Format& format, const graph::Dims& dims);
// Returns the stride of each logical dimension, as `Layout::strides` defines it, also for dense layouts.
[[nodiscard]] std::vector<std::int64_t> strides_of(const Layout& layout, const graph::Dims& dims);
// Returns the offset of the element at `position`, in elements from the start of the buffer.
[[nodiscard]] std::int64_t element_offset(const Layout& layout, const graph::Dims& dims,
                                          const graph::Dims& position);

}  // namespace viridian::plan
