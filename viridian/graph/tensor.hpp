#pragma once
// A Tensor is a dense row-major array in host memory. Copies share their bytes, and writing to shared bytes
// copies them first, so that graphs with the same weights are cheap to copy. Bytes are aligned to 64 unless
// they are borrowed, for example from a mapped file.
#include <cstddef>
#include <memory>
#include <span>

#include "viridian/graph/shape.hpp"

namespace viridian::graph {

class Tensor {
  public:
    Tensor() = default;
    // Makes a tensor of zeros. The caller has checked element_count(dims).
    Tensor(ElementType type, Dims dims);
    // Makes a tensor on borrowed bytes: `owner` points to element_count × size_of(type) bytes and keeps
    // them alive.
    Tensor(ElementType type, Dims dims, std::shared_ptr<const std::byte> owner);

    // Returns a tensor that holds `values` in row-major order. There are as many as `dims` says.
    template <class T>
    static Tensor of(ElementType type, Dims dims, std::span<const T> values);
    // These do the same for one element type, or for a tensor of rank 0.
    static Tensor f32(Dims dims, std::span<const float> values);
    static Tensor i64(Dims dims, std::span<const std::int64_t> values);
    static Tensor scalar(float value) { return f32({}, std::span(&value, 1)); }
    static Tensor scalar(std::int64_t value) { return i64({}, std::span(&value, 1)); }

    [[nodiscard]] ElementType type() const { return type_; }
    [[nodiscard]] const Dims& dims() const { return dims_; }
    [[nodiscard]] std::int64_t rank() const { return static_cast<std::int64_t>(dims_.size()); }
    [[nodiscard]] std::int64_t count() const { return count_; }
    [[nodiscard]] std::int64_t byte_count() const { return count_ * size_of(type_); }
    [[nodiscard]] TensorType tensor_type() const { return {type_, shape_of(dims_)}; }

    [[nodiscard]] const std::byte* bytes() const { return data_.get(); }
    // Returns bytes that the caller may write; they are copied first if they are shared.
    [[nodiscard]] std::byte* mutable_bytes();
    template <class T>
    [[nodiscard]] std::span<const T> values() const {
        return {reinterpret_cast<const T*>(bytes()), static_cast<std::size_t>(count_)};
    }
    template <class T>
    [[nodiscard]] std::span<T> mutable_values() {
        return {reinterpret_cast<T*>(mutable_bytes()), static_cast<std::size_t>(count_)};
    }
    // These read an element of any numeric type as a number. They are slow: for small inputs such as axes,
    // shapes and scales. A number beyond 64 bits is the nearest integer that has them; NaN is 0.
    [[nodiscard]] double number(std::int64_t index) const;
    [[nodiscard]] std::int64_t integer(std::int64_t index) const;
    [[nodiscard]] std::vector<std::int64_t> integers() const;

    // Returns a tensor on the same bytes with other dimensions of the same element count.
    [[nodiscard]] Tensor reshaped(Dims dims) const;
    [[nodiscard]] bool same_bytes(const Tensor& other) const;  // type, dims and content
    // Returns a hash of type, dimensions and content, computed once for all tensors that share the bytes.
    [[nodiscard]] std::uint64_t content_hash() const;

  private:
    ElementType type_ = ElementType::undefined;
    Dims dims_;
    std::int64_t count_ = 0;
    bool borrowed_ = false;
    std::shared_ptr<const std::byte> data_;
    std::shared_ptr<std::uint64_t> hash_ = std::make_shared<std::uint64_t>(0);
};

template <class T>
Tensor Tensor::of(ElementType type, Dims dims, std::span<const T> values) {
    Tensor tensor(type, std::move(dims));
    invariant(tensor.count() == static_cast<std::int64_t>(values.size()) && sizeof(T) == size_of(type),
              "as many values of the element's size as the shape says");
    auto out = tensor.mutable_values<T>();
    for (std::size_t i = 0; i < values.size(); ++i) out[i] = values[i];
    return tensor;
}

}  // namespace viridian::graph
