// What the samples of a run become: classes of a second file, class weights, rows that are padded, texts.
#include "tests/cli/train_support.hpp"
#include "viridian/data/npy.hpp"

namespace viridian::cli {
namespace {

using graph::ElementType;
using graph::Tensor;
using graph::ValueId;
using testing::HasSubstr;

class TrainData : public TrainCommand {
  protected:
    // Trains without the options of the small model's samples.
    Outcome train(const std::string& model, std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(),
                         {"train", folder_ + model, "--threads", "1", "-o", folder_ + "trained.onnx"});
        return cli::run(arguments);
    }
    void write(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories(std::filesystem::path(folder_ + name).parent_path());
        std::ofstream(folder_ + name) << text;
    }
    // One number a sample; the class is its sign.
    void write_signs_model() {
        graph::Graph graph;
        const ValueId x = graph.add_input("x", {ElementType::f32, graph::Shape{graph::Dimension("N")}});
        const ValueId row =
            graph.add(graph::op::Unsqueeze,
                      {x, graph.add_constant("axes", Tensor::i64({1}, std::vector<std::int64_t>{1}))});
        graph.set_outputs(
            {graph.add(graph::op::Gemm,
                       {row, graph.add_constant("weight", Tensor::f32({1, 2}, std::vector{0.1F, -0.1F})),
                        graph.add_constant("bias", Tensor::f32({2}, std::vector{0.0F, 0.0F}))})});
        ASSERT_TRUE(infer_types(graph).ok());
        ASSERT_TRUE(onnx::save(graph, folder_ + "signs.onnx").ok());
    }
};

// A column of any name holds the labels, and those that are left are the input.
TEST_F(TrainData, TheLabelColumnHasTheLabels) {
    write("prices.csv", "rooms,size,price\n1,2,0\n3,1,1\n2,2,1\n5,1,0\n");
    const Outcome done = train("model.onnx", {"--data", folder_ + "prices.csv", "--label-column", "price"});
    EXPECT_EQ(done.code, 0) << done.err;
    const Outcome without = train("model.onnx", {"--data", folder_ + "prices.csv"});
    EXPECT_EQ(without.code, 1);
    EXPECT_THAT(without.err, HasSubstr("or the column of the labels with --label-column; "));
}

// The words of both files are sorted differently, and no option names the column of the labels.
TEST_F(TrainData, TheClassesOfTheEvaluationAreThoseOfTraining) {
    write_signs_model();
    std::string training = "x,label\n";
    for (int i = 1; i < 40; ++i)
        training += fmt::format("{},{}\n", i % 2 == 0 ? 1 : -1, i % 2 == 0 ? "up" : "down");
    write("train.csv", training);
    write("eval.csv", "x,label\n1,up\n2,up\n0.5,up\n");  // "up" alone would be class 0
    const Outcome done = train("signs.onnx", {"--data", folder_ + "train.csv", "--eval", folder_ + "eval.csv",
                                              "--epochs", "30", "--rate", "0.1", "--json"});
    ASSERT_EQ(done.code, 0) << done.err;
    const auto json = parse_json(done.out, "stdout");
    EXPECT_EQ((*json)["epochs"][29]["metrics"]["top-1"], 1.0);
    write("eval.csv", "x,label\n1,sideways\n");
    const Outcome unknown =
        train("signs.onnx", {"--data", folder_ + "train.csv", "--eval", folder_ + "eval.csv"});
    EXPECT_EQ(unknown.code, 1);
    EXPECT_THAT(unknown.err, HasSubstr("the training data has no class `sideways`"));
    write("numbers.csv", "x,label\n1,1\n-1,0\n");
    const Outcome mixed =
        train("signs.onnx", {"--data", folder_ + "numbers.csv", "--eval", folder_ + "train.csv"});
    EXPECT_EQ(mixed.code, 1);
    EXPECT_THAT(mixed.err, HasSubstr("the column `label` holds numbers in"));
}

// Nine samples of class 0 for each of class 1, all with the same input: the scores become the logarithms of
// the weighted shares.
TEST_F(TrainData, BalancedWeightsMakeRareClassesCount) {
    write_signs_model();
    std::string samples = "x,label\n";
    for (int i = 0; i < 100; ++i) samples += fmt::format("0,{}\n", i % 10 == 0 ? 1 : 0);
    write("rare.csv", samples);
    const auto bias = [&](const std::vector<std::string>& weights) {
        std::vector<std::string> arguments = {
            "--data", folder_ + "rare.csv", "--epochs", "100", "--batch", "100", "--rate", "0.1"};
        arguments.insert(arguments.end(), weights.begin(), weights.end());
        const Outcome done = train("signs.onnx", arguments);
        EXPECT_EQ(done.code, 0) << done.err;
        const std::vector<double> found = numbers("trained.onnx", "bias");
        return found.size() == 2 ? found[0] - found[1] : std::nan("");
    };
    EXPECT_NEAR(bias({}), std::log(9.0), 0.2);
    EXPECT_NEAR(bias({"--class-weights", "balanced"}), 0, 0.05);
    EXPECT_NEAR(bias({"--class-weights", "1,9"}), 0, 0.05);
    const Outcome word = train("signs.onnx", {"--data", folder_ + "rare.csv", "--class-weights", "fair,1"});
    EXPECT_EQ(word.code, 1);
    EXPECT_THAT(word.err, HasSubstr("`fair` is not the weight of a class"));
    const Outcome loss =
        train("signs.onnx", {"--data", folder_ + "rare.csv", "--class-weights", "1,2", "--loss", "mse"});
    EXPECT_EQ(loss.code, 1);
    EXPECT_THAT(loss.err, HasSubstr("--class-weights does nothing with --loss mse"));
    const Outcome step = cli::run({"gradient", folder_ + "signs.onnx", "--dim", "N=4", "--class-weights",
                                   "balanced", "-o", folder_ + "step.onnx"});
    EXPECT_EQ(step.code, 1);
    EXPECT_THAT(step.err, HasSubstr("sees no samples"));
}

// The mean of a row's numbers where the mask is 1; rows have one to four numbers.
TEST_F(TrainData, RowsAreMaskedAndPadded) {
    graph::Graph graph;
    const graph::Shape rows = {graph::Dimension("N"), 4};
    const ValueId x = graph.add_input("x", {ElementType::f32, rows});
    const ValueId mask = graph.add_input("mask", {ElementType::f32, rows});
    const ValueId axes = graph.add_constant("axes", Tensor::i64({1}, std::vector<std::int64_t>{1}));
    const auto sum = [&](ValueId value) { return graph.add(graph::op::ReduceSum, {value, axes}); };
    const ValueId mean = graph.add(graph::op::Div, {sum(graph.add(graph::op::Mul, {x, mask})), sum(mask)});
    graph.set_outputs(
        {graph.add(graph::op::Gemm,
                   {mean, graph.add_constant("weight", Tensor::f32({1, 2}, std::vector{0.1F, -0.1F}))})});
    ASSERT_TRUE(infer_types(graph).ok());
    ASSERT_TRUE(onnx::save(graph, folder_ + "mean.onnx").ok());
    for (int i = 0; i < 24; ++i) {
        const std::vector<float> row(static_cast<std::size_t>(i % 4 + 1), i % 2 == 0 ? 1.0F : -1.0F);
        const Tensor tensor = Tensor::f32({i % 4 + 1}, row);
        const std::string folder = i % 2 == 0 ? "rows/a" : "rows/b";
        write(folder + fmt::format("/{:02}.npy", i), data::npy_bytes(tensor).value());
    }
    const std::vector<std::string> common = {
        "--data", folder_ + "rows", "--input",  "x=data", "--eval-share", "0.25",
        "--pad",  "x=50",           "--epochs", "20",     "--rate",       "0.1"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), common.begin(), common.end());
        return more;
    };
    const Outcome none = train("mean.onnx", common);
    EXPECT_EQ(none.code, 1);
    EXPECT_THAT(none.err, HasSubstr("no column of the data is meant for the input `mask`"));
    const Outcome done = train("mean.onnx", with({"--mask", "mask=data", "--json"}));
    ASSERT_EQ(done.code, 0) << done.err;
    const auto json = parse_json(done.out, "stdout");
    EXPECT_EQ((*json)["epochs"][19]["metrics"]["top-1"], 1.0);
    const Outcome shape = train("mean.onnx", with({"--mask", "mask"}));
    EXPECT_EQ(shape.code, 1);
    EXPECT_THAT(shape.err, HasSubstr("`mask` is not of the form that --mask takes"));
    const Outcome padding = train("mean.onnx", with({"--mask", "mask=data:x"}));
    EXPECT_EQ(padding.code, 1);
    EXPECT_THAT(padding.err, HasSubstr("the padding of `mask=data:x` is not a whole number"));
    write("rows/a/99.npy", data::npy_bytes(Tensor(ElementType::f32, {6})).value());
    const Outcome longer = train("mean.onnx", with({"--mask", "mask=data"}));
    EXPECT_EQ(longer.code, 1);
    EXPECT_THAT(longer.err, HasSubstr("has 6 elements"));
    EXPECT_EQ(train("mean.onnx", with({"--mask", "mask=data", "--truncate"})).code, 0);
    // In order, the long row is the thirteenth: the three steps before it are kept.
    const std::vector<std::string> kept = {
        "--data", folder_ + "rows", "--input",  "x=data", "--mask",   "mask=data",     "--batch",
        "4",      "--in-order",     "--epochs", "2",      "--resume", "--checkpoints", folder_ + "points"};
    const Outcome late = train("mean.onnx", kept);
    EXPECT_EQ(late.code, 1);
    EXPECT_THAT(late.err, HasSubstr("has 6 elements"));
    EXPECT_THAT(late.err, HasSubstr("3 steps are kept, and --resume --changed-data goes on from there"));
    EXPECT_TRUE(std::filesystem::exists(folder_ + "points/step-000000000003.safetensors"));
    write("rows/a/99.npy", data::npy_bytes(Tensor(ElementType::f32, {2})).value());
    const Outcome changed = train("mean.onnx", kept);
    EXPECT_EQ(changed.code, 1);
    EXPECT_THAT(changed.err, HasSubstr("the column `data` of --data holds other values"));
    std::vector<std::string> accepted = kept;
    accepted.emplace_back("--changed-data");
    const Outcome repaired = train("mean.onnx", accepted);
    EXPECT_EQ(repaired.code, 0) << repaired.err;
    EXPECT_THAT(repaired.out, HasSubstr("done: 14 steps"));
}

