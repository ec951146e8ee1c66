#include "viridian/gradient/parameters/stacked_state.hpp"

#include <cstring>

namespace viridian::gradient {
namespace {

using graph::Dims;
using graph::Tensor;

// A tensor of `dims` as blocks of bytes, one for each position before `axis`.
struct Blocks {
    std::int64_t count = 1, bytes = 1;
    Blocks(const Tensor& tensor, std::size_t axis) : bytes(size_of(tensor.type())) {
        for (std::size_t i = 0; i < tensor.dims().size(); ++i) (i < axis ? count : bytes) *= tensor.dims()[i];
    }
};

// Copies all of `part` into `whole`, or back, where `part` begins `before` bytes into each block of `whole`.
void copy_blocks(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
                 std::int64_t count, std::int64_t bytes) {
    if (bytes == 0) return;
    for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(to + i * to_step, from + i * from_step, static_cast<std::size_t>(bytes));
}

}  // namespace

std::string stacked_name(const std::vector<StackedPart>& parts) {
    std::string name;
    for (const StackedPart& part : parts) name += (name.empty() ? "" : "+") + part.name;
    return name;
}

Tensor joined(const std::vector<Tensor>& parts, std::int64_t axis) {
    const auto at = static_cast<std::size_t>(axis);
    Dims dims = parts.at(0).dims();
    dims[at] = 0;
    for (const Tensor& part : parts) dims[at] += part.dims()[at];
    Tensor whole(parts[0].type(), std::move(dims));
    const Blocks to(whole, at);
    std::byte* begin = whole.mutable_bytes();
    for (const Tensor& part : parts) {
        const Blocks from(part, at);
        copy_blocks(begin, to.bytes, part.bytes(), from.bytes, from.count, from.bytes);
        begin += from.bytes;
    }
    return whole;
}

std::vector<Tensor> parted(const StackedState& state, const Tensor& whole) {
    const auto at = static_cast<std::size_t>(state.axis);
    const Blocks from(whole, at);
    const std::byte* begin = whole.bytes();
    std::vector<Tensor> parts;
    for (const StackedPart& one : state.parts) {
        Dims dims = whole.dims();
        dims[at] = one.extent;
        Tensor& part = parts.emplace_back(whole.type(), std::move(dims));
        const Blocks to(part, at);
        copy_blocks(part.mutable_bytes(), to.bytes, begin, from.bytes, to.count, to.bytes);
        begin += to.bytes;
    }
    return parts;
}

}  // namespace viridian::gradient
