#pragma once
// Writes and reads numbers as bytes of seven bits, low first (LEB128). Signed numbers are folded so that
// small ones stay short. Texts are stored as length and bytes.
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace viridian::trace {

inline void put_varint(std::string& out, std::uint64_t value) {
    char bytes[10];
    std::size_t count = 0;
    for (; value >= 0x80; value >>= 7U) bytes[count++] = static_cast<char>(value | 0x80U);
    bytes[count++] = static_cast<char>(value);
    out.append(bytes, count);
}
inline void put_signed(std::string& out, std::int64_t value) {
    put_varint(out, static_cast<std::uint64_t>(value) << 1U ^ static_cast<std::uint64_t>(value >> 63U));
}
inline void put_text(std::string& out, std::string_view text) {
    put_varint(out, text.size());
    out.append(text);
}
inline void put_double(std::string& out, double value) {
    char bytes[8];
    std::memcpy(bytes, &value, 8);
    out.append(bytes, 8);
}

// A Cursor reads such numbers from `bytes`. It checks every read: after a failed one, `failed` is true and
// all reads give zero or an empty text.
class Cursor {
  public:
    explicit Cursor(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    std::uint64_t varint() {
        if (at_ < end_ && static_cast<unsigned char>(*at_) < 0x80) [[likely]]
            return static_cast<unsigned char>(*at_++);
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (at_ == end_) break;
            const auto byte = static_cast<unsigned char>(*at_++);
            value |= std::uint64_t{byte & 0x7FU} << shift;
            if (byte < 0x80) return value;
        }
        return failed_ = true, at_ = end_, 0;
    }
    std::int64_t signed_varint() {
        const std::uint64_t value = varint();
        return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
    }
    std::string_view text() { return take(varint()); }
    std::string_view take(std::uint64_t size) {
        if (size > static_cast<std::uint64_t>(end_ - at_))
            return failed_ = true, at_ = end_, std::string_view();
        at_ += size;
        return {at_ - size, size};
    }
    double real() {
        if (end_ - at_ < 8) return failed_ = true, at_ = end_, 0.0;
        double value = 0.0;
        std::memcpy(&value, at_, 8);
        at_ += 8;
        return value;
    }
    [[nodiscard]] bool failed() const { return failed_; }
    void fail() { failed_ = true, at_ = end_; }
    [[nodiscard]] bool done() const { return at_ == end_; }

  private:
    const char* at_;
    const char* end_;
    bool failed_ = false;
};

}  // namespace viridian::trace
