#include "viridian/execute/cpu/simd/elementwise/cell.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/elementwise/cell.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));

HWY_INLINE V sigmoid(V x) {
    const D d;
    const V one = hn::Set(d, 1.0F);
    const V y = hn::Div(one, hn::Add(one, hn::Exp(d, hn::Min(hn::Set(d, 88.0F), hn::Neg(x)))));
    return hn::IfThenElse(hn::IsNaN(x), x, y);
}

HWY_INLINE V tanh(V x) { return hn::IfThenElse(hn::IsNaN(x), x, hn::Tanh(D(), x)); }

// f(block's offset in gates, in hidden states, in the cell's state) for each vector of each block.
template <class F>
HWY_INLINE void each(const CellStep& s, std::int64_t gate_count, const F& f) {
    for (std::int64_t b = 0; b < s.blocks; ++b)
        for (std::int64_t lane = 0; lane < 16; lane += lanes)
            f(b * gate_count * 16 + lane, b * s.hidden_block + lane, b * 16 + lane);
}

template <bool Relu>
void rnn(const CellStep& s) {
    const D d;
    each(s, 1, [&](std::int64_t g, std::int64_t h, std::int64_t) HWY_ATTR {
        const V x = hn::Add(hn::Load(d, s.from_input + g), hn::Load(d, s.from_hidden + g));
        hn::Store(Relu ? hn::Max(hn::Zero(d), x) : tanh(x), d, s.hidden + h);
    });
}

void gru(const CellStep& s) {
    const D d;
    each(s, 3, [&](std::int64_t g, std::int64_t h, std::int64_t) HWY_ATTR {
        const auto gate = [&](std::int64_t i) HWY_ATTR {
            return sigmoid(hn::Add(hn::Load(d, s.from_input + g + i), hn::Load(d, s.from_hidden + g + i)));
        };
        const V update = gate(0), reset = gate(16);
        const V candidate =
            tanh(hn::MulAdd(reset, hn::Load(d, s.from_hidden + g + 32), hn::Load(d, s.from_input + g + 32)));
        hn::Store(hn::MulAdd(update, hn::Sub(hn::Load(d, s.before + h), candidate), candidate), d,
                  s.hidden + h);
    });
}

void reset_gates(const CellStep& s) {
    const D d;
    for (std::int64_t b = 0; b < s.blocks; ++b)
        for (std::int64_t lane = 0; lane < 16; lane += lanes) {
            const V r = sigmoid(hn::Add(hn::Load(d, s.from_input + b * 48 + 16 + lane),
                                        hn::Load(d, s.from_hidden + b * 32 + 16 + lane)));
            const std::int64_t h = b * s.hidden_block + lane;
            hn::Store(hn::Mul(r, hn::Load(d, s.before + h)), d, s.hidden + h);
        }
}

void gru_before(const CellStep& s) {
    const D d;
    for (std::int64_t b = 0; b < s.blocks; ++b)
        for (std::int64_t lane = 0; lane < 16; lane += lanes) {
            const V update = sigmoid(hn::Add(hn::Load(d, s.from_input + b * 48 + lane),
                                             hn::Load(d, s.from_hidden + b * 32 + lane)));
            const V candidate = tanh(hn::Add(hn::Load(d, s.from_input + b * 48 + 32 + lane),
                                             hn::Load(d, s.from_reset + b * 16 + lane)));
            const std::int64_t h = b * s.hidden_block + lane;
            hn::Store(hn::MulAdd(update, hn::Sub(hn::Load(d, s.before + h), candidate), candidate), d,
                      s.hidden + h);
        }
}

void lstm(const CellStep& s) {
    const D d;
    each(s, 4, [&](std::int64_t g, std::int64_t h, std::int64_t c) HWY_ATTR {
        const auto gate = [&](std::int64_t i) HWY_ATTR {
            return hn::Add(hn::Load(d, s.from_input + g + i), hn::Load(d, s.from_hidden + g + i));
        };
        const V input = sigmoid(gate(0)), output = sigmoid(gate(16)), forget = sigmoid(gate(32));
        const V state = hn::MulAdd(forget, hn::Load(d, s.state + c), hn::Mul(input, tanh(gate(48))));
        hn::Store(state, d, s.state + c);
        hn::Store(hn::Mul(output, tanh(state)), d, s.hidden + h);
    });
}

void cell_step(Cell cell, const CellStep& s) {
    switch (cell) {
        case Cell::rnn_tanh:
            return rnn<false>(s);
        case Cell::rnn_relu:
            return rnn<true>(s);
        case Cell::gru:
            return gru(s);
        case Cell::gru_before:
            return gru_before(s);
        case Cell::lstm:
            return lstm(s);
    }
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(cell_step);
HWY_EXPORT(reset_gates);

void step(Cell cell, const CellStep& step) { HWY_DYNAMIC_DISPATCH(cell_step)(cell, step); }
void reset(const CellStep& step) { HWY_DYNAMIC_DISPATCH(reset_gates)(step); }

}  // namespace viridian::execute::cpu::simd
#endif
