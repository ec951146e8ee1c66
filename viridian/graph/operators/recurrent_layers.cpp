// RNN, GRU, LSTM with all their options; the equations are the operators' documents. Hidden states are kept
// in the model's type, gates are computed in double.
#include <algorithm>
#include <cmath>

#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/multiply.hpp"
#include "viridian/graph/operators/prepare.hpp"
#include "viridian/graph/operators/recurrent.hpp"
#include "viridian/graph/operators/rules.hpp"

namespace viridian::graph {
namespace {

// One cell step: gates of one example before their functions, its states; it updates h (and c).
template <class Scalar>
struct Step {
    std::span<const double> from_input;   // X·Wᵀ + Wb, gates · hidden
    std::span<const double> from_hidden;  // H·Rᵀ, gates · hidden
    std::span<const double> hidden_bias;  // Rb, gates · hidden
    std::span<const double> peepholes;    // P, 3 · hidden, or empty
    std::span<const Scalar> before;       // h of the step before
    std::span<Scalar> hidden;
    std::span<Scalar> cell;  // LSTM
    std::span<const GateFunction> functions;
    double clip;
    const Node& node;

    [[nodiscard]] double clipped(double x) const { return clip > 0 ? std::clamp(x, -clip, clip) : x; }
    [[nodiscard]] double gate(std::size_t i) const { return from_input[i] + from_hidden[i] + hidden_bias[i]; }
};

struct RnnCell {
    static constexpr std::int64_t gates = 1;
    static std::vector<std::string> functions() { return {"Tanh"}; }
    template <class Scalar>
    static void step(const Step<Scalar>& s, const Matrix<Scalar>&) {
        for (std::size_t i = 0; i < s.hidden.size(); ++i)
            s.hidden[i] = static_cast<Scalar>(s.functions[0](s.clipped(s.gate(i))));
    }
};

// Gates z, r, h.
struct GruCell {
    static constexpr std::int64_t gates = 3;
    static std::vector<std::string> functions() { return {"Sigmoid", "Tanh"}; }
    template <class Scalar>
    static void step(const Step<Scalar>& s, const Matrix<Scalar>& recurrence) {
        const std::size_t n = s.hidden.size();
        std::vector<double> reset(n);
        for (std::size_t i = 0; i < n; ++i) reset[i] = s.functions[0](s.clipped(s.gate(n + i)));
        const bool after = s.node.integer("linear_before_reset", 0) != 0;
        for (std::size_t i = 0; i < n; ++i) {
            double candidate = s.from_input[2 * n + i];
            if (after) {
                candidate += reset[i] * (s.from_hidden[2 * n + i] + s.hidden_bias[2 * n + i]);
            } else {
                candidate += s.hidden_bias[2 * n + i];
                const Scalar* row = recurrence.data + static_cast<std::int64_t>(2 * n + i) * recurrence.row;
                for (std::size_t j = 0; j < n; ++j)
                    candidate += reset[j] * static_cast<double>(s.before[j]) * static_cast<double>(row[j]);
            }
            const double update = s.functions[0](s.clipped(s.gate(i)));
            s.hidden[i] = static_cast<Scalar>((1 - update) * s.functions[1](s.clipped(candidate)) +
                                              update * static_cast<double>(s.before[i]));
        }
    }
};

// Gates i, o, f, c.
struct LstmCell {
    static constexpr std::int64_t gates = 4;
    static std::vector<std::string> functions() { return {"Sigmoid", "Tanh", "Tanh"}; }
    template <class Scalar>
    static void step(const Step<Scalar>& s, const Matrix<Scalar>&) {
        const std::size_t n = s.hidden.size();
        const bool coupled = s.node.integer("input_forget", 0) != 0;
        const auto peep = [&](std::size_t which, std::size_t i, double cell) {
            return s.peepholes.empty() ? 0 : s.peepholes[which * n + i] * cell;
        };
        for (std::size_t i = 0; i < n; ++i) {
            const auto old = static_cast<double>(s.cell[i]);
            const double input = s.functions[0](s.clipped(s.gate(i) + peep(0, i, old)));
            const double forget =
                coupled ? 1 - input : s.functions[0](s.clipped(s.gate(2 * n + i) + peep(2, i, old)));
            const double cell = forget * old + input * s.functions[1](s.clipped(s.gate(3 * n + i)));
            const double output = s.functions[0](s.clipped(s.gate(n + i) + peep(1, i, cell)));
            s.cell[i] = static_cast<Scalar>(cell);
            s.hidden[i] = static_cast<Scalar>(output * s.functions[2](cell));
        }
    }
};

template <class Cell>
Result<void> infer(Inference& inference) {
    return infer_recurrent(inference, Cell::gates);
}

template <class Cell, class CallType>
Result<void> run(CallType& call) {
    using Scalar = scalar_of<CallType>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    const Array<Scalar>& w = *call.input(1);
    const Array<Scalar>& r = *call.input(2);
    const bool batch_first = call.node.integer("layout", 0) != 0;
    const std::int64_t sequence = x.dims[batch_first ? 1 : 0];
    const std::int64_t batch = x.dims[batch_first ? 0 : 1];
    const std::int64_t width = x.dims[2];
    const std::int64_t directions = w.dims[0];
    const std::int64_t hidden = r.dims[2];
    const std::int64_t wide = Cell::gates * hidden;
    const auto n = static_cast<std::size_t>(hidden);
    const std::vector<std::string> defaults = Cell::functions();
    VIRIDIAN_TRY(const std::vector<GateFunction> functions,
                 gate_functions(call.node, static_cast<std::size_t>(directions), defaults));
    // Row (direction, example) of a state tensor.
    const auto state_row = [&](std::int64_t d, std::int64_t b) {
        return static_cast<std::size_t>((batch_first ? b * directions + d : d * batch + b) * hidden);
    };
    const auto load = [&](std::size_t input, std::int64_t d) {
        std::vector<Scalar> state(static_cast<std::size_t>(batch * hidden));
        if (const Array<Scalar>* given = call.input(input))
            for (std::int64_t b = 0; b < batch; ++b)
                std::copy_n(given->real.begin() + static_cast<std::ptrdiff_t>(state_row(d, b)), n,
                            state.begin() + b * hidden);
        return state;
    };
    const auto store = [&](std::size_t output, std::int64_t d, const std::vector<Scalar>& state) {
        if (output >= call.outputs.size()) return;
        for (std::int64_t b = 0; b < batch; ++b)
            std::copy_n(state.begin() + b * hidden, n,
                        call.outputs[output].real.begin() + static_cast<std::ptrdiff_t>(state_row(d, b)));
    };
    for (std::int64_t d = 0; d < directions; ++d) {
        const bool reverse = d == 1 || call.node.get("direction", std::string("forward")) == "reverse";
        std::vector<double> input_bias(static_cast<std::size_t>(wide));
        std::vector<double> hidden_bias(static_cast<std::size_t>(wide));
        if (const Array<Scalar>* b = call.input(3)) {
            std::copy_n(b->real.begin() + d * 2 * wide, wide, input_bias.begin());
            std::copy_n(b->real.begin() + d * 2 * wide + wide, wide, hidden_bias.begin());
        }
        std::vector<double> peepholes;
        if (const Array<Scalar>* p = call.input(7))
            peepholes.assign(p->real.begin() + d * 3 * hidden, p->real.begin() + (d + 1) * 3 * hidden);
        std::vector<Scalar> h = load(5, d);
        std::vector<Scalar> c = load(6, d);
        const Matrix<Scalar> recurrence = {r.real.data() + d * wide * hidden, hidden, 1};
        std::vector<double> from_input(static_cast<std::size_t>(batch * wide));
        std::vector<double> from_hidden(from_input.size());
        for (std::int64_t step = 0; step < sequence; ++step) {
            // Examples may be shorter and, reversed, start at their own last element: one row each.
            std::fill(from_hidden.begin(), from_hidden.end(), 0);
            multiply_add<Scalar>(batch, wide, hidden, {h.data(), hidden, 1}, {recurrence.data, 1, hidden},
                                 from_hidden.data());
            for (std::int64_t b = 0; b < batch; ++b) {
                const std::int64_t length =
                    call.input(4) == nullptr
                        ? sequence
                        : std::clamp<std::int64_t>(call.input(4)->integer[static_cast<std::size_t>(b)], 0,
                                                   sequence);
                if (step >= length) continue;
                const std::int64_t t = reverse ? length - 1 - step : step;
                const std::int64_t at = batch_first ? b * sequence + t : t * batch + b;
                const auto gates =
                    std::span(from_input)
                        .subspan(static_cast<std::size_t>(b * wide), static_cast<std::size_t>(wide));
                std::copy(input_bias.begin(), input_bias.end(), gates.begin());
                multiply_add<Scalar>(1, wide, width, {x.real.data() + at * width, width, 1},
                                     {w.real.data() + d * wide * width, 1, width}, gates.data());
                const auto row = static_cast<std::size_t>(b * hidden);
                const std::vector<Scalar> before(h.begin() + b * hidden, h.begin() + (b + 1) * hidden);
                const Step<Scalar> cell{
                    gates,
                    std::span(from_hidden)
                        .subspan(static_cast<std::size_t>(b * wide), static_cast<std::size_t>(wide)),
                    hidden_bias,
                    peepholes,
                    before,
                    std::span(h).subspan(row, n),
                    std::span(c).subspan(row, n),
                    std::span(functions).subspan(static_cast<std::size_t>(d) * defaults.size(),
                                                 defaults.size()),
                    call.node.get("clip", 0.0),
                    call.node};
                Cell::step(cell, recurrence);
                const std::int64_t out =
                    batch_first ? (b * sequence + t) * directions + d : (t * directions + d) * batch + b;
                std::copy_n(h.begin() + b * hidden, n, call.outputs[0].real.begin() + out * hidden);
            }
        }
        store(1, d, h);
        store(2, d, c);
    }
    return {};
}

template <class Cell>
constexpr OperatorRow row(std::string_view name, int inputs, int outputs) {
    return {.name = name,
            .domain = "",
            .inputs = {3, inputs},
            .outputs = {0, outputs},
            .operator_class = OperatorClass::contraction,
            .safety = NumericSafety::allow,
            .infer = infer<Cell>,
            .reference = real_kernel([](auto& call) { return run<Cell>(call); }),
            .flop = recurrent_flop,
            .iteration_space = recurrent_space};
}

constexpr OperatorRow rows[] = {
    row<RnnCell>("RNN", 6, 2),
    row<GruCell>("GRU", 6, 2),
    row<LstmCell>("LSTM", 8, 3),
};

}  // namespace

std::span<const OperatorRow> recurrent_operators() { return rows; }

}  // namespace viridian::graph
