#pragma once
// Declares one builder per network. Errors of each: invalid_argument for options out of range. `zoo.cpp`
// lists them.
#include "viridian/zoo/zoo.hpp"

namespace viridian::zoo {

Result<graph::Graph> alexnet(const Options& options);
Result<graph::Graph> vgg16(const Options& options);
Result<graph::Graph> squeezenet1_0(const Options& options);
Result<graph::Graph> squeezenet1_1(const Options& options);
Result<graph::Graph> resnet18(const Options& options);
Result<graph::Graph> resnet50(const Options& options);
Result<graph::Graph> resnet152(const Options& options);
Result<graph::Graph> inception_v3(const Options& options);
Result<graph::Graph> mobilenet_v2(const Options& options);
Result<graph::Graph> dcgan_generator(const Options& options);
Result<graph::Graph> dcgan_discriminator(const Options& options);
Result<graph::Graph> bert_base(const Options& options);
Result<graph::Graph> bert_large(const Options& options);
Result<graph::Graph> albert_base(const Options& options);
Result<graph::Graph> gpt2(const Options& options);
Result<graph::Graph> gpt2_medium(const Options& options);
Result<graph::Graph> encoder_layer(const Options& options);
Result<graph::Graph> mha(const Options& options);
Result<graph::Graph> decoder_attention(const Options& options);
Result<graph::Graph> mlp(const Options& options);
Result<graph::Graph> small_cnn(const Options& options);
Result<graph::Graph> small_resnet(const Options& options);
Result<graph::Graph> small_transformer(const Options& options);

}  // namespace viridian::zoo
