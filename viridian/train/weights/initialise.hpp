#pragma once
// Draws the first weights of a model. A tensor depends on the seed, its name, its part in the model and its
// shape alone: neither the order of the tensors nor other tensors change it.
#include <optional>
#include <string_view>

#include "viridian/graph/tensor.hpp"

namespace viridian::train {

// A Part says what a parameter does in its layer, which decides how it is drawn.
enum class Part {
    linear,                  // weight [out, in] of a linear layer, as Gemm with transB has it
    matrix,                  // weight [..., in, out] of a product, as MatMul has it
    convolution,             // weight [out, in/groups, kernel...]
    transposed_convolution,  // weight [in, out/groups, kernel...]
    embedding,               // table [entries, features]
    bias,                    // of a linear layer or convolution
    scale,                   // of a normalisation, and a running variance: 1
    shift,                   // of a normalisation, and a running mean: 0
};

// A Drawing is the rule by which weights are drawn.
struct Drawing {
    enum class Kind {
        // What PyTorch's layers do in reset_parameters: weights and biases uniform in ±1/√fan_in (which is
        // kaiming_uniform_ with a = √5), embeddings normal with deviation 1.
        pytorch,
        // He et al., "Delving Deep into Rectifiers", 2015, equation 10: deviation √(2/fan_in); biases 0.
        kaiming_uniform,
        kaiming_normal,
        // Glorot and Bengio, 2010, equation 16: deviation √(2/(fan_in + fan_out)); biases 0.
        xavier_uniform,
        xavier_normal,
        // Deviation `deviation`, as GPT-2 and BERT have it; also embeddings; biases 0.
        normal,
    } kind = Kind::pytorch;
    double deviation = 0.02;
};
// Reads pytorch, kaiming-uniform, kaiming-normal, xavier-uniform, xavier-normal, normal or
// normal:std=NUMBER. Errors: invalid_argument.
[[nodiscard]] Result<Drawing> parse_drawing(std::string_view text);

struct ParameterShape {
    Part part = Part::linear;
    graph::ElementType type = graph::ElementType::f32;
    graph::Dims dims;
    std::int64_t fan_in = 0;  // for a bias: how many inputs each output of its layer has
};

struct Fans {
    std::int64_t in = 0;   // inputs that one output adds up
    std::int64_t out = 0;  // outputs that one input contributes to
};
// Returns the fans of a weight as torch.nn.init counts them; nothing for other parts and for fewer than two
// dimensions.
[[nodiscard]] std::optional<Fans> fans_of(Part part, const graph::Dims& dims);

// Draws one parameter. Errors: unsupported (a type that is not floating), mismatch (a weight with fewer than
// two dimensions), limit_exceeded (too many elements).
[[nodiscard]] Result<graph::Tensor> draw(const Drawing& drawing, std::uint64_t seed, std::string_view name,
                                         const ParameterShape& shape);

}  // namespace viridian::train
