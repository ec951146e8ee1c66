// RNN, GRU and LSTM with constant weights: the input's part of all gates of all steps as one product, then
// step by step the hidden state's part and the cell's functions. Gates lie [block of 16 units][gate][16], so
// that a thread owns units with all their gates; hidden states lie [block][example][16], as the micro-kernel
// reads them. Directions run on threads of their own; `shared` gives each several threads.
#include <algorithm>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/rows/recurrent_layer.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Node;
using graph::Tensor;
using graph::ValueId;
using recurrent::Layer;
using recurrent::layer_of;
using recurrent::Operand;
using simd::block;
using simd::Cell;

constexpr std::string_view recurrent_family_name = "simd:recurrent";
constexpr std::int64_t recurrent_slice = 112;  // rows multiplied at once

const float* read(const Pointers& pointers, const Operand& place) {
    if (place.from == Operand::From::nowhere) return nullptr;
    return reinterpret_cast<const float*>(place.from == Operand::From::constant
                                              ? pointers.constants[place.index]
                                              : pointers.inputs[place.index]);
}

float* written(const Pointers& pointers, const Operand& place) {
    return place.from == Operand::From::nowhere ? nullptr
                                                : reinterpret_cast<float*>(pointers.outputs[place.index]);
}

// Kernel::constants hold these for each direction, in this order; reset_weights are of gru_before alone.
struct RecurrentWeights {
    const float *input, *input_bias, *hidden, *hidden_bias, *reset;
    static constexpr std::size_t count = 5;
    RecurrentWeights(const Pointers& pointers, std::int64_t direction) {
        const std::byte* const* at = pointers.constants + static_cast<std::size_t>(direction) * count;
        const auto floats = [&](std::size_t i) { return reinterpret_cast<const float*>(at[i]); };
        input = floats(0), input_bias = floats(1), hidden = floats(2), hidden_bias = floats(3);
        reset = floats(4);
    }
};

// Groups [group, end) of rows × weights: `source` in blocks of `source_rows` rows.
void multiply(const simd::Groups& groups, std::int64_t group, std::int64_t end, const float* source,
              std::int64_t source_rows, std::int64_t rows, std::int64_t channels, const float* weights,
              const float* bias, float* result) {
    constexpr std::int64_t no_offset = 0;
    for (std::int64_t g = group; g < end; ++g) {
        const std::int64_t column = g * groups.columns * block;
        simd::Strip s;
        s.pixels = rows;
        s.columns = groups.width(g);
        s.source = source;
        s.source_block = source_rows * block;
        s.taps = &no_offset;
        s.channels = channels;
        s.weights = weights + groups.offset(g, channels * block);
        s.bias = bias == nullptr ? nullptr : bias + column;
        s.result = result + column;
        s.result_pixel = groups.channels;
        s.result_block = block;
        simd::run(s);
    }
}

// A direction's own memory, and the units a thread of it owns.
struct Direction {
    const Layer& layer;
    std::int64_t index;
    const float* from_input;  // [row][unit block][gate][16]
    float* from_hidden;       // [example][…]; gru_before: z and r, then the candidate
    float *before, *after, *state, *reset;
    std::int64_t first, last;  // unit blocks

    Direction(const Layer& of, std::int64_t direction, std::int64_t member, std::int64_t members,
              float* workspace)
        : layer(of), index(direction) {
        from_input = workspace + of.source_floats() + direction * of.rows() * of.wide();
        from_hidden = workspace + of.source_floats() + of.directions * of.rows() * of.wide() +
                      direction * of.own_floats();
        before = from_hidden + of.batch * of.wide();
        after = before + of.state_floats();
        state = after + of.state_floats();
        reset = state + of.state_floats();
        // Two blocks of units at a time: their gates are whole groups of columns.
        const auto [from, to] = member < members ? share((of.units() + 1) / 2, member, members)
                                                 : std::pair<std::int64_t, std::int64_t>{0, 0};
        first = std::min(of.units(), 2 * from), last = std::min(of.units(), 2 * to);
    }

    // `to` from rows of a state tensor, or zeroes.
    void load(const float* given, float* to) const {
        std::fill_n(to, layer.state_floats(), 0.0F);
        if (given == nullptr) return;
        for (std::int64_t b = 0; b < layer.batch; ++b) {
            const float* row = given + layer.state_row(index, b) * layer.hidden;
            for (std::int64_t u = 0; u < layer.units(); ++u)
                std::copy_n(row + u * block, std::min(block, layer.hidden - u * block),
                            to + (u * layer.batch + b) * block);
        }
    }

    // The units of example `b` from [block][example][16] to a row of `hidden`.
    void store(const float* from, float* to, std::int64_t b) const {
        for (std::int64_t u = first; u < last; ++u)
            std::copy_n(from + (u * layer.batch + b) * block, std::min(block, layer.hidden - u * block),
                        to + u * block);
    }

