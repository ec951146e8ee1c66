// The states of a training step, through a file and back.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "tests/support/temporary_folder.hpp"
#include "tests/support/training_step.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/types_of.hpp"
#include "viridian/graph/verify.hpp"
#include "viridian/onnx/onnx.hpp"

namespace viridian::onnx {
namespace {

using graph::Graph;
using graph::State;
using graph::StateRole;
using graph::Tensor;
using graph::ValueId;

std::string name(const Graph& graph, ValueId id) { return id == ValueId::none ? "-" : graph.value(id).name; }

// Everything about the states and phases of a graph that a file keeps.
std::string facts(const Graph& graph) {
    std::string text = fmt::format("{:016x}", graph::structural_hash(graph));
    for (const ValueId id : graph.inputs()) text += " in " + name(graph, id);
    for (const ValueId id : graph.outputs()) text += " out " + name(graph, id);
    for (const State& state : graph.states()) {
        const Tensor* first = graph.first_value(state.before);
        text += fmt::format("\n{} > {} {} of {} first {:x}", name(graph, state.before),
                            name(graph, state.after), name_of(state.role), name(graph, state.of),
                            first == nullptr ? 0 : first->content_hash());
    }
    for (const graph::NodeId id : *graph::topological_order(graph))
        text += fmt::format("\n{} {} {}", graph.node(id).name, name_of(graph.node(id).phase),
                            graph.node(id).twin);
    for (const auto& [key, value] : graph.metadata) text += fmt::format("\n{} = {}", key, value);
    return text;
}

Graph read_again(const Graph& graph) {
    const auto bytes = serialize(graph);
    EXPECT_TRUE(bytes.ok()) << (bytes.ok() ? "" : bytes.error().text());
    auto again = parse(bytes.ok() ? *bytes : "", "again");
    EXPECT_TRUE(again.ok()) << (again.ok() ? "" : again.error().text());
    return again.ok() ? *std::move(again) : Graph();
}

::onnx::ModelProto step_model() {
    ::onnx::ModelProto model;
    EXPECT_TRUE(model.ParseFromString(*serialize(tests::training_step())));
    return model;
}

Result<Graph> with_states(const std::string& text) {
    ::onnx::ModelProto model = step_model();
    EXPECT_EQ(model.metadata_props(0).key(), "viridian.states");
    model.mutable_metadata_props(0)->set_value(text);
    return parse(model.SerializeAsString(), "damaged.onnx");
}

TEST(OnnxStates, AFileKeepsStatesRolesFirstValuesPhasesAndMetadata) {
    Graph step = tests::training_step();
    step.metadata["viridian.training"] = R"({"loss":"mse"})";
    step.metadata["author"] = "somebody";
    EXPECT_EQ(facts(read_again(step)), facts(step));
    EXPECT_EQ(facts(*as_written(step)), facts(step));
    EXPECT_EQ(*serialize(read_again(step)), *serialize(step));
    EXPECT_TRUE(graph::verify(read_again(step)).ok());
}

TEST(OnnxStates, AnyoneSeesInputsWithInitialisersAndOutputs) {
    const ::onnx::ModelProto model = step_model();
    std::vector<std::string> inputs, outputs, initializers;
    for (const auto& input : model.graph().input()) inputs.push_back(input.name());
    for (const auto& output : model.graph().output()) outputs.push_back(output.name());
    for (const auto& tensor : model.graph().initializer()) initializers.push_back(tensor.name());
    using Names = std::vector<std::string>;
    EXPECT_EQ(inputs, (Names{"x", "target", "rate", "W1", "b1", "W2", "W1.momentum", "steps"}));
    EXPECT_EQ(outputs, (Names{"loss", "W1.new", "b1.new", "W2.new", "W1.momentum.new", "steps.new"}));
    for (const char* state : {"W1", "b1", "W2", "W1.momentum", "steps"})
        EXPECT_EQ(std::count(initializers.begin(), initializers.end(), state), 1) << state;
}

TEST(OnnxStates, FirstValuesMayLieBesideTheModel) {
    const Graph step = tests::training_step();
    const tests::TemporaryFolder folder;
    const Path file = folder / "step.onnx";
    ASSERT_TRUE(save(step, file, {.external_above = 0, .external_from = 1}).ok());
    EXPECT_GE(std::filesystem::file_size(file.string() + ".data"), 7U * 11 * 4 * 2);
    const auto loaded = load(file);
    ASSERT_TRUE(loaded.ok()) << loaded.error().text();
    EXPECT_EQ(facts(*loaded), facts(step));
    std::filesystem::remove(file.string() + ".data");
    EXPECT_FALSE(load(file).ok());
}

TEST(OnnxStates, AStateWithoutFirstValueIsAnInputThatMustBeGiven) {
    Graph graph;
    const ValueId x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({2})});
    const ValueId sum = graph.add_state("sum", graph.value(x).type, StateRole::accumulator);
    graph.set_after(sum, graph.add("Add", {sum, x}, {}, "sum.new"));
    graph.set_outputs({});
    const Graph again = read_again(graph);
    EXPECT_EQ(facts(again), facts(graph));
    EXPECT_EQ(again.first_value(again.states()[0].before), nullptr);
}

