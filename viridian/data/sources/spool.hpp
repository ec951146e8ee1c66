#pragma once
// A Spool takes bytes one piece after the other and gives them back as a ByteSource. Up to 1 MiB stays in
// memory; more goes to a temporary file that has no name any more, so that it disappears with the process.
#include "viridian/data/sources/byte_source.hpp"

namespace viridian::data {

class Spool {
  public:
    // `name` stands for what is written, in errors.
    explicit Spool(std::string name) : name_(std::move(name)) {}
    Spool(const Spool&) = delete;
    Spool& operator=(const Spool&) = delete;
    ~Spool();

    [[nodiscard]] std::uint64_t size() const { return size_; }
    // Errors: file_not_writable, disk_full.
    [[nodiscard]] Result<void> append(std::span<const std::byte> bytes);
    // Returns all that was appended. Nothing may be appended after that.
    [[nodiscard]] ByteSource finish();

  private:
    [[nodiscard]] Result<void> open_file();

    std::string name_;
    std::string memory_;
    int descriptor_ = -1;
    std::uint64_t size_ = 0;
};

}  // namespace viridian::data
