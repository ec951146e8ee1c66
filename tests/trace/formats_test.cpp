// Formats of which no file can be shipped here: written by hand after their writers' sources (docs/trace.md).
#include "viridian/trace/formats/formats.hpp"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"
#include "viridian/trace/read.hpp"
#include "viridian/trace/write/out.hpp"

namespace viridian::trace {
namespace {

Collected read(std::string_view text) {
    auto source = open_text(text, "text");
    EXPECT_TRUE(source.ok());
    auto all = collect(**source);
    EXPECT_TRUE(all.ok()) << (all.ok() ? "" : all.error().text());
    return std::move(all).value();
}

// One line per event: "start+duration device kind pass path <owner's path".
std::string lines(const Collected& trace) {
    std::string all;
    for (const Event& event : trace.events) {
        all += fmt::format("{}+{} {} {} {}", event.start, event.duration(), trace.about.devices[event.device],
                           name_of(event.kind), trace.about.qualified(event.path));
        if (event.pass != Pass::unknown) all += fmt::format(" {}", name_of(event.pass));
        if (event.owner != 0) all += " <" + trace.about.qualified(trace.events[event.owner - 1].path);
        if (event.kind == Kind::counter)
            all += fmt::format("{} = {}", trace.about.names[event.name], event.value);
        all += '\n';
    }
    return all;
}

std::string edges(const Trace& about) {
    std::string all;
    for (const Edge& edge : about.edges)
        all +=
            fmt::format("{} -> {} x{}\n", about.qualified(edge.from), about.qualified(edge.to), edge.count);
    return all;
}

TEST(TensorFlowTimeline, StreamsCountOnceAndInputsAreEdges) {
    const Collected trace = read(R"j({"traceEvents": [
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "/job:localhost/replica:0/task:0/device:CPU:0 Compute"}},
{"name": "process_name", "ph": "M", "pid": 3, "args": {"name": "/job:localhost/replica:0/task:0/device:GPU:0 Compute"}},
{"name": "process_name", "ph": "M", "pid": 5, "args": {"name": "/device:GPU:0/stream:all Compute"}},
{"name": "process_name", "ph": "M", "pid": 7, "args": {"name": "/device:GPU:0/stream:13 Compute"}},
{"name": "process_name", "ph": "M", "pid": 8, "args": {"name": "/device:GPU:0/stream:13 Tensors"}},
{"ph": "X", "cat": "Op", "name": "MatMul", "pid": 1, "tid": 0, "ts": 1600000000000000, "dur": 30, "args": {"name": "bert/encoder/layer_0/MatMul", "op": "MatMul", "input0": "bert/embeddings/Add:0", "input1": "^init"}},
{"ph": "X", "cat": "Op", "name": "Conv2D", "pid": 3, "tid": 0, "ts": 1600000000000010, "dur": 5, "args": {"name": "net/Conv2D", "op": "Conv2D"}},
{"ph": "X", "cat": "Op", "name": "Conv2D", "pid": 5, "tid": 0, "ts": 1600000000000020, "dur": 7, "args": {"name": "net/Conv2D:Conv2D", "op": "Conv2D"}},
{"ph": "X", "cat": "Op", "name": "Conv2D", "pid": 7, "tid": 0, "ts": 1600000000000020, "dur": 7, "args": {"name": "net/Conv2D:Conv2D", "op": "Conv2D"}},
{"ph": "X", "cat": "Op", "name": "MEMCPYHtoD", "pid": 7, "tid": 0, "ts": 1600000000000040, "dur": 1, "args": {"name": "edge_5", "op": "MEMCPYHtoD"}},
{"ph": "O", "cat": "Tensor", "name": "t", "pid": 8, "tid": 0, "ts": 1, "id": 3, "args": {"snapshot": {"x": [1]}}}
]})j");
    EXPECT_EQ(trace.about.format, "tensorflow-timeline");
    EXPECT_EQ(trace.about.clock.zero, Clock::Zero::unix_epoch);
    EXPECT_EQ(lines(trace),
              "1600000000000000000+30000 cpu:0 operation bert/encoder/layer_0/MatMul\n"
              "1600000000000010000+5000 cpu:0 launch net/Conv2D\n"
              "1600000000000020000+7000 cuda:0 kernel net/Conv2D\n"
              "1600000000000040000+1000 cuda:0 copy edge_5\n");
    EXPECT_EQ(edges(trace.about), "bert/embeddings/Add -> bert/encoder/layer_0/MatMul x1\n");
    EXPECT_EQ(trace.about.names[trace.events[0].type], "MatMul");
}