// A model that gives every character the same score has an entropy of ln(classes), whatever the text; the
// evaluation counts each character but the first.
TEST_F(TrainData, AnEvaluatedTextIsCountedToItsEnd) {
    graph::Graph graph;
    const ValueId x = graph.add_input("tokens", {ElementType::i64, graph::Shape{graph::Dimension("N"), 8}});
    graph.set_outputs(
        {graph.add(graph::op::Gather, {graph.add_constant("table", Tensor(ElementType::f32, {4, 4})), x})});
    ASSERT_TRUE(infer_types(graph).ok());
    ASSERT_TRUE(onnx::save(graph, folder_ + "table.onnx").ok());
    std::string text;
    for (int i = 0; i < 100; ++i) text += "ab";
    write("train.txt", text + "cd");
    // Windows of 8 alone would see "ab" only; the last characters are new pairs.
    write("eval.txt",
          "ababababa"
          "cd");
    const auto entropy = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--data", folder_ + "train.txt", "--context", "8", "--input",
                                 "labels=targets", "--epochs", "30", "--rate", "0.3", "--weight-decay", "0",
                                 "--metric", "cross-entropy", "--json"});
        const Outcome done = train("table.onnx", more);
        EXPECT_EQ(done.code, 0) << done.err;
        const auto json = parse_json(done.out, "stdout");
        return json.ok() ? (*json)["epochs"][29]["metrics"]["cross-entropy"].get<double>() : 0;
    };
    const Outcome shorter = train("table.onnx", {"--data", folder_ + "train.txt", "--context", "4"});
    EXPECT_EQ(shorter.code, 1);
    EXPECT_THAT(shorter.err, HasSubstr("choose --context 8"));
    EXPECT_GT(entropy({"--eval", folder_ + "eval.txt"}), 0.3) << "the pairs `ac` and `cd` count";
    EXPECT_LT(entropy({"--eval", folder_ + "eval.txt", "--ignore-label", "99"}), 0.2)
        << "without places that do not count, the end is left out";
}

}  // namespace
}  // namespace viridian::cli
