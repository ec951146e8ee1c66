#include "viridian/zoo/zoo.hpp"

#include "viridian/zoo/networks.hpp"

namespace viridian::zoo {
namespace {

struct Listed {
    Network entry;
    Result<graph::Graph> (*build)(const Options&);
};

constexpr Listed list[] = {
    {{"alexnet", "AlexNet, 224x224", "Krizhevsky 2014", 61'100'840}, alexnet},
    {{"vgg16", "VGG-16, 224x224", "Simonyan and Zisserman 2015", 138'357'544}, vgg16},
    {{"squeezenet1_0", "SqueezeNet 1.0, 224x224", "Iandola et al. 2016", 1'248'424}, squeezenet1_0},
    {{"squeezenet1_1", "SqueezeNet 1.1, 224x224", "Iandola et al. 2016", 1'235'496}, squeezenet1_1},
    {{"resnet18", "ResNet-18, 224x224", "He et al. 2016", 11'689'512}, resnet18},
    {{"resnet50", "ResNet-50, 224x224", "He et al. 2016", 25'557'032}, resnet50},
    {{"resnet152", "ResNet-152, 224x224", "He et al. 2016", 60'192'808}, resnet152},
    {{"inception_v3", "Inception v3, 299x299", "Szegedy et al. 2016", 23'834'568}, inception_v3},
    {{"mobilenet_v2", "MobileNetV2, 224x224", "Sandler et al. 2018", 3'504'872}, mobilenet_v2},
    {{"dcgan_generator", "DCGAN generator, 64x64", "Radford et al. 2016", 3'576'704}, dcgan_generator},
    {{"dcgan_discriminator", "DCGAN discriminator, 64x64", "Radford et al. 2016", 2'765'568},
     dcgan_discriminator},
    {{"bert_base", "BERT base, 12 layers of 768", "Devlin et al. 2019", 109'482'240, true}, bert_base},
    {{"bert_large", "BERT large, 24 layers of 1024", "Devlin et al. 2019", 335'141'888, true}, bert_large},
    {{"albert_base", "ALBERT base, 12 layers of 768", "Lan et al. 2020", 11'683'584, true}, albert_base},
    {{"gpt2", "GPT-2, 12 layers of 768", "Radford et al. 2019", 124'439'808, true}, gpt2},
    {{"gpt2_medium", "GPT-2 medium, 24 layers of 1024", "Radford et al. 2019", 354'823'168, true},
     gpt2_medium},
    {{"encoder_layer", "BERT-large encoder layer", "Ivanov et al. 2021", 12'596'224, true}, encoder_layer},
    {{"mha", "BERT-large multi-head attention", "Ivanov et al. 2021", 4'198'400, true, true}, mha},
    {{"decoder_attention", "self-attention, causal mask", "Ivanov et al. 2021", 4'198'400, true, true},
     decoder_attention},
    {{"mlp", "three linear maps, 28x28", "LeCun et al. 1998", 235'146}, mlp},
    {{"small_cnn", "two convolutions, 28x28", "LeCun et al. 1998", 20'538}, small_cnn},
    {{"small_resnet", "ResNet of three blocks, 28x28", "He et al. 2016", 77'754}, small_resnet},
    {{"small_transformer", "two blocks of GPT-2, bytes", "Radford et al. 2019", 445'952, true},
     small_transformer},
};

Result<void> check_training(const Options& options) {
    if (!options.dropout) return {};
    if (!options.training)
        return fail(ErrorCode::invalid_argument, "ask for the training form too, or leave out the dropout",
                    "only the training form has dropout");
    if (!(*options.dropout >= 0 && *options.dropout < 1))
        return fail(ErrorCode::invalid_argument, "give a rate from 0 to below 1", "a dropout of {}",
                    *options.dropout);
    return {};
}

// Options of transformers are not for other networks, and those of attention only for networks that ask.
Result<void> check_transformer(const Network& entry, const Options& options) {
    const bool shaped =
        options.sequence != 0 || options.layers != 0 || options.hidden != 0 || options.heads != 0;
    if (!entry.transformer && shaped)
        return fail(ErrorCode::invalid_argument, "leave out sequence, layers, hidden and heads",
                    "`{}` is not a transformer", entry.name);
    if (entry.single_layer && options.layers != 0)
        return fail(ErrorCode::invalid_argument, "leave out layers", "`{}` is a single layer", entry.name);
    const bool attention = entry.name == "mha";
    if (!attention && (options.attention || options.keys != 0))
        return fail(ErrorCode::invalid_argument, "choose `mha`, or leave out attention and keys",
                    "`{}` has one kind of attention", entry.name);
    if (options.keys < 0 || options.keys > 16384)
        return fail(ErrorCode::invalid_argument, "give 1 to 16384 keys", "{} keys", options.keys);
    if (options.mask && !attention && entry.name != "encoder_layer")
        return fail(ErrorCode::invalid_argument, "choose `mha` or `encoder_layer`, or leave out the mask",
                    "`{}` has one kind of mask", entry.name);
    return {};
}

}  // namespace

std::vector<Network> networks() {
    std::vector<Network> all;
    for (const Listed& listed : list) all.push_back(listed.entry);
    return all;
}

std::vector<std::string_view> names() {
    std::vector<std::string_view> all;
    for (const Listed& listed : list) all.push_back(listed.entry.name);
    return all;
}

Result<graph::Graph> build(std::string_view name, const Options& options) {
    if (options.batch < 1 || options.batch > 65536)
        return fail(ErrorCode::invalid_argument, "give a batch of 1 to 65536", "a batch of {}",
                    options.batch);
    for (const Listed& listed : list) {
        if (listed.entry.name != name) continue;
        VIRIDIAN_TRY(check_training(options));
        VIRIDIAN_TRY(check_transformer(listed.entry, options));
        return listed.build(options);
    }
    return fail(ErrorCode::missing_entry, fmt::format("choose one of {}", fmt::join(names(), ", ")),
                "no network is called `{}`", name);
}

}  // namespace viridian::zoo