TEST(TensorFlowProfile, OnlyStreamsAreWorkAndTheEmptyObjectIsNoEvent) {
    const Collected trace = read(R"j({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},
{"ph":"M","pid":1,"tid":14,"name":"thread_name","args":{"name":"Stream #14(Compute)"}
},
{"ph":"M","pid":1,"tid":100,"name":"thread_name","args":{"name":"TensorFlow Ops"}},
{"ph":"M","pid":701,"name":"process_name","args":{"name":"/host:CPU"}},
{"ph":"X","pid":1,"tid":14,"ts":1000.123456,"dur":12.5,"name":"volta_sgemm","args":{"tf_op":"model/dense/MatMul:MatMul","correlation_id":"77"}},
{"ph":"X","pid":1,"tid":14,"ts":1020,"dur":2,"name":"MemcpyH2D","args":{"correlation_id":"78"}},
{"ph":"X","pid":1,"tid":100,"ts":1000.123456,"dur":12.5,"name":"MatMul","args":{}},
{"ph":"X","pid":701,"tid":5,"ts":990,"dur":8,"name":"model/dense/MatMul:MatMul","args":{"group_id":"1"}},
{"ph":"X","pid":701,"tid":5,"ts":980,"dur":50,"name":"EagerLocalExecute: MatMul","args":{}},
{}]
})j");
    EXPECT_EQ(trace.about.format, "tensorflow-profile");
    EXPECT_EQ(trace.about.clock.zero, Clock::Zero::unknown);
    EXPECT_EQ(lines(trace),
              "980000+50000 cpu:0 function \n"
              "990000+8000 cpu:0 operation model/dense/MatMul\n"
              "1000123+12500 cuda:0 kernel model/dense/MatMul/volta_sgemm\n"
              "1020000+2000 cuda:0 copy MemcpyH2D\n");
    EXPECT_TRUE(trace.about.warnings.empty());
    EXPECT_EQ(trace.about.unowned, 1U);  // the copy names no operator
}

TEST(TorchLegacy, FlowsJoinKernelsAndScopesNestByName) {
    const Collected trace = read(
        R"j([{"name": "bert", "ph": "X", "ts": 0, "dur": 100, "tid": 1, "pid": "CPU functions", "args": {}},
{"name": "bert/layer_0", "ph": "X", "ts": 5, "dur": 90, "tid": 1, "pid": "CPU functions", "args": {}},
{"name": "aten::mm", "ph": "X", "ts": 10, "dur": 20, "tid": 1, "pid": "CPU functions", "args": {}},
{"name": "aten::mm", "ph": "s", "ts": 10, "tid": 1, "pid": "CPU functions", "id": 0, "cat": "cpu_to_cuda", "args": {}},
{"name": "sgemm", "ph": "f", "ts": 15, "tid": 0, "pid": "CUDA functions", "id": 0, "cat": "cpu_to_cuda", "args": {}},
{"name": "sgemm", "ph": "X", "ts": 15, "dur": 9, "tid": 0, "pid": "CUDA functions", "args": {}},
{"name": "MmBackward0", "ph": "X", "ts": 120, "dur": 9, "tid": 2, "pid": "CPU functions", "args": {}}])j");
    EXPECT_EQ(trace.about.format, "torch-legacy");
    EXPECT_EQ(lines(trace),
              "0+100000 cpu:0 scope bert\n"
              "5000+90000 cpu:0 scope bert/layer_0\n"
              "10000+20000 cpu:0 operation bert/layer_0/aten::mm\n"
              "15000+9000 cuda:0 kernel bert/layer_0/aten::mm/sgemm <bert/layer_0/aten::mm\n"
              "120000+9000 cpu:0 operation MmBackward0 backward\n");
}

