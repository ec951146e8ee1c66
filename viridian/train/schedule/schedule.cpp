#include "viridian/train/schedule/schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace viridian::train {
namespace {

using Option = ScheduleOption;
constexpr auto length = Option::Kind::length;
constexpr double most_steps = 1e15;
constexpr double most_factor = 1000;

double value(const Schedule& schedule, std::size_t option) { return schedule.values[option].front().value; }
double steps(const Schedule& schedule, std::size_t option, const RunLength& run) {
    return schedule.values[option].front().steps(run);
}

// The ramp of every schedule with warm-up: a factor that rises linearly from `from` to 1 in `warmup` steps
// and stays there. With `from` 0 this is the warm-up of Hugging Face's get_linear_schedule_with_warmup
// (transformers/optimization.py); Goyal et al., "Accurate, Large Minibatch SGD", 2017, section 2.2.
constexpr Option warmup = {"warmup", length, 0, most_steps};
constexpr Option warmup_from = {"warmup-from"};

double ramp(double step, double warmup_steps, double from) {
    return step >= warmup_steps ? 1 : from + (1 - from) * step / warmup_steps;
}

// How much of the part after the warm-up is over: 0 at its first step, 1 at the end of the run.
double progress(double step, double warmup_steps, const RunLength& run) {
    const double rest = std::max(1.0, static_cast<double>(run.steps) - warmup_steps);
    return std::clamp((step - warmup_steps) / rest, 0.0, 1.0);
}

// The factor stays 1.
constexpr std::array constant_options = {warmup, warmup_from};
double constant(const Schedule& s, double step, const RunLength& run) {
    return ramp(step, steps(s, 0, run), value(s, 1));
}

// γ^⌊t / every⌋: PyTorch's StepLR. The steps of the warm-up count.
constexpr std::array step_options = {Option{"every", length, 1e-9, most_steps, 0, true},
                                     Option{"factor", {}, 0, 1, 0.1}, warmup, warmup_from};
double step_wise(const Schedule& s, double step, const RunLength& run) {
    const double times = std::floor(step / std::max(1.0, std::round(steps(s, 0, run))));
    return std::pow(value(s, 1), times) * ramp(step, steps(s, 2, run), value(s, 3));
}

// γ^(how many of `at` are reached): PyTorch's MultiStepLR. The steps of the warm-up count.
constexpr std::array multi_step_options = {Option{"at", Option::Kind::lengths, 0, most_steps, 0, true},
                                           Option{"factor", {}, 0, 1, 0.1}, warmup, warmup_from};
double multi_step(const Schedule& s, double step, const RunLength& run) {
    const auto reached = std::ranges::count_if(
        s.values[0], [&](const Amount& at) { return std::round(at.steps(run)) <= step; });
    return std::pow(value(s, 1), static_cast<double>(reached)) * ramp(step, steps(s, 2, run), value(s, 3));
}

// initial + (final − initial)·t/T: PyTorch's LinearLR with start_factor, end_factor and total_iters = T.
constexpr std::array linear_options = {Option{"initial", {}, 0, most_factor, 1},
                                       Option{"final", {}, 0, most_factor, 0}, warmup, warmup_from};
double linear(const Schedule& s, double step, const RunLength& run) {
    const double warm = steps(s, 2, run);
    const double part = progress(step, warm, run);
    return (value(s, 0) + (value(s, 1) - value(s, 0)) * part) * ramp(step, warm, value(s, 3));
}

// final + (1 − final)·(1 + cos(π·t/T))/2: Loshchilov and Hutter, "SGDR", 2017, equation 5, with one cycle;
// PyTorch's CosineAnnealingLR with T_max = T and eta_min = final·rate.
constexpr std::array cosine_options = {Option{"final", {}, 0, most_factor, 0}, warmup, warmup_from};
double cosine(const Schedule& s, double step, const RunLength& run) {
    const double warm = steps(s, 1, run);
    const double part = progress(step, warm, run);
    const double wave = (1 + std::cos(std::numbers::pi * part)) / 2;
    return (value(s, 0) + (1 - value(s, 0)) * wave) * ramp(step, warm, value(s, 2));
}

// Smith and Topin, "Super-Convergence", 2018, in the form of PyTorch's OneCycleLR with two phases and cosine
// annealing: from `initial` to 1 in the steps up to rise·T − 1, then to `final` at step T − 1. `rise` is its
// pct_start 0.3, `initial` is 1/div_factor = 1/25, and `final` is 1/(div_factor·final_div_factor) =
// 1/(25·10^4).
constexpr std::array one_cycle_options = {Option{"rise", {}, 0, 1, 0.3}, Option{"initial", {}, 0, 1, 0.04},
                                          Option{"final", {}, 0, 1, 4e-6}};
double one_cycle(const Schedule& s, double step, const RunLength& run) {
    const double total = static_cast<double>(run.steps);
    const double top = value(s, 0) * total - 1;
    const double last = total - 1;
    const bool rising = step <= top;
    const double begin = rising ? 0 : top, end = rising ? top : last;
    const double part = end > begin ? std::clamp((step - begin) / (end - begin), 0.0, 1.0) : 1;
    const double from = rising ? value(s, 1) : 1, to = rising ? 1 : value(s, 2);
    return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * part));
}

