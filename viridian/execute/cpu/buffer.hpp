#pragma once
// Allocates the aligned memory of the CPU device, and keeps the constants that kernels packed.
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "viridian/base/units.hpp"

namespace viridian::execute::cpu {

// A Buffer is memory that is filled with zeroes and aligned to 64 bytes. Large buffers lie on huge pages if
// the system grants them. The constructor throws bad_alloc.
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(std::size_t bytes);
    Buffer(Buffer&&) = default;
    Buffer& operator=(Buffer&&) = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() = default;
    // Makes the `bytes` bytes from `offset` on of another buffer, whose memory lives as long as this part.
    Buffer(const Buffer& whole, std::size_t offset, std::size_t bytes)
        : data_(whole.data_, whole.data() + offset), size_(bytes) {}
    [[nodiscard]] std::byte* data() const { return data_.get(); }
    [[nodiscard]] std::size_t size() const { return size_; }

  private:
    std::shared_ptr<std::byte> data_;
    std::size_t size_ = 0;
};

// A Packed is a constant in the form in which a kernel reads it.
using Packed = std::shared_ptr<const Buffer>;

// PackedConstants finds packed constants that some kernel still holds, by content and packing, so that
// equal ones are made once. They lie one after the other in the order of making: kernels read them in that
// order, and huge pages hold many.
class PackedConstants {
  public:
    // A timing computes nothing that matters, so its contents are left out: every constant is zeroes of its
    // size.
    enum class Contents { written, left_out };
    explicit PackedConstants(Contents contents = Contents::written) : contents_(contents) {}

    // Returns the constant of this key. If no kernel holds it, `make` fills a new buffer of `bytes`.
    Packed find_or_make(const std::string& key, std::size_t bytes,
                        const std::function<void(std::byte*)>& make);

  private:
    // Returns memory for a constant of `bytes`, behind the last one if the chunk has room.
    Packed place(std::size_t bytes);

    Contents contents_;
    std::map<std::string, std::weak_ptr<const Buffer>> known_;
    Buffer chunk_;
    std::size_t used_ = 0;  // of the chunk
};

}  // namespace viridian::execute::cpu
