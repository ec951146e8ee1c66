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
    [[nodiscard]] std::byte* data() const { return data_.get(); }
    [[nodiscard]] std::size_t size() const { return size_; }

  private:
    struct Unmap {
        std::size_t bytes;
        void operator()(std::byte* data) const;
    };
    std::unique_ptr<std::byte, Unmap> data_;
    std::size_t size_ = 0;
};

using Packed = std::shared_ptr<const Buffer>;

// Packed constants that some kernel still holds, by content and packing: equal ones are made once.
class PackedConstants {
  public:
    // `make` fills a buffer of `bytes`.
    Packed find_or_make(const std::string& key, std::size_t bytes,
                        const std::function<void(std::byte*)>& make);

  private:
    std::map<std::string, std::weak_ptr<const Buffer>> known_;
};

}  // namespace viridian::execute::cpu
