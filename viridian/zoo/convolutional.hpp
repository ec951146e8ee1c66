#pragma once
// Builds convolutional networks layer by layer, with their weights. The builders of single networks use it.
// In all functions `name` is the name of the new node or of its weights, as in the published models.
#include "viridian/zoo/weights.hpp"
#include "viridian/zoo/zoo.hpp"

namespace viridian::zoo {

// A value and its number of channels.
struct Features {
    graph::ValueId value;
    std::int64_t channels;
};

// The attributes of a convolution.
struct ConvolutionShape {
    graph::Dims kernel = {3, 3};
    graph::Dims strides = {1, 1};
    graph::Dims pads = {0, 0};  // equal before and after
    std::int64_t group = 1;     // number of groups of channels
    bool rectified = true;      // its input is the output of a rectifier
};

// The attributes of a pooling layer.
struct PoolShape {
    graph::Dims kernel = {3, 3};
    graph::Dims strides = {2, 2};
    graph::Dims pads = {0, 0};
    bool ceil = false;        // round the output's size up
    bool count_pads = false;  // averages count padding
};

// The network under construction. Every layer returns its output with the number of channels.
class Convolutional {
  public:
    Convolutional(std::string_view name, const Options& options);

    // Adds the network's input, f32 [batch, channels, size, size].
    [[nodiscard]] Features image(std::int64_t channels, std::int64_t size);
    // Add a convolution of `x` to `filters` channels, with and without bias.
    Features convolution(Features x, const std::string& name, std::int64_t filters,
                         const ConvolutionShape& shape);
    Features unbiased(Features x, const std::string& name, std::int64_t filters,
                      const ConvolutionShape& shape);
    // Adds a convolution without bias and a batch normalisation. Both are folded into one convolution unless
    // the options keep them, as the training form does. `scale` is the mean of the learnt scale; it is small
    // for the last layer of a residual branch, so that deep sums stay bounded.
    Features normalized(Features x, const std::string& convolution, const std::string& normalization,
                        std::int64_t filters, const ConvolutionShape& shape, double epsilon = 1e-5,
                        double scale = 1);
    // Adds a transposed convolution without bias.
    Features transposed(Features x, const std::string& name, std::int64_t filters,
                        const ConvolutionShape& shape);
    // Adds a batch normalisation. In the training form it has three outputs: its result, and the new running
    // mean and variance.
    Features batch_normalization(Features x, const std::string& name, double epsilon = 1e-5,
                                 double scale = 1);
    // Adds a dropout of the rate `published` in the training form, and nothing otherwise.
    Features dropout(Features x, const std::string& name, double published);
    Features relu(Features x, const std::string& name);
    // Adds a pooling layer; `op` is the ONNX operator: "MaxPool" or "AveragePool".
    Features pool(const char* op, Features x, const std::string& name, const PoolShape& shape);
    Features global_average(Features x, const std::string& name);
    Features concat(const std::vector<Features>& parts, const std::string& name);
    Features add(Features a, Features b, const std::string& name);
    // Flattens all but the batch; `channels` is the number of values per image.
    Features flatten(Features x, const std::string& name, std::int64_t channels);
    // Adds a fully connected layer (Gemm). `rectified` tells whether `x` is the output of a rectifier.
    Features linear(Features x, const std::string& name, std::int64_t outputs, bool rectified = true);
    // Adds any other operator of one input that keeps the number of channels.
    Features operation(const char* op, Features x, const std::string& name,
                       graph::Attributes attributes = {});
    graph::ValueId constant(const std::string& name, graph::Tensor tensor);
    [[nodiscard]] graph::Graph& graph() { return graph_; }

    // Makes `output` the network's output, infers every type and returns the graph. Errors: those of
    // infer_types.
    Result<graph::Graph> finish(Features output) &&;

  private:
    [[nodiscard]] graph::Tensor kernel(Features x, const std::string& name, std::int64_t filters,
                                       const ConvolutionShape& shape) const;

    Options options_;
    Weights weights_;
    graph::Graph graph_;
};

}  // namespace viridian::zoo
