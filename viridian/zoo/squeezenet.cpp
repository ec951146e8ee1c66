// SqueezeNet 1.0 and 1.1: Iandola et al., 2016, arXiv:1602.07360, and its repository's later version.
#include <algorithm>

#include "viridian/zoo/convolutional.hpp"
#include "viridian/zoo/networks.hpp"

namespace viridian::zoo {
namespace {

const PoolShape pool = {.kernel = {3, 3}, .strides = {2, 2}, .ceil = true};

// A 1×1 squeeze, then 1×1 and 3×3 expansions side by side.
Features fire(Convolutional& net, Features x, int layer, std::int64_t squeeze, std::int64_t expand) {
    const std::string name = fmt::format("features.{}", layer);
    x = net.convolution(x, name + ".squeeze", squeeze, {.kernel = {1, 1}});
    x = net.relu(x, name + ".squeeze_activation");
    const Features one = net.relu(net.convolution(x, name + ".expand1x1", expand, {.kernel = {1, 1}}),
                                  name + ".expand1x1_activation");
    const Features three = net.relu(net.convolution(x, name + ".expand3x3", expand, {.pads = {1, 1}}),
                                    name + ".expand3x3_activation");
    return net.concat({one, three}, name + ".concat");
}

Result<graph::Graph> squeezenet(const char* name, const Options& options, bool later) {
    Convolutional net(name, options);
    const std::vector<int> pools = later ? std::vector{2, 5, 8} : std::vector{2, 6, 11};
    const std::vector<std::pair<int, int>> fires = {{16, 64},  {16, 64},  {32, 128}, {32, 128},
                                                    {48, 192}, {48, 192}, {64, 256}, {64, 256}};
    const std::int64_t stem = later ? 3 : 7;
    Features x = net.image(3, 224);
    x = net.convolution(x, "features.0", later ? 64 : 96,
                        {.kernel = {stem, stem}, .strides = {2, 2}, .rectified = false});
    x = net.relu(x, "features.1");
    int layer = 2;
    for (const auto& [squeeze, expand] : fires) {
        while (std::find(pools.begin(), pools.end(), layer) != pools.end())
            x = net.pool("MaxPool", x, fmt::format("features.{}", layer++), pool);
        x = fire(net, x, layer++, squeeze, expand);
    }
    x = net.dropout(x, "classifier.0", 0.5);
    x = net.relu(net.convolution(x, "classifier.1", 1000, {.kernel = {1, 1}}), "classifier.2");
    x = net.global_average(x, "classifier.3");
    return std::move(net).finish(net.flatten(x, "flatten", 1000));
}

}  // namespace

Result<graph::Graph> squeezenet1_0(const Options& options) {
    return squeezenet("squeezenet1_0", options, false);
}
Result<graph::Graph> squeezenet1_1(const Options& options) {
    return squeezenet("squeezenet1_1", options, true);
}

}  // namespace viridian::zoo
