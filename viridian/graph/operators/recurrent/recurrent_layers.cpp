// RNN, GRU, LSTM with all their options; the equations are the operators' documents. Hidden states are kept
// in the model's type, gates are computed in double.
#include <algorithm>
#include <cmath>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/recurrent/recurrent.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/multiply.hpp"
#include "viridian/graph/reference/prepare.hpp"

namespace viridian::graph {
namespace {

// One cell step: gates of one example before their functions, its states; it updates h (and c).
template <class Scalar>
struct CellUpdate {
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
    static void step(const CellUpdate<Scalar>& s, const Matrix<Scalar>&) {
        for (std::size_t i = 0; i < s.hidden.size(); ++i)
            s.hidden[i] = static_cast<Scalar>(s.functions[0](s.clipped(s.gate(i))));
    }
};

// Gates z, r, h.
struct GruCell {
    static constexpr std::int64_t gates = 3;
    static std::vector<std::string> functions() { return {"Sigmoid", "Tanh"}; }
    template <class Scalar>
    static void step(const CellUpdate<Scalar>& s, const Matrix<Scalar>& recurrence) {
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
    static void step(const CellUpdate<Scalar>& s, const Matrix<Scalar>&) {
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

// One evaluation of a layer: its extents, and where its tensors hold what.
template <class Cell, class Scalar>
class Layer {
  public:
    Layer(Call<Scalar>& call, std::vector<GateFunction> functions)
        : call_(call),
          functions_(std::move(functions)),
          batch_first_(call.node.integer("layout", 0) != 0),
          sequence_(call.input(0)->dims[batch_first_ ? 1 : 0]),
          batch_(call.input(0)->dims[batch_first_ ? 0 : 1]),
          width_(call.input(0)->dims[2]),
          directions_(call.input(1)->dims[0]),
          hidden_(call.input(2)->dims[2]) {}

    void run() {
        for (std::int64_t d = 0; d < directions_; ++d) run(d);
    }

  private:
    // What one direction computes with.
    struct Direction {
        std::int64_t index;
        bool reverse;
        std::vector<double> input_bias, hidden_bias, peepholes;
        Matrix<Scalar> recurrence;
        std::vector<Scalar> h, c;
        std::vector<double> from_input, from_hidden;
    };

    void run(std::int64_t d) {
        Direction direction = begin(d);
        for (std::int64_t step = 0; step < sequence_; ++step) {
            std::fill(direction.from_hidden.begin(), direction.from_hidden.end(), 0);
            multiply_add<Scalar>(batch_, wide_, hidden_, {direction.h.data(), hidden_, 1},
                                 {direction.recurrence.data, 1, hidden_}, direction.from_hidden.data());
            for (std::int64_t b = 0; b < batch_; ++b)
                if (step < length_of(b)) advance(direction, step, b);
        }
        store(1, d, direction.h);
        store(2, d, direction.c);
    }

    Direction begin(std::int64_t d) const {
        const auto gates = static_cast<std::size_t>(wide_);
        Direction direction{d,
                            d == 1 || call_.node.get("direction", std::string("forward")) == "reverse",
                            std::vector<double>(gates),
                            std::vector<double>(gates),
                            {},
                            {call_.input(2)->real.data() + d * wide_ * hidden_, hidden_, 1},
                            load(5, d),
                            load(6, d),
                            std::vector<double>(static_cast<std::size_t>(batch_ * wide_)),
                            std::vector<double>(static_cast<std::size_t>(batch_ * wide_))};
        if (const Array<Scalar>* b = call_.input(3)) {
            std::copy_n(b->real.begin() + d * 2 * wide_, wide_, direction.input_bias.begin());
            std::copy_n(b->real.begin() + d * 2 * wide_ + wide_, wide_, direction.hidden_bias.begin());
        }
        if (const Array<Scalar>* p = call_.input(7))
            direction.peepholes.assign(p->real.begin() + d * 3 * hidden_,
                                       p->real.begin() + (d + 1) * 3 * hidden_);
        return direction;
    }

    // One step of example b. Examples may be shorter and, reversed, start at their own last element.
    void advance(Direction& direction, std::int64_t step, std::int64_t b) {
        const std::int64_t d = direction.index;
        const std::int64_t t = direction.reverse ? length_of(b) - 1 - step : step;
        const std::int64_t at = batch_first_ ? b * sequence_ + t : t * batch_ + b;
        const auto gates = static_cast<std::size_t>(wide_), n = static_cast<std::size_t>(hidden_);
        const auto from_input =
            std::span(direction.from_input).subspan(static_cast<std::size_t>(b) * gates, gates);
        std::copy(direction.input_bias.begin(), direction.input_bias.end(), from_input.begin());
        multiply_add<Scalar>(1, wide_, width_, {call_.input(0)->real.data() + at * width_, width_, 1},
                             {call_.input(1)->real.data() + d * wide_ * width_, 1, width_},
                             from_input.data());
        const auto row = static_cast<std::size_t>(b) * n;
        const auto state = direction.h.begin() + b * hidden_;
        const std::vector<Scalar> before(state, state + hidden_);
        const std::size_t each = Cell::functions().size();
        const CellUpdate<Scalar> cell{
            from_input,
            std::span(direction.from_hidden).subspan(static_cast<std::size_t>(b) * gates, gates),
            direction.hidden_bias,
            direction.peepholes,
            before,
            std::span(direction.h).subspan(row, n),
            std::span(direction.c).subspan(row, n),
            std::span(functions_).subspan(static_cast<std::size_t>(d) * each, each),
            call_.node.get("clip", 0.0),
            call_.node};
        Cell::step(cell, direction.recurrence);
        const std::int64_t out =
            batch_first_ ? (b * sequence_ + t) * directions_ + d : (t * directions_ + d) * batch_ + b;
        std::copy_n(state, n, call_.outputs[0].real.begin() + out * hidden_);
    }

    [[nodiscard]] std::int64_t length_of(std::int64_t b) const {
        const Array<Scalar>* lengths = call_.input(4);
        if (lengths == nullptr) return sequence_;
        return std::clamp<std::int64_t>(lengths->integer[static_cast<std::size_t>(b)], 0, sequence_);
    }
    // First element of row (direction, example) of a state tensor.
    [[nodiscard]] std::ptrdiff_t state_row(std::int64_t d, std::int64_t b) const {
        return (batch_first_ ? b * directions_ + d : d * batch_ + b) * hidden_;
    }
    [[nodiscard]] std::vector<Scalar> load(std::size_t input, std::int64_t d) const {
        std::vector<Scalar> state(static_cast<std::size_t>(batch_ * hidden_));
        if (const Array<Scalar>* given = call_.input(input))
            for (std::int64_t b = 0; b < batch_; ++b)
                std::copy_n(given->real.begin() + state_row(d, b), hidden_, state.begin() + b * hidden_);
        return state;
    }
    void store(std::size_t output, std::int64_t d, const std::vector<Scalar>& state) {
        if (output >= call_.outputs.size()) return;
        for (std::int64_t b = 0; b < batch_; ++b)
            std::copy_n(state.begin() + b * hidden_, hidden_,
                        call_.outputs[output].real.begin() + state_row(d, b));
    }

    Call<Scalar>& call_;
    std::vector<GateFunction> functions_;
    bool batch_first_;
    std::int64_t sequence_, batch_, width_, directions_, hidden_;
    std::int64_t wide_ = Cell::gates * hidden_;
};

template <class Cell, class CallType>
Result<void> run(CallType& call) {
    VIRIDIAN_TRY(prepare(call));
    VIRIDIAN_TRY(
        std::vector<GateFunction> functions,
        gate_functions(call.node, static_cast<std::size_t>(call.input(1)->dims[0]), Cell::functions()));
    Layer<Cell, scalar_of<CallType>>(call, std::move(functions)).run();
    return {};
}

template <class Cell>
constexpr OperatorRow layer_row(std::string_view name, int inputs, int outputs) {
    return contraction_row(name, {3, inputs}, infer<Cell>,
                           real_kernel([](auto& call) { return run<Cell>(call); }),
                           {.outputs = {0, outputs},
                            .precision = precision::f32_sums,
                            .sets = {.bf16 = 22},
                            .flop = recurrent_flop,
                            .iteration_space = recurrent_space});
}

}  // namespace

std::span<const OperatorRow> recurrent_operators() {
    static constexpr OperatorRow rows[] = {
        layer_row<RnnCell>("RNN", 6, 2),
        layer_row<GruCell>("GRU", 6, 2),
        layer_row<LstmCell>("LSTM", 8, 3),
    };
    return rows;
}

}  // namespace viridian::graph
