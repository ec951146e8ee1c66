#pragma once
// Declares the memory layout of DLPack 1.0's structures, with which other libraries exchange tensors, so
// that no header of another project is needed. Source: the DLPack specification, "C API"
// (DLManagedTensorVersioned).
#include <cstdint>

struct DLPackVersion {
    std::uint32_t major, minor;
};
struct DLDevice {
    std::int32_t device_type;  // 1: CPU
    std::int32_t device_id;
};
struct DLDataType {
    std::uint8_t code;  // 0 int, 1 unsigned, 2 float, 4 bfloat, 6 bool
    std::uint8_t bits;
    std::uint16_t lanes;
};
struct DLTensor {
    void* data;
    DLDevice device;
    std::int32_t ndim;
    DLDataType dtype;
    std::int64_t* shape;
    std::int64_t* strides;  // in elements; null: dense row-major
    std::uint64_t byte_offset;
};
struct DLManagedTensorVersioned {
    DLPackVersion version;
    void* manager_ctx;
    void (*deleter)(DLManagedTensorVersioned* self);
    std::uint64_t flags;
    DLTensor dl_tensor;
};