TEST(OnnxRuntime, KernelsFollowTheirNodeAndOldNamesAreMended) {
    const Collected trace = read(R"j([
{"cat" : "Session","pid" :1,"tid" :1,"dur" :99,"ts" :4,"ph" : "X","name" :"model_run","args" : {}},
{"cat" : "Node","pid" :1,"tid" :1,"dur" :0,"ts" :9,"ph" : "X","name" :"enc/conv_fence_before","args" : {"op_name" : "Conv"}},
{"cat" : "Node","pid" :1,"tid" :1,"dur" :6,"ts" :10,"ph" : "X","name" :"enc/conv_kernel_time","args" : {"op_name" : "Conv","provider" : "CUDAExecutionProvider","thread_scheduling_stats" : {"main":1}}},
{"cat" : "Kernel","pid" :1,"tid" :1,"dur" :5,"ts" :12,"ph" : "X","name" :"implicit_gemm","args" : {"stream" : "3"}},
{"cat" : "Node","pid" :1,"tid" :1,"dur" :6,"ts" :20,"ph" : "X","name" :"_kernel_time","args" : {"graph_index" : "7","op_name" : "Pad"}}
])j");
    EXPECT_EQ(lines(trace),
              "4000+99000 cpu:0 scope \n"
              "10000+6000 cpu:0 operation enc/conv\n"
              "12000+5000 cuda:0 kernel enc/conv/implicit_gemm\n"
              "20000+6000 cpu:0 operation Pad#7\n");
    ASSERT_EQ(trace.about.warnings.size(), 1U);
    EXPECT_EQ(trace.about.warnings[0].what, "kernels joined to nodes by their place in the file");
    EXPECT_EQ(trace.about.lanes[trace.events[2].lane].thread, 3);
}

TEST(Kineto, ModulesScopesAndLostEvents) {
    const Collected trace = read(R"j({"schemaVersion": 1, "traceEvents": [
{"ph":"X","cat":"python_function","name":"nn.Module: Net_0","pid":1,"tid":1,"ts":10,"dur":100,"args":{"Python id":1,"Python module id":0}},
{"ph":"X","cat":"python_function","name":"net.py(3): forward","pid":1,"tid":1,"ts":11,"dur":98,"args":{"Python id":2,"Python parent id":1}},
{"ph":"X","cat":"python_function","name":"nn.Module: Linear_1","pid":1,"tid":1,"ts":20,"dur":50,"args":{}},
{"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":1,"tid":1,"ts":30,"dur":20,"args":{"External id":4}},
{"ph":"X","cat":"cpu_op","name":"aten::relu","pid":1,"tid":1,"ts":80,"dur":4,"args":{"External id":5,"Module Hierarchy":"top.act"}},
{"ph":"X","cat":"kernel","name":"late","pid":0,"tid":7,"ts":29,"dur":3,"args":{"device":0,"stream":7,"correlation":9}},
{"ph":"X","cat":"kernel","name":"by id","pid":0,"tid":7,"ts":90,"dur":3,"args":{"device":0,"stream":7,"External id":5}},
{"ph":"X","cat":"kernel","name":"orphan","pid":0,"tid":7,"ts":95,"dur":3,"args":{"device":0,"stream":7,"correlation":999}},
{"ph":"X","cat":"kernel","name":"lost","pid":0,"tid":7,"ts":0,"dur":0,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":31,"dur":2,"args":{"correlation":9}},
{"ph":"X","cat":"gpu_user_annotation","name":"Net","pid":0,"tid":7,"ts":28,"dur":80,"args":{}},
{"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"PyTorch Profiler","ts":1,"dur":5000}
]
})j");
    EXPECT_EQ(lines(trace),
              "10000+100000 cpu:0 module Net_0\n"
              "11000+98000 cpu:0 function Net_0\n"
              "20000+50000 cpu:0 module Net_0/Linear_1\n"
              "28000+80000 cuda:0 overhead \n"
              "29000+3000 cuda:0 kernel Net_0/Linear_1/aten::addmm/late <Net_0/Linear_1/aten::addmm\n"
              "30000+20000 cpu:0 operation Net_0/Linear_1/aten::addmm\n"
              "31000+2000 cpu:0 launch Net_0/Linear_1/aten::addmm/cudaLaunchKernel\n"
              "80000+4000 cpu:0 operation top/act/aten::relu\n"
              "90000+3000 cuda:0 kernel top/act/aten::relu/by id <top/act/aten::relu\n"
              "95000+3000 cuda:0 kernel orphan\n");
    EXPECT_EQ(trace.about.unowned, 1U);
    EXPECT_EQ(trace.about.lost_events, 1U);
}

