// What no exporter writes: every file gets a clear error, in bounded time and memory.
#include <gtest/gtest.h>

#include <fstream>

#include "onnx/models.hpp"
#include "tests/support/temporary_folder.hpp"
#include "viridian/base/random.hpp"
#include "viridian/onnx/onnx.hpp"

namespace viridian::onnx {
namespace {

using tests::add_node;
using tests::ModelProto;
using tests::small_model;

void expect_error(const ModelProto& model, ErrorCode code, const std::string& words) {
    const auto graph = parse(model.SerializeAsString(), "hostile.onnx");
    ASSERT_FALSE(graph.ok()) << words;
    EXPECT_EQ(name_of(graph.error().code), name_of(code)) << graph.error().message;
    EXPECT_NE(graph.error().message.find(words), std::string::npos) << graph.error().message;
    EXPECT_FALSE(graph.error().next_step.empty());
}

TEST(Hostile, TheModelItselfIsFine) { EXPECT_TRUE(parse(small_model().SerializeAsString(), "m").ok()); }

TEST(Hostile, Cycle) {
    ModelProto model = small_model();
    model.mutable_graph()->mutable_node(0)->set_input(0, "y");
    expect_error(model, ErrorCode::malformed, "cycle");
}

TEST(Hostile, DanglingName) {
    ModelProto model = small_model();
    model.mutable_graph()->mutable_node(0)->set_input(0, "nowhere");
    expect_error(model, ErrorCode::malformed, "`nowhere`, which nothing defines");
    model = small_model();
    model.mutable_graph()->mutable_output(0)->set_name("nowhere");
    expect_error(model, ErrorCode::malformed, "nothing defines the output `nowhere`");
}

TEST(Hostile, DuplicateNames) {
    ModelProto model = small_model();
    model.mutable_graph()->mutable_node(0)->set_output(0, "y");
    expect_error(model, ErrorCode::malformed, "`y` is defined twice");
    model = small_model();
    *model.mutable_graph()->add_initializer() = model.graph().initializer(0);
    expect_error(model, ErrorCode::malformed, "`w` is defined twice");
    model = small_model();
    model.mutable_graph()->mutable_node(0)->set_output(0, "x");
    expect_error(model, ErrorCode::malformed, "`x` is defined twice");
}

TEST(Hostile, AbsurdDimensions) {
    ModelProto model = small_model();
    auto& shape =
        *model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape.mutable_dim(0)->set_dim_value(std::int64_t{1} << 60);
    expect_error(model, ErrorCode::limit_exceeded, "`x`");
    shape.mutable_dim(0)->set_dim_value(-7);
    expect_error(model, ErrorCode::malformed, "-7");
    model = small_model();
    model.mutable_graph()->mutable_initializer(0)->set_dims(0, std::int64_t{1} << 60);
    expect_error(model, ErrorCode::limit_exceeded, "`w`");
    model.mutable_graph()->mutable_initializer(0)->set_dims(0, -2);
    expect_error(model, ErrorCode::malformed, "`w`");
}

TEST(Hostile, WrongLengths) {
    ModelProto model = small_model();
    model.mutable_graph()->mutable_initializer(0)->set_raw_data("short");
    expect_error(model, ErrorCode::malformed, "tensor `w` needs 24 bytes, the file holds 5");
    model.mutable_graph()->mutable_initializer(0)->clear_raw_data();
    model.mutable_graph()->mutable_initializer(0)->add_float_data(1);
    expect_error(model, ErrorCode::malformed, "tensor `w` needs 6 elements, the file holds 1");
}

TEST(Hostile, InputWithoutType) {
    ModelProto model = small_model();
    model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(0);
    expect_error(model, ErrorCode::malformed, "the input `x` has no element type");
    model.mutable_graph()->mutable_input(0)->clear_type();
    expect_error(model, ErrorCode::malformed, "the input `x` has no element type");
}

// A function that means an operator, called without what the operator needs.
TEST(Hostile, FunctionCalledWithoutInputs) {
    ModelProto model = small_model();
    auto& function = *model.add_functions();
    function.set_name("Swish");
    function.set_domain("viridian");
    function.add_input("a");
    function.add_output("b");
    function.add_opset_import()->set_version(17);
    add_node(function, "Sigmoid", {"a"}, {"s"});
    add_node(function, "Mul", {"a", "s"}, {"b"});
    model.add_opset_import()->set_domain("viridian");
    model.mutable_opset_import(1)->set_version(1);
    for (const std::vector<std::string>& inputs :
         {std::vector<std::string>{}, std::vector<std::string>{""}}) {
        model.mutable_graph()->mutable_node()->DeleteSubrange(2, model.graph().node_size() - 2);
        add_node(*model.mutable_graph(), "Swish", inputs, {"z"}).set_domain("viridian");
        const auto graph = parse(model.SerializeAsString(), "hostile.onnx");
        if (!graph.ok()) {
            EXPECT_EQ(graph.error().kind(), ErrorKind::user) << graph.error().message;
        }
    }
}

TEST(Hostile, TruncatedAnywhere) {
    const std::string whole = small_model().SerializeAsString();
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const auto graph = parse(whole.substr(0, length), "cut.onnx");
        if (!graph.ok()) {
            EXPECT_EQ(graph.error().kind(), ErrorKind::user) << length;
        }
    }
    EXPECT_EQ(parse("", "empty.onnx").error().code, ErrorCode::malformed);
    EXPECT_EQ(parse("not a model at all", "text.onnx").error().code, ErrorCode::malformed);
}

TEST(Hostile, DeepNesting) {
    ModelProto model = small_model();
    ::onnx::GraphProto* graph = model.mutable_graph();
    for (int depth = 0; depth < 200; ++depth) {
        auto& attribute = *add_node(*graph, "If", {"x"}, {fmt::format("deep_{}", depth)}).add_attribute();
        attribute.set_name("then_branch");
        attribute.set_type(::onnx::AttributeProto::GRAPH);
        graph = attribute.mutable_g();
    }
    expect_error(model, ErrorCode::malformed, "nested too deeply");
}

TEST(Hostile, FunctionsThatCallThemselvesOrGrowWithoutEnd) {
    ModelProto model = small_model();
    auto& function = *model.add_functions();
    function.set_name("f0");
    function.set_domain("d");
    function.add_input("a");
    function.add_output("b");
    model.add_opset_import()->set_domain("d");
    model.mutable_opset_import(1)->set_version(1);
    add_node(function, "f0", {"a"}, {"b"}).set_domain("d");
    add_node(*model.mutable_graph(), "f0", {"x"}, {"z"}).set_domain("d");
    expect_error(model, ErrorCode::malformed, "calls itself");

    function.mutable_node(0)->set_op_type("f1");
    for (int level = 1; level < 40; ++level) {  // each calls the next one twice
        auto& next = *model.add_functions();
        next = model.functions(0);
        next.set_name(fmt::format("f{}", level));
        next.clear_node();
        const std::string callee = fmt::format("f{}", level + 1);
        add_node(next, level == 39 ? "Relu" : callee, {"a"}, {"c"}).set_domain(level == 39 ? "" : "d");
        add_node(next, level == 39 ? "Relu" : callee, {"c"}, {"b"}).set_domain(level == 39 ? "" : "d");
        next.add_opset_import()->set_version(17);
    }
    expect_error(model, ErrorCode::limit_exceeded, "too many nodes");
}

TEST(Hostile, MessagesThatSwell) {
    ModelProto model = small_model();
    std::string bytes = model.SerializeAsString();
    std::string swarm;
    for (int i = 0; i < 4'000'000; ++i) swarm += std::string("\x0a\x00", 2);  // empty nodes of the graph
    bytes += '\x3a';                                                          // graph, merged with the first
    for (std::size_t length = swarm.size(); length > 0; length >>= 7U)
        bytes += static_cast<char>((length & 0x7fU) | (length >= 0x80 ? 0x80U : 0U));
    const auto graph = parse(bytes + swarm, "swarm.onnx");
    ASSERT_FALSE(graph.ok());
    EXPECT_EQ(graph.error().code, ErrorCode::limit_exceeded);
}

class ExternalFolder : public testing::Test {
  protected:
    void SetUp() override {
        std::filesystem::create_directories(folder_ / "model");
        std::ofstream(folder_ / "secret.bin") << std::string(24, 's');
        std::ofstream(folder_ / "model" / "short.bin") << std::string(23, 's');
        std::ofstream(folder_ / "model" / "good.bin") << std::string(24, 's');
        std::error_code ignored;
        std::filesystem::create_symlink("../secret.bin", folder_ / "model" / "link.bin", ignored);
    }