// New values that are no result of a node of their own get one in the file; what they are stays.
TEST(OnnxStates, NewValuesMayBeInputsConstantsStatesOrOutputs) {
    Graph graph;
    const graph::TensorType type{graph::ElementType::f32, graph::shape_of({2})};
    const ValueId x = graph.add_input("x", type);
    const auto state = [&](const std::string& called, float value) {
        return graph.add_state(called, Tensor::f32({2}, std::vector<float>{value, value}));
    };
    const ValueId kept = state("kept", 1), taken = state("taken", 2), fixed = state("fixed", 3);
    const ValueId shown = state("shown", 4), twice = state("twice", 5);
    const ValueId y = graph.add("Add", {x, twice}, {}, "y");
    const ValueId c = graph.add_constant("c", Tensor::f32({2}, std::vector<float>{7, 8}));
    graph.set_after(kept, kept);
    graph.set_after(taken, x);
    graph.set_after(fixed, c);
    graph.set_after(shown, y);
    graph.set_after(twice, y);
    graph.set_outputs({y});
    ASSERT_TRUE(graph::verify(graph).ok());
    const Graph again = read_again(graph);
    EXPECT_EQ(facts(read_again(again)), facts(again));
    ASSERT_EQ(again.states().size(), 5U);
    std::vector<Tensor> given = {Tensor::f32({2}, std::vector<float>{10, 20})};
    for (const Tensor& first : tests::first_values(again)) given.push_back(first);
    const auto wanted = graph::evaluate(graph, given);
    const auto found = graph::evaluate(again, given);
    ASSERT_TRUE(wanted.ok() && found.ok());
    ASSERT_EQ(found->size(), 6U);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_TRUE((*found)[i].same_bytes((*wanted)[i])) << i;
}

TEST(OnnxStates, WithoutMetadataAnInitialiserThatIsAnInputIsAConstant) {
    ::onnx::ModelProto model = step_model();
    model.clear_metadata_props();
    const auto graph = parse(model.SerializeAsString(), "foreign.onnx");
    ASSERT_TRUE(graph.ok()) << graph.error().text();
    EXPECT_EQ(graph->states().size(), 0U);
    EXPECT_EQ(graph->inputs().size(), 3U);
    EXPECT_EQ(graph->outputs().size(), 6U);
}