    void product(std::int64_t gates, const float* source, const float* weights, const float* bias,
                 float* result) const {
        const simd::Groups groups = layer.groups(gates);
        const std::int64_t columns = groups.columns;
        multiply(groups, first * gates / columns, (last * gates + columns - 1) / columns, source, layer.batch,
                 layer.batch, layer.hidden, weights, bias, result);
    }

    [[nodiscard]] simd::CellStep cell(std::int64_t t, std::int64_t b) const {
        const std::int64_t gates = layer.gates();
        const std::int64_t own = layer.cell == Cell::gru_before ? 2 : gates;
        simd::CellStep s;
        s.blocks = last - first;
        s.from_input = from_input + layer.row(t, b) * layer.wide() + first * gates * block;
        s.from_hidden = from_hidden + b * layer.units() * own * block + first * own * block;
        s.from_reset = from_hidden + (layer.batch * layer.units() * 2 + b * layer.units() + first) * block;
        s.before = before + (first * layer.batch + b) * block;
        s.hidden = after + (first * layer.batch + b) * block;
        s.state = state + (b * layer.units() + first) * block;
        s.hidden_block = layer.batch * block;
        return s;
    }

    template <class Wait>
    void run(const Pointers& pointers, const Wait& wait) {
        const RecurrentWeights weights(pointers, index);
        float* y = written(pointers, layer.results[0]);
        const bool reverse = index == 1 || layer.reverse;
        for (std::int64_t n = 0; n < layer.steps; ++n) {
            const std::int64_t t = reverse ? layer.steps - 1 - n : n;
            const bool resets = layer.cell == Cell::gru_before;
            product(resets ? 2 : layer.gates(), before, weights.hidden, weights.hidden_bias, from_hidden);
            if (resets) {
                for (std::int64_t b = 0; b < layer.batch; ++b) {
                    simd::CellStep s = cell(t, b);
                    s.hidden = reset + (first * layer.batch + b) * block;
                    simd::reset(s);
                }
                wait();
                product(1, reset, weights.reset, nullptr,
                        from_hidden + layer.batch * layer.units() * 2 * block);
            }
            for (std::int64_t b = 0; b < layer.batch; ++b) {
                simd::step(layer.cell, cell(t, b));
                if (y != nullptr) store(after, y + layer.result_row(t, index, b) * layer.hidden, b);
            }
            std::swap(before, after);
            wait();
        }
        for (std::int64_t b = 0; b < layer.batch; ++b) {
            const std::int64_t row = layer.state_row(index, b) * layer.hidden;
            if (float* h = written(pointers, layer.results[1])) store(before, h + row, b);
            if (float* c = written(pointers, layer.results[2]))
                for (std::int64_t u = first; u < last; ++u)
                    std::copy_n(state + (b * layer.units() + u) * block,
                                std::min(block, layer.hidden - u * block), c + row + u * block);
        }
    }
};

// The cell's state lies [example][unit], unlike the hidden one.
void load_state(const Layer& layer, std::int64_t direction, const float* given, float* to) {
    std::fill_n(to, layer.state_floats(), 0.0F);
    if (given == nullptr) return;
    for (std::int64_t b = 0; b < layer.batch; ++b)
        std::copy_n(given + layer.state_row(direction, b) * layer.hidden, layer.hidden,
                    to + b * layer.units() * block);
}

void run(const Layer& layer, const Pointers& pointers) {
    const float* x = read(pointers, layer.x);
    auto* workspace = reinterpret_cast<float*>(pointers.workspace);
    parallel(layer.threads, [&](int thread) {
        const std::int64_t rows = layer.rows();
        const auto [from, to] = share(rows, thread, layer.threads);
        for (std::int64_t kb = 0; kb * block < layer.width; ++kb)
            for (std::int64_t r = from; r < to; ++r)
                std::copy_n(x + r * layer.width + kb * block, std::min(block, layer.width - kb * block),
                            workspace + (kb * rows + r) * block);
        for (std::int64_t d = thread; d < layer.directions; d += layer.threads) {
            const Direction direction(layer, d, 0, 1, workspace);
            direction.load(read(pointers, layer.hidden_start), direction.before);
            load_state(layer, d, read(pointers, layer.state_start), direction.state);
        }
        barrier(layer.threads);
        const simd::Groups groups = layer.groups(layer.gates());
        const auto [begin, end] = share(groups.count() * layer.directions, thread, layer.threads);
        for (std::int64_t row = 0; row < rows; row += recurrent_slice)
            for (std::int64_t d = 0; d < layer.directions; ++d) {
                const RecurrentWeights weights(pointers, d);
                const auto mine = [&](std::int64_t at) {
                    return std::clamp<std::int64_t>(at - d * groups.count(), 0, groups.count());
                };
                multiply(groups, mine(begin), mine(end), workspace + row * block, rows,
                         std::min(recurrent_slice, rows - row), layer.width, weights.input,
                         weights.input_bias,
                         workspace + layer.source_floats() + (d * rows + row) * layer.wide());
            }
        barrier(layer.threads);
        if (layer.threads < layer.directions) {
            for (std::int64_t d = 0; d < layer.directions; ++d)
                Direction(layer, d, 0, 1, workspace).run(pointers, [] {});
            return;
        }
        // Every direction takes as many steps, so that all threads meet at each.
        Direction mine(layer, thread % layer.directions, thread / layer.directions, layer.members, workspace);
        mine.run(pointers, [&] {
            if (layer.members > 1) barrier(layer.threads);
        });
    });
}