// What `record --torch` writes: whole paths and classes of modules. The backward pass calls a block again
// (checkpointing) and adds a gradient to its parameter.
TEST(Kineto, RecordedModulesTellForwardBackwardRecomputeAndUpdate) {
    const Collected trace = read(R"j({"schemaVersion": 1, "traceEvents": [
{"ph":"X","cat":"viridian_module","name":"Net","pid":1,"tid":1,"ts":9,"dur":92,"args":{"path":"Net"}},
{"ph":"X","cat":"viridian_module","name":"Net","pid":1,"tid":1,"ts":10,"dur":90,"args":{"path":"Net","type":"Net"}},
{"ph":"X","cat":"viridian_module","name":"Net.body.0","pid":1,"tid":1,"ts":20,"dur":50,"args":{"path":"Net/body/0","type":"Linear"}},
{"ph":"X","cat":"viridian_module","name":"Net.body.0","pid":1,"tid":1,"ts":220,"dur":30,"args":{"path":"Net/body/0","type":"Linear"}},
{"ph":"X","cat":"user_annotation","name":"epoch 1","pid":1,"tid":1,"ts":1,"dur":800,"args":{}},
{"ph":"X","cat":"cpu_op","name":"aten::linear","pid":1,"tid":1,"ts":30,"dur":20,"args":{"External id":4,"Sequence number":3}},
{"ph":"X","cat":"cpu_op","name":"aten::sum","pid":1,"tid":1,"ts":110,"dur":20,"args":{"External id":5,"Sequence number":4}},
{"ph":"X","cat":"cpu_op","name":"autograd::engine::evaluate_function: CheckpointFunctionBackward","pid":1,"tid":1,"ts":200,"dur":100,"args":{"External id":6,"Sequence number":9,"Fwd thread id":1}},
{"ph":"X","cat":"cpu_op","name":"aten::linear","pid":1,"tid":1,"ts":230,"dur":10,"args":{"External id":7,"Sequence number":10}},
{"ph":"X","cat":"cpu_op","name":"autograd::engine::evaluate_function: AddmmBackward0","pid":1,"tid":1,"ts":310,"dur":30,"args":{"External id":8,"Sequence number":3,"Fwd thread id":1}},
{"ph":"X","cat":"cpu_op","name":"autograd::engine::evaluate_function: torch::autograd::AccumulateGrad","pid":1,"tid":1,"ts":350,"dur":30,"args":{"External id":9}},
{"ph":"X","cat":"cpu_op","name":"torch::autograd::AccumulateGrad","pid":1,"tid":1,"ts":355,"dur":20,"args":{"External id":10}},
{"ph":"X","cat":"user_annotation","name":"Optimizer.step#SGD.step","pid":1,"tid":1,"ts":400,"dur":100,"args":{}},
{"ph":"X","cat":"cpu_op","name":"aten::add_","pid":1,"tid":1,"ts":410,"dur":20,"args":{"External id":11}}
]
})j");
    const std::string node = "autograd::engine::evaluate_function: ";
    EXPECT_EQ(lines(trace),
              "1000+800000 cpu:0 scope epoch 1\n"
              "9000+92000 cpu:0 scope Net forward\n"
              "10000+90000 cpu:0 module Net forward\n"
              "20000+50000 cpu:0 module Net/body/0 forward\n"
              "30000+20000 cpu:0 operation Net/body/0/aten::linear forward\n"
              "110000+20000 cpu:0 operation epoch 1/aten::sum forward\n"
              "200000+100000 cpu:0 operation epoch 1/" +
                  node +
                  "CheckpointFunctionBackward backward\n"
                  "220000+30000 cpu:0 module Net/body/0 recompute\n"
                  "230000+10000 cpu:0 operation Net/body/0/aten::linear recompute\n"
                  "310000+30000 cpu:0 operation Net/body/0/" +
                  node +
                  "AddmmBackward0 backward\n"
                  "350000+30000 cpu:0 operation Net/body/0/" +
                  node +
                  "torch::autograd::AccumulateGrad backward\n"
                  "355000+20000 cpu:0 operation Net/body/0/" +
                  node +
                  "torch::autograd::AccumulateGrad/torch::autograd::AccumulateGrad backward\n"
                  "400000+100000 cpu:0 scope epoch 1/Optimizer.step#SGD.step update\n"
                  "410000+20000 cpu:0 operation epoch 1/Optimizer.step#SGD.step/aten::add_ "
                  "update\n");
    EXPECT_EQ(trace.about.names[trace.events[3].type], "Linear");
}

