#include "viridian/data/permutation.hpp"

#include <algorithm>
#include <bit>

#include "viridian/base/random/mix_bits.hpp"
#include "viridian/base/random/philox.hpp"

namespace viridian::data {
namespace {

constexpr std::uint32_t permutation_purpose = 0x7065726d;  // keeps its draws apart from those of augmentation

}  // namespace

Permutation::Permutation(std::int64_t count, std::uint64_t seed, std::uint64_t stream) : count_(count) {
    const auto last = static_cast<std::uint64_t>(std::max<std::int64_t>(count, 1) - 1);
    const unsigned bits = std::max(8U, static_cast<unsigned>(std::bit_width(last)));
    low_bits_ = bits / 2;
    low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
    high_mask_ = (std::uint64_t{1} << (bits - low_bits_)) - 1;
    for (std::uint32_t i = 0; i < keys_.size(); i += 2) {
        const auto words = philox4x32({i, static_cast<std::uint32_t>(stream),
                                       static_cast<std::uint32_t>(stream >> 32U), permutation_purpose},
                                      philox_key(seed));
        keys_[i] = std::uint64_t{words[0]} << 32U | words[1];
        keys_[i + 1] = std::uint64_t{words[2]} << 32U | words[3];
    }
}

std::uint64_t Permutation::once(std::uint64_t number) const {
    std::uint64_t low = number & low_mask_, high = number >> low_bits_;
    for (std::size_t i = 0; i < keys_.size(); i += 2) {
        low ^= mix_bits(high ^ keys_[i]) & low_mask_;
        high ^= mix_bits(low ^ keys_[i + 1]) & high_mask_;
    }
    return high << low_bits_ | low;
}

std::int64_t Permutation::at(std::int64_t place) const {
    auto number = static_cast<std::uint64_t>(place);
    do {
        number = once(number);
    } while (number >= static_cast<std::uint64_t>(count_));
    return static_cast<std::int64_t>(number);
}

}  // namespace viridian::data