// Gates [first, first + count) of direction `d` of W or R.
Packed pack(const Task& task, const Layer& layer, ValueId id, std::int64_t d, std::int64_t first,
            std::int64_t count) {
    const Tensor& tensor = *task.graph.constant(id);
    const auto values = tensor.values<float>();
    const std::int64_t channels = tensor.dims()[2];
    return simd::pack_weights(
        task, id, layer.groups(count), 1, channels, fmt::format("recurrent {} {} {}", d, first, count),
        [&](std::int64_t n, std::int64_t k, std::int64_t) {
            const std::int64_t unit = n / block / count * block + n % block;
            const std::int64_t gate = first + n / block % count;
            return unit < layer.hidden
                       ? values[static_cast<std::size_t>(
                             ((d * layer.gates() + gate) * layer.hidden + unit) * channels + k)]
                       : 0.0F;
        });
}

// Wb and Rb of direction `d`: those of R apart where they are multiplied by a gate (gru's candidate).
Packed pack_bias(const Task& task, const Layer& layer, ValueId id, std::int64_t d, bool of_hidden) {
    const Tensor* tensor = id == ValueId::none ? nullptr : task.graph.constant(id);
    const std::int64_t gates = layer.gates();
    return task.context.packed->find_or_make(
        fmt::format("recurrent bias {:x} {} {} {} {}", tensor == nullptr ? 0 : tensor->content_hash(),
                    static_cast<int>(layer.cell), layer.hidden, d, of_hidden),
        static_cast<std::size_t>(layer.wide() * 4), [&](std::byte* bytes) {
            auto* to = reinterpret_cast<float*>(bytes);
            std::fill_n(to, layer.wide(), 0.0F);
            if (tensor == nullptr) return;
            const float* from = tensor->values<float>().data() + d * 2 * gates * layer.hidden;
            for (std::int64_t u = 0; u < layer.hidden; ++u)
                for (std::int64_t g = 0; g < gates; ++g) {
                    const bool apart = layer.cell == Cell::gru && g == 2;
                    const float w = from[g * layer.hidden + u], r = from[(gates + g) * layer.hidden + u];
                    to[(u / block * gates + g) * block + u % block] =
                        of_hidden ? (apart ? r : 0) : (apart ? w : w + r);
                }
        });
}

std::vector<plan::Choice> offers_recurrent(const Task& task) {
    const auto layer = layer_of(task);
    if (!layer) return {};
    std::vector<plan::Choice> choices = {task.plain_choice(std::string(recurrent_family_name))};
    choices[0].workspace = Bytes(layer->floats() * 4);
    if (layer->threads >= 2 * layer->directions && layer->units() >= 4) {
        choices.push_back(choices[0]);
        choices[1].kernel += ":shared";
        choices[1].variant.split = plan::Split::shared;
    }
    return choices;
}

Result<Kernel> prepare_recurrent(const Task& task, const plan::Choice& choice) {
    auto layer = layer_of(task);
    if (!layer) return unknown_kernel(choice);
    if (choice.variant.split == plan::Split::shared)
        layer->members = static_cast<int>(layer->threads / layer->directions);
    const Node& node = task.node();
    const std::int64_t gates = layer->gates();
    const bool resets = layer->cell == Cell::gru_before;
    Kernel kernel;
    for (std::int64_t d = 0; d < layer->directions; ++d) {
        kernel.constants.push_back(pack(task, *layer, node.inputs[1], d, 0, gates));
        kernel.constants.push_back(pack_bias(task, *layer, node.input(3), d, false));
        kernel.constants.push_back(pack(task, *layer, node.inputs[2], d, 0, resets ? 2 : gates));
        kernel.constants.push_back(pack_bias(task, *layer, node.input(3), d, true));
        kernel.constants.push_back(resets ? pack(task, *layer, node.inputs[2], d, 2, 1)
                                          : kernel.constants.back());
    }
    for (auto* const place : {&layer->hidden_start, &layer->state_start})
        if (place->from == Operand::From::constant) {
            place->index = kernel.constants.size();
            kernel.constants.push_back(
                plain_constant(task, node.inputs[place == &layer->hidden_start ? 5 : 6]));
        }
    kernel.workspace = Bytes(layer->floats() * 4);
    kernel.run = [layer = *layer](const Pointers& pointers) { run(layer, pointers); };
    return kernel;
}

}  // namespace

Family recurrent_family() { return {recurrent_family_name, offers_recurrent, prepare_recurrent, true}; }

}  // namespace viridian::execute::cpu
