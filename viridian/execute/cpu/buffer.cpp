#include "viridian/execute/cpu/buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace viridian::execute::cpu {
namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21U;
constexpr std::size_t chunk_bytes = 16 * huge_page;

}  // namespace

Buffer::Buffer(std::size_t bytes) : size_(bytes) {
    if (bytes == 0) return;
    // Room to start at a huge page's border.
    const bool large = bytes >= 2 * huge_page;
    const std::size_t mapped = bytes + (large ? huge_page : 0);
    void* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    auto* start = static_cast<std::byte*>(memory);
    if (large) {
        const auto address = reinterpret_cast<std::uintptr_t>(start);
        const std::size_t skip = (huge_page - address % huge_page) % huge_page;
        if (skip > 0) munmap(start, skip);
        start += skip;
        const std::size_t kept = (bytes + 4095) / 4096 * 4096;
        const std::size_t rest = mapped - skip;
        const std::size_t tail = (rest + 4095) / 4096 * 4096 - kept;
        if (tail > 0) munmap(start + kept, tail);
        madvise(start, bytes, MADV_HUGEPAGE);
    }
    data_ = std::shared_ptr<std::byte>(start, [bytes](std::byte* data) { munmap(data, bytes); });
}

// A chunk goes when the last constant in it does.
Packed PackedConstants::place(std::size_t bytes) {
    if (bytes > chunk_bytes / 4) return std::make_shared<Buffer>(bytes);
    if (used_ + bytes > chunk_.size()) {
        chunk_ = Buffer(chunk_bytes);
        used_ = 0;
    }
    auto buffer = std::make_shared<Buffer>(chunk_, used_, bytes);
    used_ += (bytes + 63) / 64 * 64;
    return buffer;
}

Packed PackedConstants::find_or_make(const std::string& key, std::size_t bytes,
                                     const std::function<void(std::byte*)>& make) {
    if (contents_ == Contents::left_out) return std::make_shared<Buffer>(bytes);
    if (const auto found = known_.find(key); found != known_.end())
        if (Packed live = found->second.lock()) return live;
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    Packed buffer = place(bytes);
    make(buffer->data());
    known_[key] = buffer;
    return buffer;
}

}  // namespace viridian::execute::cpu
