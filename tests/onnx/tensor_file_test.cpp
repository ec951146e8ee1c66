#include "viridian/onnx/tensors/tensor_file.hpp"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"
#include "viridian/base/random.hpp"

namespace viridian::onnx {
namespace {

using graph::ElementType;
using graph::Tensor;

constexpr ElementType all_types[] = {
    ElementType::f64, ElementType::f32, ElementType::f16,    ElementType::bf16, ElementType::i64,
    ElementType::i32, ElementType::i16, ElementType::i8,     ElementType::u64,  ElementType::u32,
    ElementType::u16, ElementType::u8,  ElementType::boolean};

TEST(TensorFile, EveryTypeComesBack) {
    const tests::TemporaryFolder folder;
    Random random(3);
    for (const ElementType type : all_types)
        for (const graph::Dims& dims :
             {graph::Dims{}, graph::Dims{3}, graph::Dims{2, 0}, graph::Dims{2, 3, 5}}) {
            Tensor tensor(type, dims);
            std::byte* bytes = tensor.mutable_bytes();
            for (std::int64_t i = 0; i < tensor.byte_count(); ++i)
                bytes[i] = static_cast<std::byte>(random.below(2));
            for (const char* file : {"x.npy", "x.pb"}) {
                const auto written = write_tensor_file(folder / file, {"x", tensor});
                if (type == ElementType::bf16 && folder / file == folder / "x.npy") {
                    EXPECT_EQ(written.error().code, ErrorCode::unsupported);
                    continue;
                }
                ASSERT_TRUE(written.ok()) << written.error().text();
                const auto read = read_tensor_file(folder / file);
                ASSERT_TRUE(read.ok()) << read.error().text();
                EXPECT_TRUE(read->tensor.same_bytes(tensor));
            }
        }
}

TEST(TensorFile, OddFilesAreRefused) {
    EXPECT_EQ(read_tensor_file("x.txt").error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(read_tensor_file("none.npy").error().code, ErrorCode::file_not_found);
}

}  // namespace
}  // namespace viridian::onnx
