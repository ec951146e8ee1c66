// ResNet-18, ResNet-50 and ResNet-152: He et al., CVPR 2016 (the two deeper ones with torchvision's stride in
// the 3×3 convolution). The small ResNet has one basic block a stage, for digits of 28×28.
#include "viridian/zoo/convolutional.hpp"
#include "viridian/zoo/networks.hpp"

namespace viridian::zoo {
namespace {

constexpr double branch_scale = 0.4;  // of a residual branch's last normalisation

// The identity, or a strided 1×1 convolution where the shape changes.
Features shortcut(Convolutional& net, Features x, const std::string& name, std::int64_t filters,
                  std::int64_t stride) {
    if (stride == 1 && x.channels == filters) return x;
    return net.normalized(x, name + ".downsample.0", name + ".downsample.1", filters,
                          {.kernel = {1, 1}, .strides = {stride, stride}});
}

Features basic(Convolutional& net, Features x, const std::string& name, std::int64_t width,
               std::int64_t stride) {
    Features y = net.normalized(x, name + ".conv1", name + ".bn1", width,
                                {.strides = {stride, stride}, .pads = {1, 1}});
    y = net.relu(y, name + ".relu");
    y = net.normalized(y, name + ".conv2", name + ".bn2", width, {.pads = {1, 1}}, 1e-5, branch_scale);
    y = net.add(y, shortcut(net, x, name, width, stride), name + ".add");
    return net.relu(y, name + ".relu_1");
}

Features bottleneck(Convolutional& net, Features x, const std::string& name, std::int64_t width,
                    std::int64_t stride) {
    Features y = net.normalized(x, name + ".conv1", name + ".bn1", width, {.kernel = {1, 1}});
    y = net.relu(y, name + ".relu");
    y = net.normalized(y, name + ".conv2", name + ".bn2", width,
                       {.strides = {stride, stride}, .pads = {1, 1}});
    y = net.relu(y, name + ".relu_1");
    y = net.normalized(y, name + ".conv3", name + ".bn3", 4 * width, {.kernel = {1, 1}}, 1e-5, branch_scale);
    y = net.add(y, shortcut(net, x, name, 4 * width, stride), name + ".add");
    return net.relu(y, name + ".relu_2");
}

using Block = Features (*)(Convolutional&, Features, const std::string&, std::int64_t, std::int64_t);

Result<graph::Graph> resnet(const char* name, const Options& options, Block block,
                            const std::vector<int>& depths) {
    Convolutional net(name, options);
    Features x = net.image(3, 224);
    x = net.normalized(x, "conv1", "bn1", 64,
                       {.kernel = {7, 7}, .strides = {2, 2}, .pads = {3, 3}, .rectified = false});
    x = net.pool("MaxPool", net.relu(x, "relu"), "maxpool", {.pads = {1, 1}});
    for (std::size_t stage = 0; stage < depths.size(); ++stage)
        for (int i = 0; i < depths[stage]; ++i)
            x = block(net, x, fmt::format("layer{}.{}", stage + 1, i), std::int64_t{64} << stage,
                      stage > 0 && i == 0 ? 2 : 1);
    x = net.flatten(net.global_average(x, "avgpool"), "flatten", x.channels);
    return std::move(net).finish(net.linear(x, "fc", 1000, false));
}

}  // namespace

Result<graph::Graph> resnet18(const Options& options) {
    return resnet("resnet18", options, basic, {2, 2, 2, 2});
}
Result<graph::Graph> resnet50(const Options& options) {
    return resnet("resnet50", options, bottleneck, {3, 4, 6, 3});
}
Result<graph::Graph> resnet152(const Options& options) {
    return resnet("resnet152", options, bottleneck, {3, 8, 36, 3});
}

Result<graph::Graph> small_resnet(const Options& options) {
    Convolutional net("small_resnet", options);
    Features x = net.image(1, 28);
    x = net.normalized(x, "conv1", "bn1", 16, {.pads = {1, 1}, .rectified = false});
    x = net.relu(x, "relu");
    for (int stage = 0; stage < 3; ++stage)
        x = basic(net, x, fmt::format("layer{}.0", stage + 1), std::int64_t{16} << stage, stage > 0 ? 2 : 1);
    x = net.flatten(net.global_average(x, "avgpool"), "flatten", x.channels);
    return std::move(net).finish(net.linear(x, "fc", 10, false));
}

}  // namespace viridian::zoo