TEST(OnnxStates, DamagedMetadataIsOneClearSentence) {
    const auto said = [](const std::string& text) {
        const auto graph = with_states(text);
        if (graph.ok()) return std::string("read");
        EXPECT_EQ(graph.error().code, ErrorCode::malformed);
        EXPECT_NE(graph.error().next_step.find("viridian.states"), std::string::npos);
        return graph.error().message;
    };
    const std::string w1 = R"({"before":"W1","after":"W1.new","role":"parameter"})";
    const std::pair<std::string, std::string> cases[] = {
        {"", "the metadata `viridian.states` is no JSON list of states"},
        {"{}", "the metadata `viridian.states` is no JSON list of states"},
        {"[3]", "entry 0 of the metadata `viridian.states` lacks the text `before`"},
        {"[" + w1 + R"(,{"before":"b1","role":"parameter"}])",
         "entry 1 of the metadata `viridian.states` lacks the text `after`"},
        {R"([{"before":"W1","after":"W1.new","role":7}])",
         "entry 0 of the metadata `viridian.states` lacks the text `role`"},
        {R"([{"before":"W1","after":"W1.new","role":"king"}])", "the state `W1` has the unknown role `king`"},
        {R"([{"before":"W9","after":"W1.new","role":"parameter"}])",
         "the state `W9` is no input of the model"},
        {R"([{"before":"W1","after":"dW1","role":"parameter"}])",
         "`dW1`, the new value of the state `W1`, is no output of the model"},
        {"[" + w1 + "," + w1 + "]", "the state `W1` is listed twice"},
        {"[" + w1 + R"(,{"before":"b1","after":"W1.new","role":"parameter"}])",
         "`W1.new` is the new value of two states"},
        {R"([{"before":"W1","after":"b1.new","role":"parameter"}])",
         "the state `W1` is f32[7,11], its new value `b1.new` is f32[11]"},
        {R"([{"before":"W1.momentum","after":"W1.momentum.new","role":"moment","of":"W1"}])",
         "the state `W1.momentum` belongs to `W1`, which is no state before it"},
        {R"([{"before":"W1","after":"W1.new","role":"parameter","of":3}])",
         "entry 0 of the metadata `viridian.states` lacks the text `of`"},
    };
    for (const auto& [text, message] : cases)
        EXPECT_NE(said(text).find(message), std::string::npos) << text << "\n" << said(text);
    EXPECT_EQ(said("[" + w1 + "]"), "read") << "the others are constants then";

    ::onnx::ModelProto model = step_model();
    for (auto& tensor : *model.mutable_graph()->mutable_initializer())
        if (tensor.name() == "b1") tensor.set_dims(0, 10), tensor.mutable_raw_data()->resize(40);
    const auto cut = parse(model.SerializeAsString(), "damaged.onnx");
    ASSERT_FALSE(cut.ok());
    EXPECT_NE(cut.error().message.find("the state `b1` is f32[11], its first value is f32[10]"),
              std::string::npos)
        << cut.error().message;
}

// If a damaged step is read at all, the new values have the types of their states, and it can be written.
TEST(OnnxStates, TenThousandMutationsOfAStep) {
    const std::string step = *serialize(tests::training_step({2, 3, 4, 1}));
    const std::size_t list = step.find("viridian.states");
    Random random(23);
    int read = 0, with_states = 0;
    for (int i = 0; i < 10'000; ++i) {
        std::string bytes = step;
        for (std::uint64_t edits = 1 + random.below(3); edits > 0; --edits) {
            const bool in_list = random.chance(0.5);
            const std::size_t from = in_list ? list : 0;
            const std::size_t at = from + random.below(bytes.size() - from);
            const char drawn = random.chance(0.5) ? static_cast<char>(random.below(256))
                                                  : step[list + random.below(step.size() - list)];
            bytes[at] = drawn;
        }
        const auto graph = parse(bytes, "mutated");
        if (!graph.ok()) {
            ASSERT_EQ(graph.error().kind(), ErrorKind::user) << graph.error().message;
            continue;
        }
        ++read;
        with_states += graph->states().empty() ? 0 : 1;
        for (const State& state : graph->states()) {
            ASSERT_NE(state.after, ValueId::none);
            ASSERT_TRUE(graph::may_agree(graph->value(state.before).type, graph->value(state.after).type));
        }
        const auto written = serialize(*graph);
        if (!written.ok()) continue;
        const auto again = parse(*written, "again");
        if (again.ok()) {
            ASSERT_EQ(again->states().size(), graph->states().size());
        }
    }
    EXPECT_GT(read, 300);
    EXPECT_GT(with_states, 100);
}

class Notes final : public Listener {
  public:
    std::vector<std::string> texts;
    void note(const std::string& text) override { texts.push_back(text); }
};

TEST(OnnxStates, AnUnknownPhaseIsANoteAndForward) {
    std::string bytes = *serialize(tests::training_step());
    const std::size_t at = bytes.find("backward");
    ASSERT_NE(at, std::string::npos);
    bytes.replace(at, 8, "sideward");
    Notes notes;
    const auto graph = parse(bytes, "m", {}, &notes);
    ASSERT_TRUE(graph.ok()) << graph.error().text();
    ASSERT_EQ(notes.texts.size(), 1U);
    EXPECT_EQ(notes.texts[0], "Node `dy` (Mul) has the unknown phase `sideward` and counts as forward.");
    for (const graph::NodeId id : graph->nodes()) {
        if (graph->node(id).name != "dy") continue;
        EXPECT_EQ(graph->node(id).phase, graph::Phase::forward);
        EXPECT_EQ(graph->node(id).twin, "");
    }
}

}  // namespace
}  // namespace viridian::onnx
