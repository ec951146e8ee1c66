// MobileNetV2: Sandler et al., CVPR 2018. ReLU6 is a Clip, as exports have it.
#include "viridian/zoo/convolutional.hpp"
#include "viridian/zoo/networks.hpp"

namespace viridian::zoo {
namespace {

struct Relu6 {
    graph::ValueId low, high;
};

Features clipped(Convolutional& net, Features x, const std::string& name, const Relu6& bounds) {
    return {net.graph().add(graph::op::Clip, {x.value, bounds.low, bounds.high}, {}, name), x.channels};
}

// Expansion (left out where it would not expand), depth-wise convolution, linear projection, residual.
Features inverted_residual(Convolutional& net, Features x, const std::string& name, std::int64_t expansion,
                           std::int64_t filters, std::int64_t stride, const Relu6& bounds) {
    const std::int64_t wide = x.channels * expansion;
    int part = 0;
    Features y = x;
    if (expansion != 1) {
        y = net.normalized(y, name + ".conv.0.0", name + ".conv.0.1", wide,
                           {.kernel = {1, 1}, .rectified = false});
        y = clipped(net, y, name + ".conv.0.2", bounds);
        part = 1;
    }
    const std::string depthwise = fmt::format("{}.conv.{}", name, part);
    y = net.normalized(y, depthwise + ".0", depthwise + ".1", wide,
                       {.strides = {stride, stride}, .pads = {1, 1}, .group = wide});
    y = clipped(net, y, depthwise + ".2", bounds);
    const bool residual = stride == 1 && x.channels == filters;
    y = net.normalized(y, fmt::format("{}.conv.{}", name, part + 1),
                       fmt::format("{}.conv.{}", name, part + 2), filters, {.kernel = {1, 1}}, 1e-5,
                       residual ? 0.5 : 1);
    return residual ? net.add(x, y, name + ".add") : y;
}

}  // namespace

Result<graph::Graph> mobilenet_v2(const Options& options) {
    struct Stage {
        std::int64_t expansion, filters, repeats, stride;
    };
    constexpr Stage stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    Convolutional net("mobilenet_v2", options);
    const Relu6 bounds = {net.constant("relu6.min", graph::Tensor::scalar(0.0F)),
                          net.constant("relu6.max", graph::Tensor::scalar(6.0F))};
    Features x = net.image(3, 224);
    x = net.normalized(x, "features.0.0", "features.0.1", 32,
                       {.strides = {2, 2}, .pads = {1, 1}, .rectified = false});
    x = clipped(net, x, "features.0.2", bounds);
    int layer = 1;
    for (const Stage& stage : stages)
        for (std::int64_t i = 0; i < stage.repeats; ++i)
            x = inverted_residual(net, x, fmt::format("features.{}", layer++), stage.expansion, stage.filters,
                                  i == 0 ? stage.stride : 1, bounds);
    x = net.normalized(x, "features.18.0", "features.18.1", 1280, {.kernel = {1, 1}, .rectified = false});
    x = clipped(net, x, "features.18.2", bounds);
    x = net.flatten(net.global_average(x, "avgpool"), "flatten", 1280);
    x = net.dropout(x, "classifier.0", 0.2);
    x = net.linear(x, "classifier.1", 1000, false);
    return std::move(net).finish(x);
}

}  // namespace viridian::zoo
