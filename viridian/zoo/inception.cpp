// Inception v3: Szegedy et al., CVPR 2016, as torchvision has it; the auxiliary classifier is left out, as in
// every export for inference, also in the training form.
#include "viridian/zoo/convolutional.hpp"
#include "viridian/zoo/networks.hpp"

namespace viridian::zoo {
namespace {

class Inception {
  public:
    explicit Inception(const Options& options) : net("inception_v3", options) {}

    // Convolution, batch normalisation, ReLU.
    Features basic(Features x, const std::string& name, std::int64_t filters, const ConvolutionShape& shape) {
        const Features y = net.normalized(x, name + ".conv", name + ".bn", filters, shape, 1e-3);
        return net.relu(y, name + ".relu");
    }
    Features one(Features x, const std::string& name, std::int64_t filters) {
        return basic(x, name, filters, {.kernel = {1, 1}});
    }
    Features average(Features x, const std::string& name) {
        return net.pool("AveragePool", x, name,
                        {.kernel = {3, 3}, .strides = {1, 1}, .pads = {1, 1}, .count_pads = true});
    }

    Features a(Features x, const std::string& name, std::int64_t pooled) {
        const Features b1 = one(x, name + ".branch1x1", 64);
        Features b5 = one(x, name + ".branch5x5_1", 48);
        b5 = basic(b5, name + ".branch5x5_2", 64, {.kernel = {5, 5}, .pads = {2, 2}});
        Features b3 = one(x, name + ".branch3x3dbl_1", 64);
        b3 = basic(b3, name + ".branch3x3dbl_2", 96, {.pads = {1, 1}});
        b3 = basic(b3, name + ".branch3x3dbl_3", 96, {.pads = {1, 1}});
        const Features pool = one(average(x, name + ".avg_pool"), name + ".branch_pool", pooled);
        return net.concat({b1, b5, b3, pool}, name + ".concat");
    }
    Features b(Features x, const std::string& name) {
        const Features b3 = basic(x, name + ".branch3x3", 384, {.strides = {2, 2}});
        Features dbl = one(x, name + ".branch3x3dbl_1", 64);
        dbl = basic(dbl, name + ".branch3x3dbl_2", 96, {.pads = {1, 1}});
        dbl = basic(dbl, name + ".branch3x3dbl_3", 96, {.strides = {2, 2}});
        return net.concat({b3, dbl, net.pool("MaxPool", x, name + ".max_pool", {})}, name + ".concat");
    }
    Features c(Features x, const std::string& name, std::int64_t width) {
        const ConvolutionShape row = {.kernel = {1, 7}, .pads = {0, 3}};
        const ConvolutionShape column = {.kernel = {7, 1}, .pads = {3, 0}};
        const Features b1 = one(x, name + ".branch1x1", 192);
        Features b7 = one(x, name + ".branch7x7_1", width);
        b7 = basic(b7, name + ".branch7x7_2", width, row);
        b7 = basic(b7, name + ".branch7x7_3", 192, column);
        Features dbl = one(x, name + ".branch7x7dbl_1", width);
        dbl = basic(dbl, name + ".branch7x7dbl_2", width, column);
        dbl = basic(dbl, name + ".branch7x7dbl_3", width, row);
        dbl = basic(dbl, name + ".branch7x7dbl_4", width, column);
        dbl = basic(dbl, name + ".branch7x7dbl_5", 192, row);
        const Features pool = one(average(x, name + ".avg_pool"), name + ".branch_pool", 192);
        return net.concat({b1, b7, dbl, pool}, name + ".concat");
    }
    Features d(Features x, const std::string& name) {
        Features b3 = one(x, name + ".branch3x3_1", 192);
        b3 = basic(b3, name + ".branch3x3_2", 320, {.strides = {2, 2}});
        Features b7 = one(x, name + ".branch7x7x3_1", 192);
        b7 = basic(b7, name + ".branch7x7x3_2", 192, {.kernel = {1, 7}, .pads = {0, 3}});
        b7 = basic(b7, name + ".branch7x7x3_3", 192, {.kernel = {7, 1}, .pads = {3, 0}});
        b7 = basic(b7, name + ".branch7x7x3_4", 192, {.strides = {2, 2}});
        return net.concat({b3, b7, net.pool("MaxPool", x, name + ".max_pool", {})}, name + ".concat");
    }
    Features e(Features x, const std::string& name) {
        const ConvolutionShape row = {.kernel = {1, 3}, .pads = {0, 1}};
        const ConvolutionShape column = {.kernel = {3, 1}, .pads = {1, 0}};
        const Features b1 = one(x, name + ".branch1x1", 320);
        Features b3 = one(x, name + ".branch3x3_1", 384);
        b3 = net.concat(
            {basic(b3, name + ".branch3x3_2a", 384, row), basic(b3, name + ".branch3x3_2b", 384, column)},
            name + ".concat");
        Features dbl = one(x, name + ".branch3x3dbl_1", 448);
        dbl = basic(dbl, name + ".branch3x3dbl_2", 384, {.pads = {1, 1}});
        dbl = net.concat({basic(dbl, name + ".branch3x3dbl_3a", 384, row),
                          basic(dbl, name + ".branch3x3dbl_3b", 384, column)},
                         name + ".concat_1");
        const Features pool = one(average(x, name + ".avg_pool"), name + ".branch_pool", 192);
        return net.concat({b1, b3, dbl, pool}, name + ".concat_2");
    }

    Convolutional net;
};

}  // namespace

Result<graph::Graph> inception_v3(const Options& options) {
    Inception net(options);
    Features x = net.net.image(3, 299);
    x = net.basic(x, "Conv2d_1a_3x3", 32, {.strides = {2, 2}, .rectified = false});
    x = net.basic(x, "Conv2d_2a_3x3", 32, {});
    x = net.basic(x, "Conv2d_2b_3x3", 64, {.pads = {1, 1}});
    x = net.net.pool("MaxPool", x, "maxpool1", {});
    x = net.one(x, "Conv2d_3b_1x1", 80);
    x = net.basic(x, "Conv2d_4a_3x3", 192, {});
    x = net.net.pool("MaxPool", x, "maxpool2", {});
    x = net.a(x, "Mixed_5b", 32);
    x = net.a(x, "Mixed_5c", 64);
    x = net.a(x, "Mixed_5d", 64);
    x = net.b(x, "Mixed_6a");
    x = net.c(x, "Mixed_6b", 128);
    x = net.c(x, "Mixed_6c", 160);
    x = net.c(x, "Mixed_6d", 160);
    x = net.c(x, "Mixed_6e", 192);
    x = net.d(x, "Mixed_7a");
    x = net.e(x, "Mixed_7b");
    x = net.e(x, "Mixed_7c");
    x = net.net.dropout(net.net.global_average(x, "avgpool"), "dropout", 0.5);
    x = net.net.flatten(x, "flatten", 2048);
    return std::move(net.net).finish(net.net.linear(x, "fc", 1000, false));
}

}  // namespace viridian::zoo
