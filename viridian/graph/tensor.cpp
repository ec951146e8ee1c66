#include "viridian/graph/tensor.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#include "viridian/base/hash.hpp"
#include "viridian/base/system/memory_limit.hpp"
#include "viridian/graph/reference/wrapping.hpp"

namespace viridian::graph {
namespace {

constexpr std::size_t alignment = 64;

std::shared_ptr<std::byte> allocate(std::int64_t size) {
    require_memory(Bytes(size));
    const std::size_t rounded = (static_cast<std::size_t>(size) + alignment) / alignment * alignment;
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
    if (memory == nullptr) throw std::bad_alloc();
    return {memory, [](std::byte* p) { std::free(p); }};
}

std::int64_t count_of(const Dims& dims) {
    const auto count = element_count(dims);
    invariant(count.ok(), "a tensor's element count is checked before it is made");
    return *count;
}

template <class T>
double read(const std::byte* bytes, std::int64_t index) {
    T value;
    std::memcpy(&value, bytes + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    return static_cast<double>(value);
}

template <class T>
std::int64_t read_integer(const std::byte* bytes, std::int64_t index) {
    T value;
    std::memcpy(&value, bytes + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    return static_cast<std::int64_t>(value);
}

}  // namespace

Tensor::Tensor(ElementType type, Dims dims) : type_(type), dims_(std::move(dims)), count_(count_of(dims_)) {
    auto memory = allocate(byte_count());
    std::memset(memory.get(), 0, static_cast<std::size_t>(byte_count()));
    data_ = std::move(memory);
}

Tensor::Tensor(ElementType type, Dims dims, std::shared_ptr<const std::byte> owner)
    : type_(type),
      dims_(std::move(dims)),
      count_(count_of(dims_)),
      borrowed_(true),
      data_(std::move(owner)) {}

Tensor Tensor::f32(Dims dims, std::span<const float> values) {
    return of(ElementType::f32, std::move(dims), values);
}

Tensor Tensor::i64(Dims dims, std::span<const std::int64_t> values) {
    return of(ElementType::i64, std::move(dims), values);
}

std::byte* Tensor::mutable_bytes() {
    if (borrowed_ || data_.use_count() > 1) {
        auto copy = allocate(byte_count());
        if (byte_count() > 0) std::memcpy(copy.get(), data_.get(), static_cast<std::size_t>(byte_count()));
        data_ = std::move(copy);
        borrowed_ = false;
    }
    if (hash_.use_count() == 1)
        *hash_ = 0;  // no allocation: executors write outputs again and again
    else
        hash_ = std::make_shared<std::uint64_t>(0);
    return const_cast<std::byte*>(data_.get());  // sole owner of memory that allocate() gave
}

double Tensor::number(std::int64_t index) const {
    switch (type_) {
        case ElementType::f64:
            return read<double>(bytes(), index);
        case ElementType::f32:
            return read<float>(bytes(), index);
        case ElementType::f16:
            return from_half(values<std::uint16_t>()[static_cast<std::size_t>(index)]);
        case ElementType::bf16:
            return from_bfloat16(values<std::uint16_t>()[static_cast<std::size_t>(index)]);
        case ElementType::u64:
            return read<std::uint64_t>(bytes(), index);
        default:
            return static_cast<double>(integer(index));
    }
}

std::int64_t Tensor::integer(std::int64_t index) const {
    switch (type_) {
        case ElementType::i64:
            return read_integer<std::int64_t>(bytes(), index);
        case ElementType::i32:
            return read_integer<std::int32_t>(bytes(), index);
        case ElementType::i16:
            return read_integer<std::int16_t>(bytes(), index);
        case ElementType::i8:
            return read_integer<std::int8_t>(bytes(), index);
        case ElementType::u64:
            return read_integer<std::uint64_t>(bytes(), index);
        case ElementType::u32:
            return read_integer<std::uint32_t>(bytes(), index);
        case ElementType::u16:
            return read_integer<std::uint16_t>(bytes(), index);
        case ElementType::u8:
        case ElementType::boolean:
            return read_integer<std::uint8_t>(bytes(), index);
        case ElementType::undefined:
            return 0;
        default:
            return to_integer(number(index));
    }
}

std::vector<std::int64_t> Tensor::integers() const {
    std::vector<std::int64_t> out;
    for (std::int64_t i = 0; i < count_; ++i) out.push_back(integer(i));
    return out;
}

Tensor Tensor::reshaped(Dims dims) const {
    Tensor copy = *this;
    copy.dims_ = std::move(dims);
    invariant(count_of(copy.dims_) == count_, "reshape keeps the element count");
    copy.hash_ = std::make_shared<std::uint64_t>(0);
    return copy;
}

bool Tensor::same_bytes(const Tensor& other) const {
    return type_ == other.type_ && dims_ == other.dims_ &&
           (data_ == other.data_ || count_ == 0 ||
            std::memcmp(bytes(), other.bytes(), static_cast<std::size_t>(byte_count())) == 0);
}

std::uint64_t Tensor::content_hash() const {
    if (*hash_ == 0) {
        Hash hash;
        hash.add(static_cast<int>(type_));
        for (const std::int64_t dimension : dims_) hash.add(dimension);
        hash.add(
            std::string_view(reinterpret_cast<const char*>(bytes()), static_cast<std::size_t>(byte_count())));
        *hash_ = hash.value() | 1U;
    }
    return *hash_;
}

}  // namespace viridian::graph