// final + (1 − final)·(1 − t/T)^power: PyTorch's PolynomialLR with total_iters = T if `final` is 0, Hugging
// Face's get_polynomial_decay_schedule_with_warmup otherwise.
constexpr std::array polynomial_options = {Option{"power", {}, 0, 100, 1},
                                           Option{"final", {}, 0, most_factor, 0}, warmup, warmup_from};
double polynomial(const Schedule& s, double step, const RunLength& run) {
    const double warm = steps(s, 2, run);
    const double rest = std::pow(1 - progress(step, warm, run), value(s, 0));
    return (value(s, 1) + (1 - value(s, 1)) * rest) * ramp(step, warm, value(s, 3));
}

// γ^(t / every): PyTorch's ExponentialLR at every multiple of `every`, and between them without a jump. The
// steps of the warm-up count.
constexpr std::array exponential_options = {
    Option{"factor", {}, 0, 1, 0, true}, Option{"every", length, 1e-9, most_steps, -1}, warmup, warmup_from};
double exponential(const Schedule& s, double step, const RunLength& run) {
    const double every = std::max(steps(s, 1, run), std::numeric_limits<double>::min());
    return std::pow(value(s, 0), step / every) * ramp(step, steps(s, 2, run), value(s, 3));
}

constexpr std::array<ScheduleRow, 8> rows = {{
    {"constant", "the same rate in every step", "constant:warmup=100", constant_options, constant, false},
    {"step", "multiplied by `factor` after every `every` steps", "step:every=30e,factor=0.1", step_options,
     step_wise, false},
    {"multi-step", "multiplied by `factor` at each of `at`", "multi-step:at=30e/60e/80e,factor=0.1",
     multi_step_options, multi_step, false},
    {"linear", "a straight line from `initial` to `final`", "linear:final=0,warmup=100", linear_options,
     linear, true},
    {"cosine", "half a wave from 1 to `final`", "cosine:final=0.01,warmup=5e", cosine_options, cosine, true},
    {"one-cycle", "up from `initial` to 1 in `rise` of the steps, then down to `final`", "one-cycle:rise=0.3",
     one_cycle_options, one_cycle, true},
    {"polynomial", "from 1 to `final` as (1 - t/T)^power", "polynomial:power=2,final=0", polynomial_options,
     polynomial, true},
    {"exponential", "multiplied by `factor` every `every` steps, without jumps",
     "exponential:factor=0.95,every=1e", exponential_options, exponential, false},
}};

}  // namespace

std::span<const ScheduleRow> schedule_rows() { return rows; }

double Schedule::factor(std::int64_t step, const RunLength& run) const {
    return row->factor(*this, static_cast<double>(step), run);
}

double Schedule::warmup(const RunLength& run) const {
    for (std::size_t i = 0; i < row->options.size(); ++i)
        if (row->options[i].name == train::warmup.name) return steps(*this, i, run);
    return 0;
}

}  // namespace viridian::train
