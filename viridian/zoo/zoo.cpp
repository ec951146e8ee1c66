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
};

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
        if (!listed.entry.transformer &&
            (options.sequence != 0 || options.layers != 0 || options.hidden != 0))
            return fail(ErrorCode::invalid_argument, "leave out sequence, layers and hidden",
                        "`{}` is not a transformer", name);
        return listed.build(options);
    }
    return fail(ErrorCode::missing_entry, fmt::format("choose one of {}", fmt::join(names(), ", ")),
                "no network is called `{}`", name);
}

}  // namespace viridian::zoo
