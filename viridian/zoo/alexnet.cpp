// AlexNet as torchvision has it: Krizhevsky, "One weird trick for parallelizing convolutional neural
// networks", 2014. VGG-16: Simonyan and Zisserman, ICLR 2015, configuration D.
#include "viridian/zoo/convolutional.hpp"
#include "viridian/zoo/networks.hpp"

namespace viridian::zoo {

Result<graph::Graph> alexnet(const Options& options) {
    Convolutional net("alexnet", options);
    const PoolShape pool = {.kernel = {3, 3}, .strides = {2, 2}};
    Features x = net.image(3, 224);
    x = net.convolution(x, "features.0", 64,
                        {.kernel = {11, 11}, .strides = {4, 4}, .pads = {2, 2}, .rectified = false});
    x = net.pool("MaxPool", net.relu(x, "features.1"), "features.2", pool);
    x = net.convolution(x, "features.3", 192, {.kernel = {5, 5}, .pads = {2, 2}});
    x = net.pool("MaxPool", net.relu(x, "features.4"), "features.5", pool);
    x = net.relu(net.convolution(x, "features.6", 384, {.pads = {1, 1}}), "features.7");
    x = net.relu(net.convolution(x, "features.8", 256, {.pads = {1, 1}}), "features.9");
    x = net.relu(net.convolution(x, "features.10", 256, {.pads = {1, 1}}), "features.11");
    x = net.pool("MaxPool", x, "features.12", pool);
    // An adaptive pool to the size it already has: exports keep it.
    x = net.pool("AveragePool", x, "avgpool", {.kernel = {1, 1}, .strides = {1, 1}});
    x = net.flatten(x, "flatten", 256 * 6 * 6);
    x = net.dropout(x, "classifier.0", 0.5);
    x = net.relu(net.linear(x, "classifier.1", 4096), "classifier.2");
    x = net.dropout(x, "classifier.3", 0.5);
    x = net.relu(net.linear(x, "classifier.4", 4096), "classifier.5");
    return std::move(net).finish(net.linear(x, "classifier.6", 1000));
}

Result<graph::Graph> vgg16(const Options& options) {
    Convolutional net("vgg16", options);
    Features x = net.image(3, 224);
    int layer = 0;
    for (const int filters : {64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0}) {
        const std::string name = fmt::format("features.{}", layer);
        if (filters == 0) {
            x = net.pool("MaxPool", x, name, {.kernel = {2, 2}, .strides = {2, 2}});
            layer += 1;
        } else {
            x = net.convolution(x, name, filters, {.pads = {1, 1}, .rectified = layer > 0});
            x = net.relu(x, fmt::format("features.{}", layer + 1));
            layer += 2;
        }
    }
    x = net.pool("AveragePool", x, "avgpool", {.kernel = {1, 1}, .strides = {1, 1}});
    x = net.flatten(x, "flatten", 512 * 7 * 7);
    x = net.relu(net.linear(x, "classifier.0", 4096), "classifier.1");
    x = net.dropout(x, "classifier.2", 0.5);
    x = net.relu(net.linear(x, "classifier.3", 4096), "classifier.4");
    x = net.dropout(x, "classifier.5", 0.5);
    return std::move(net).finish(net.linear(x, "classifier.6", 1000));
}

}  // namespace viridian::zoo
