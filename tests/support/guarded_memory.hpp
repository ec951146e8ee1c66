#pragma once
// GuardedMemory is memory beside a page that nobody may touch, so that a kernel which reads or writes one
// byte too far stops the process. Sanitizers do not see the code that oneDNN generates at run time; this
// does.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

namespace viridian::tests {

// Guard says on which side of the bytes the page lies.
enum class Guard { behind, before };

class GuardedMemory {
  public:
    // Maps `bytes` bytes. Behind: the page follows the last byte, rounded up to `alignment`, which the start
    // then has. Before: the bytes start right after the page. All of them are 0xff, which is NaN in every
    // floating type. Throws bad_alloc.
    GuardedMemory(std::size_t bytes, Guard guard, std::size_t alignment = 1) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
        const std::size_t inner = (rounded + page - 1) / page * page;
        mapped_ = inner + 2 * page;
        void* memory = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        start_ = static_cast<std::byte*>(memory);
        inner_ = start_ + page;
        inner_bytes_ = inner;
        if (inner > 0 && mprotect(inner_, inner, PROT_READ | PROT_WRITE) != 0) {
            munmap(start_, mapped_);
            throw std::bad_alloc();
        }
        data_ = guard == Guard::before ? inner_ : inner_ + inner - rounded;
        if (inner > 0) std::memset(inner_, 0xff, inner);
    }
    ~GuardedMemory() {
        if (start_ != nullptr) munmap(start_, mapped_);
    }
    GuardedMemory(GuardedMemory&& other) noexcept
        : start_(std::exchange(other.start_, nullptr)),
          inner_(other.inner_),
          data_(other.data_),
          mapped_(other.mapped_),
          inner_bytes_(other.inner_bytes_) {}
    GuardedMemory(const GuardedMemory&) = delete;
    GuardedMemory& operator=(const GuardedMemory&) = delete;
    GuardedMemory& operator=(GuardedMemory&&) = delete;

    [[nodiscard]] std::byte* data() const { return data_; }
    // Makes writing stop the process as well.
    void seal() const {
        if (inner_bytes_ > 0) mprotect(inner_, inner_bytes_, PROT_READ);
    }

  private:
    std::byte* start_ = nullptr;
    std::byte* inner_ = nullptr;
    std::byte* data_ = nullptr;
    std::size_t mapped_ = 0, inner_bytes_ = 0;
};

}  // namespace viridian::tests
