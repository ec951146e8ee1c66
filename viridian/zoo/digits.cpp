// Small networks for images of digits, 28×28, that train in a minute: three linear maps, and two convolutions
// with batch normalisation. LeCun et al., Proc. IEEE 1998, began both kinds on these images.
#include "viridian/zoo/convolutional.hpp"
#include "viridian/zoo/networks.hpp"

namespace viridian::zoo {

Result<graph::Graph> mlp(const Options& options) {
    Convolutional net("mlp", options);
    Features x = net.image(1, 28);
    x = net.flatten(x, "flatten", 28 * 28);
    x = net.relu(net.linear(x, "fc1", 256, false), "relu1");
    x = net.relu(net.linear(x, "fc2", 128), "relu2");
    return std::move(net).finish(net.linear(x, "fc3", 10));
}

Result<graph::Graph> small_cnn(const Options& options) {
    Convolutional net("small_cnn", options);
    const PoolShape half = {.kernel = {2, 2}, .strides = {2, 2}};
    Features x = net.image(1, 28);
    x = net.normalized(x, "conv1", "bn1", 16, {.pads = {1, 1}, .rectified = false});
    x = net.pool("MaxPool", net.relu(x, "relu1"), "pool1", half);
    x = net.normalized(x, "conv2", "bn2", 32, {.pads = {1, 1}});
    x = net.pool("MaxPool", net.relu(x, "relu2"), "pool2", half);
    x = net.flatten(x, "flatten", 32 * 7 * 7);
    x = net.dropout(x, "dropout", 0.5);
    return std::move(net).finish(net.linear(x, "fc", 10));
}

}  // namespace viridian::zoo