    [[nodiscard]] Result<graph::Graph> load_with(const std::string& location,
                                                 const std::string& offset = "0") const {
        ModelProto model = small_model();
        auto& weight = *model.mutable_graph()->mutable_initializer(0);
        weight.clear_raw_data();
        weight.set_data_location(::onnx::TensorProto::EXTERNAL);
        for (const auto& [key, value] : {std::pair("location", location), std::pair("offset", offset)}) {
            auto& entry = *weight.add_external_data();
            entry.set_key(key);
            entry.set_value(value);
        }
        std::ofstream(folder_ / "model" / "m.onnx", std::ios::binary) << model.SerializeAsString();
        return load(folder_ / "model" / "m.onnx");
    }

    const tests::TemporaryFolder folder_;
};

TEST_F(ExternalFolder, OnlyBesideTheModel) {
    EXPECT_TRUE(load_with("good.bin").ok());
    for (const std::string bad :
         {"../secret.bin", "/etc/passwd", "link.bin", "", "..", "x/../../secret.bin"}) {
        const auto graph = load_with(bad);
        ASSERT_FALSE(graph.ok()) << bad;
        EXPECT_EQ(graph.error().kind(), ErrorKind::user);
        EXPECT_NE(graph.error().message.find("outside the model's folder"), std::string::npos)
            << graph.error().message;
    }
}

TEST_F(ExternalFolder, WrongPlacesAreRefused) {
    EXPECT_EQ(load_with("none.bin").error().code, ErrorCode::file_not_found);
    EXPECT_EQ(load_with("short.bin").error().code, ErrorCode::malformed);
    EXPECT_EQ(load_with("good.bin", "1").error().code, ErrorCode::malformed);
    EXPECT_EQ(load_with("good.bin", "18446744073709551615").error().code, ErrorCode::malformed);
    EXPECT_EQ(load_with("good.bin", "-4").error().code, ErrorCode::malformed);
    EXPECT_EQ(load_with("good.bin", "four").error().code, ErrorCode::malformed);
}

// Bytes of small real models flipped, cut, doubled and moved: an error or a graph, never anything else.
TEST(Hostile, TenThousandMutations) {
    std::vector<std::string> seeds = {small_model().SerializeAsString()};
    for (const char* name : {"if", "loop11", "scan9_sum", "conv_with_strides_padding", "softmax_axis_1",
                             "slice", "split_equal_parts_1d", "resize_upsample_scales_nearest",
                             "gru_defaults", "reduce_sum_default_axes_keepdims_random", "einsum_sum",
                             "batchnorm_epsilon", "pad", "topk", "gather_0", "concat_2d_axis_0"}) {
        const auto bytes = read_file(Path("/usr/share/libonnx-testdata/data/node") /
                                     fmt::format("test_{}", name) / "model.onnx");
        if (bytes.ok()) seeds.push_back(*bytes);
    }
    EXPECT_GE(seeds.size(), 12U);
    Random random(17);
    int read = 0;
    for (int i = 0; i < 10'000; ++i) {
        std::string bytes = seeds[random.below(seeds.size())];
        for (std::uint64_t edits = 1 + random.below(4); edits > 0 && !bytes.empty(); --edits) {
            const std::size_t at = random.below(bytes.size());
            switch (random.below(5)) {
                case 0:
                    bytes[at] = static_cast<char>(random.below(256));
                    break;
                case 1:
                    bytes[at] =
                        static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << random.below(8)));
                    break;
                case 2:
                    bytes.erase(at, 1 + random.below(8));
                    break;
                case 3:
                    bytes.insert(at, bytes.substr(random.below(bytes.size()), 1 + random.below(32)));
                    break;
                default:
                    bytes[at] = static_cast<char>(random.chance(0.5) ? 0xff : 0x7f);
            }
        }
        const auto graph = parse(bytes, "mutated");
        if (graph.ok()) {
            ++read;
            (void)serialize(*graph);
        } else {
            EXPECT_EQ(graph.error().kind(), ErrorKind::user) << graph.error().message;
        }
    }
    EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace viridian::onnx
