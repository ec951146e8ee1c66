#include "viridian/train/not_finite.hpp"

#include <algorithm>

namespace viridian::train {
namespace {

// Returns the first element whose exponent bits are all ones, or -1. Blocks are tested without a branch
// inside, so that the compiler uses vectors.
template <class Bits>
std::int64_t first_special(std::span<const Bits> bits, Bits exponent) {
    constexpr std::size_t block = 1024;
    for (std::size_t begin = 0; begin < bits.size(); begin += block) {
        const auto part = bits.subspan(begin, std::min(block, bits.size() - begin));
        unsigned found = 0;
        for (const Bits b : part) found |= (b & exponent) == exponent ? 1U : 0U;
        if (found == 0) continue;
        const auto at = std::ranges::find_if(part, [&](Bits b) { return (b & exponent) == exponent; });
        return static_cast<std::int64_t>(begin) + (at - part.begin());
    }
    return -1;
}

std::int64_t first_special(const graph::Tensor& tensor) {
    switch (tensor.type()) {
        case graph::ElementType::f64:
            return first_special<std::uint64_t>(tensor.values<std::uint64_t>(), 0x7ff0000000000000U);
        case graph::ElementType::f32:
            return first_special<std::uint32_t>(tensor.values<std::uint32_t>(), 0x7f800000U);
        case graph::ElementType::f16:
            return first_special<std::uint16_t>(tensor.values<std::uint16_t>(), 0x7c00U);
        case graph::ElementType::bf16:
            return first_special<std::uint16_t>(tensor.values<std::uint16_t>(), 0x7f80U);
        default:
            return -1;
    }
}

}  // namespace

std::string NotFinite::text() const { return fmt::format("`{}` holds {} at element {}", name, value, index); }

std::optional<NotFinite> first_not_finite(std::span<const NamedTensor> tensors) {
    for (const NamedTensor& named : tensors)
        if (const std::int64_t at = first_special(named.tensor); at >= 0)
            return NotFinite{named.name, at, named.tensor.number(at)};
    return std::nullopt;
}

}  // namespace viridian::train
