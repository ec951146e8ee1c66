#pragma once
// Aligned memory of the CPU device, and constants in the form a kernel wants them, made once.
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "viridian/base/units.hpp"

namespace viridian::execute::cpu {

// Zero-filled, 64-byte aligned; large ones on huge pages where the system grants them.
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(std::size_t bytes);
    Buffer(Buffer&&) = default;
    Buffer& operator=(Buffer&&) = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() = default;
    // A part of another's memory, which lives as long.
    Buffer(const Buffer& whole, std::size_t offset, std::size_t bytes)
        : data_(whole.data_, whole.data() + offset), size_(bytes) {}
    [[nodiscard]] std::byte* data() const { return data_.get(); }
    [[nodiscard]] std::size_t size() const { return size_; }

  private:
    std::shared_ptr<std::byte> data_;
    std::size_t size_ = 0;
};

using Packed = std::shared_ptr<const Buffer>;

// Packed constants that some kernel still holds, by content and packing: equal ones are made once. They lie
// one after the other, as they are made: kernels read them in that order, and huge pages hold many.
class PackedConstants {
  public:
    // Where nothing will be computed, as in a timing, contents are left out: each is zeroes of its size.
    enum class Contents { written, left_out };
    explicit PackedConstants(Contents contents = Contents::written) : contents_(contents) {}

    // `make` fills a buffer of `bytes`.
    Packed find_or_make(const std::string& key, std::size_t bytes,
                        const std::function<void(std::byte*)>& make);

  private:
    Packed place(std::size_t bytes);

    Contents contents_;
    std::map<std::string, std::weak_ptr<const Buffer>> known_;
    Buffer chunk_;
    std::size_t used_ = 0;  // of the chunk
};

}  // namespace viridian::execute::cpu
