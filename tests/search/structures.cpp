#include "structures.hpp"

#include <algorithm>

namespace viridian::search::tests {
namespace {

using graph::NodeId;
using graph::ValueId;

class Maker {
  public:
    explicit Maker(std::uint64_t seed) : random_(seed) {}

    ValueId input(const char* name) { return net_.graph.add_input(name, type_); }
    ValueId layer(std::vector<ValueId> inputs) {
        const ValueId out = net_.graph.add("Sum", std::move(inputs));
        net_.graph.set_type(out, type_);
        return out;
    }
    ValueId chain(ValueId v, int length) {
        for (int i = 0; i < length; ++i) v = layer({v});
        return v;
    }

    Network finish(std::vector<ValueId> outputs, const Kernels& kernels) {
        net_.graph.set_outputs(std::move(outputs));
        const plan::Format all[] = {
            {plan::plain(4), graph::ElementType::f32, {}},
            {plan::channels_last(4), graph::ElementType::f32, {}},
            {plan::channels_blocked(4, 16), graph::ElementType::f32, {}},
            {plan::channels_blocked(4, 8), graph::ElementType::f32, {}},
            {plan::channels_last(4), graph::ElementType::bf16, {}},
        };
        net_.formats.assign(std::begin(all), std::begin(all) + static_cast<std::ptrdiff_t>(kernels.formats));
        const graph::Uses uses = graph::uses(net_.graph);
        for (const NodeId id : net_.graph.nodes()) {
            std::vector<NodeId> nodes = {id};
            add_region(uses, nodes, kernels);
            while (nodes.size() < kernels.longest_chain) {
                const ValueId out = net_.graph.node(nodes.back()).outputs[0];
                const auto readers = uses.readers(out);
                if (uses.outputs(out) > 0 || readers.size() != 1) break;
                nodes.push_back(readers[0]);
                add_region(uses, nodes, kernels);
            }
        }
        for (const plan::Format& from : net_.formats)
            for (const plan::Format& to : net_.formats)
                if (from != to)
                    net_.conversions[{text(from), text(to)}] =
                        price(random_.uniform(0.05, 0.4), random_.uniform(0.05, 0.4));
        return std::move(net_);
    }

  private:
    void add_region(const graph::Uses& uses, const std::vector<NodeId>& nodes, const Kernels& kernels) {
        net_.regions.push_back(plan::make_region(net_.graph, uses, nodes));
        const plan::Region& region = net_.regions.back();
        for (std::size_t k = 0; k < kernels.per_region; ++k) {
            // Most kernels keep one layout; some read or write another.
            const auto home = random_.below(net_.formats.size());
            const auto format = [&] {
                return net_.formats[random_.chance(0.8) ? home : random_.below(net_.formats.size())];
            };
            cost::PricedChoice priced;
            priced.choice.kernel = fmt::format("k{}", k);
            for (std::size_t i = 0; i < region.inputs.size(); ++i) priced.choice.inputs.push_back(format());
            for (std::size_t i = 0; i < region.outputs.size(); ++i) priced.choice.outputs.push_back(format());
            const double work = 0.3 + 0.7 * static_cast<double>(nodes.size());
            // Slower kernels may be leaner (EAGO, Table 1).
            priced.price = price(random_.uniform(0.5, 1) * work, random_.uniform(0.5, 1) * work);
            net_.choices[nodes].push_back(std::move(priced));
        }
    }

    Random random_;
    Network net_;
    graph::TensorType type_{graph::ElementType::f32, graph::shape_of({1, 16, 8, 8})};
};

}  // namespace

Network resnet_like(std::size_t blocks, const Kernels& kernels, std::uint64_t seed) {
    Maker make(seed);
    ValueId x = make.chain(make.input("x"), 3);
    for (std::size_t b = 0; b < blocks; ++b) {
        const ValueId shortcut = b % 4 == 0 ? make.layer({x}) : x;
        x = make.chain(make.layer({make.chain(x, 5), shortcut}), 1);
    }
    return make.finish({make.chain(x, 2)}, kernels);
}

Network inception_like(std::size_t modules, const Kernels& kernels, std::uint64_t seed) {
    Maker make(seed);
    ValueId x = make.chain(make.input("x"), 6);
    for (std::size_t m = 0; m < modules; ++m) {
        std::vector<ValueId> branches = {make.chain(x, 2), make.chain(x, 4), make.chain(x, 6),
                                         make.chain(x, 3)};
        if (m % 3 == 2) {  // a branch that splits again
            branches.push_back(make.chain(branches[1], 2));
            branches[1] = make.chain(branches[1], 2);
        }
        x = make.layer(branches);
    }
    return make.finish({make.chain(x, 2)}, kernels);
}

Network transformer_like(std::size_t layers, bool backward, const Kernels& kernels, std::uint64_t seed) {
    Maker make(seed);
    ValueId x = make.input("x");
    const ValueId mask = make.layer({make.input("mask")});
    struct Step {
        std::vector<ValueId> inputs;
        ValueId output;
    };
    std::vector<Step> tape;
    const auto layer = [&](std::vector<ValueId> inputs) {
        const ValueId out = make.layer(inputs);
        tape.push_back({std::move(inputs), out});
        return out;
    };
    for (std::size_t l = 0; l < layers; ++l) {
        const ValueId q = layer({x}), k = layer({x}), v = layer({x});
        const ValueId probabilities = layer({layer({layer({q, k}), mask})});
        const ValueId context = layer({layer({probabilities, v})});
        const ValueId middle = layer({layer({context, x})});
        const ValueId hidden = layer({layer({layer({middle})})});
        x = layer({layer({hidden, middle})});
    }
    std::vector<ValueId> outputs = {x};
    if (backward) {
        // One gradient node per input: it reads the gradient of the output and the inputs of the forward
        // node.
        std::map<ValueId, ValueId> gradient = {{x, make.layer({x})}};
        for (auto step = tape.rbegin(); step != tape.rend(); ++step) {
            const ValueId above = gradient.at(step->output);
            for (const ValueId input : step->inputs) {
                if (input == mask) continue;
                std::vector<ValueId> reads = {above};
                if (step->inputs.size() > 1)
                    for (const ValueId other : step->inputs)
                        if (other != input && other != mask) reads.push_back(other);
                if (step->inputs.size() == 1) reads.push_back(input);
                const ValueId share = make.layer(reads);
                const auto [at, fresh] = gradient.try_emplace(input, share);
                if (!fresh) at->second = make.layer({at->second, share});
            }
            // The weight's gradient, an output of the step.
            if (step->inputs.size() == 1) outputs.push_back(make.layer({above, step->inputs[0]}));
        }
    }
    return make.finish(outputs, kernels);
}

Network dense_block(std::size_t layers, const Kernels& kernels, std::uint64_t seed) {
    Maker make(seed);
    std::vector<ValueId> values = {make.layer({make.input("x")})};
    for (std::size_t l = 0; l < layers; ++l) values.push_back(make.chain(make.layer(values), 2));
    return make.finish({make.layer({make.layer(values)})}, kernels);
}

}  // namespace viridian::search::tests