TEST(Kineto, BeginsAndEndsAreReadToo) {
    const Collected trace = read(R"j({"schemaVersion": 1, "traceEvents": [
{"ph":"B","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":10}, {"ph":"E","pid":1,"tid":1,"ts":15}]})j");
    EXPECT_EQ(lines(trace), "10000+5000 cpu:0 operation aten::add\n");
}

TEST(Chrome, BeginsEndsCountersAndFlowsInAnyOrder) {
    const Collected trace = read(R"j([
{"ph":"E","pid":1,"tid":1,"ts":50},
{"ph":"B","pid":1,"tid":1,"ts":10,"name":"outer","cat":"x"},
{"ph":"B","pid":1,"tid":1,"ts":20,"name":"inner"},
{"ph":"E","pid":1,"tid":1,"ts":30},
{"ph":"s","pid":1,"tid":1,"ts":22,"id":"0x5","name":"f","cat":"flow"},
{"ph":"f","bp":"e","pid":1,"tid":2,"ts":60,"id":"0x5","name":"f","cat":"flow"},
{"ph":"X","pid":1,"tid":2,"ts":"60","dur":"4.5","name":"sink"},
{"ph":"B","pid":1,"tid":3,"ts":70,"name":"open"},
{"ph":"E","pid":1,"tid":4,"ts":71},
{"ph":"C","pid":1,"ts":1.5,"name":"GPU0 power","args":{"W":312.5,"bad":N/A}},
{"ph":"i","pid":1,"tid":1,"ts":99,"name":"mark"},
{"ph":"X","pid":1,"tid":2,"ts":"soon","dur":1,"name":"no time"},
{"ph":"X","pid":1,"tid":2,"ts":80,"dur":-5,"name":"negative"}
])j");
    EXPECT_EQ(trace.about.format, "chrome");
    EXPECT_EQ(lines(trace),
              "1500+0 cpu:0 counter GPU0 power W = 312.5\n"
              "10000+40000 cpu:0 operation outer\n"
              "20000+10000 cpu:0 operation outer/inner\n"
              "60000+4500 cpu:0 operation sink\n"
              "70000+29000 cpu:0 operation open\n"
              "80000+0 cpu:0 operation negative\n"
              "99000+0 cpu:0 marker \n");
    EXPECT_EQ(edges(trace.about), "outer/inner -> sink x1\n");
    std::string warnings;
    for (const Warning& warning : trace.about.warnings)
        warnings += fmt::format("{} x{}\n", warning.what, warning.count);
    EXPECT_EQ(warnings,
              "counter values that are no numbers x1\n"
              "events without a readable time x1\n"
              "negative durations, read as 0 x1\n"
              "ends without a begin, skipped x1\n"
              "begins without an end, closed at the end of the trace x1\n");
    EXPECT_EQ(trace.about.lost_events, 2U);
}

TEST(Bytes, GzipAndZstdAreSeenByContentAlsoInPiecesAndCut) {
    const std::string text = R"j([{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"a"},)j" +
                             std::string(5000, ' ') +
                             R"j({"ph":"X","pid":1,"tid":1,"ts":9,"dur":2,"name":"b"}])j";
    const viridian::tests::TemporaryFolder folder;
    for (const std::string ending : {".gz", ".zst"}) {
        const auto path = folder / ("trace" + ending);
        auto out = open_out(path);
        ASSERT_TRUE((*out)->put(text).ok());
        ASSERT_TRUE((*out)->close().ok());
        EXPECT_EQ(collect(**open(path))->events.size(), 2U);
        std::string packed = read_file(path).value();
        EXPECT_EQ(collect(**open_text(packed, "t"))->events.size(), 2U);
        const std::string cut = packed.substr(0, packed.size() - 9);
        auto source = open_text(cut, "t");
        if (ending == ".zst") {  // one block: nothing of it is left
            EXPECT_EQ(source.error().text(),
                      "nothing of `t` can be read: the zstd stream is cut off. copy it again.");
        } else {
            const auto part = collect(**source);
            ASSERT_EQ(part->about.warnings.size(), 1U);
            EXPECT_EQ(part->about.warnings[0].what, "the gzip stream is cut off");
        }
    }
}

}  // namespace
}  // namespace viridian::trace
