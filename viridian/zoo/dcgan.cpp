// DCGAN: Radford, Metz, Chintala, ICLR 2016, in the shapes of PyTorch's example (64×64 images). Exports fold
// no batch normalisation into transposed convolutions, so the generator always keeps it.
#include "viridian/zoo/convolutional.hpp"
#include "viridian/zoo/networks.hpp"

namespace viridian::zoo {

Result<graph::Graph> dcgan_generator(const Options& options) {
    Convolutional net("dcgan_generator", options);
    Features x = net.image(100, 1);
    ConvolutionShape shape = {.kernel = {4, 4}, .rectified = false};
    int layer = 0;
    for (const std::int64_t filters : {512, 256, 128, 64}) {
        x = net.transposed(x, fmt::format("main.{}", layer), filters, shape);
        x = net.batch_normalization(x, fmt::format("main.{}", layer + 1));
        x = net.relu(x, fmt::format("main.{}", layer + 2));
        layer += 3;
        shape = {.kernel = {4, 4}, .strides = {2, 2}, .pads = {1, 1}};
    }
    x = net.transposed(x, "main.12", 3, shape);
    x = net.operation("Tanh", x, "main.13");
    return std::move(net).finish(x);
}

Result<graph::Graph> dcgan_discriminator(const Options& options) {
    Convolutional net("dcgan_discriminator", options);
    const ConvolutionShape shape = {.kernel = {4, 4}, .strides = {2, 2}, .pads = {1, 1}};
    const auto leaky = [&](Features x, const char* name) {
        return net.operation("LeakyRelu", x, name, {{"alpha", 0.2}});
    };
    Features x = net.image(3, 64);
    ConvolutionShape first = shape;
    first.rectified = false;
    x = leaky(net.unbiased(x, "main.0", 64, first), "main.1");
    x = leaky(net.normalized(x, "main.2", "main.3", 128, shape), "main.4");
    x = leaky(net.normalized(x, "main.5", "main.6", 256, shape), "main.7");
    x = leaky(net.normalized(x, "main.8", "main.9", 512, shape), "main.10");
    x = net.unbiased(x, "main.11", 1, {.kernel = {4, 4}});
    x = net.operation("Sigmoid", x, "main.12");
    const graph::ValueId column =
        net.constant("view.shape", graph::Tensor::i64({2}, std::vector<std::int64_t>{-1, 1}));
    const graph::ValueId axis =
        net.constant("squeeze.axes", graph::Tensor::i64({1}, std::vector<std::int64_t>{1}));
    x.value = net.graph().add(graph::op::Reshape, {x.value, column}, {}, "view");
    x.value = net.graph().add(graph::op::Squeeze, {x.value, axis}, {}, "squeeze");
    return std::move(net).finish(x);
}

}  // namespace viridian::zoo
