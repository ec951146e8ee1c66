#include "viridian/account/deconvolve.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "viridian/account/base_time.hpp"

namespace viridian::account {
namespace {

constexpr std::size_t folds = 5;
// Of the normal distribution 1.96 would do on the average over programs. The errors of one program's
// operations are related, and the strength of the prior was itself estimated: so wide, nine in ten operations
// of nearly every program are covered (docs/account.md).
constexpr double quantile = 2.5;
// Where the device is never idle, base and the operations' common level cannot be told apart (and need not
// be); the base then stays near this part of the mean power.
constexpr double base_guess = 0.3;
// The search for the sensor makes do with so many kinds. Too few, and what they lump together looks like
// another shift: a 12-layer encoder (123 operations) under 48 kinds was found 20 ms off.
constexpr std::uint32_t search_kinds = 192;
// What no window can tell: rounding of stamps, the fit being linear in the shift.
constexpr double narrowest = 1e-3;  // of the energy

// The longest-running operations are kinds of their own, the rest share the last one.
std::vector<std::uint32_t> choose_kinds(std::span<const Leaf> leaves, std::uint32_t operations,
                                        std::size_t most, std::uint32_t& kinds) {
    std::vector<double> time(operations);
    for (const Leaf& leaf : leaves) time[leaf.operation] += static_cast<double>(leaf.end - leaf.start);
    std::vector<std::uint32_t> order(operations);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return time[a] > time[b]; });
    std::vector<std::uint32_t> kind_of(operations);
    kinds = static_cast<std::uint32_t>(std::min<std::size_t>(operations, std::max<std::size_t>(most, 1)));
    for (std::uint32_t rank = 0; rank < operations; ++rank) kind_of[order[rank]] = std::min(rank, kinds - 1);
    return kind_of;
}

double mean_watts(std::span<const Window> windows) {
    double sum = 0.0;
    for (const Window& window : windows) sum += window.watts;
    return windows.empty() ? 0.0 : sum / static_cast<double>(windows.size());
}

struct Folded {
    std::vector<Normal> parts;
    Normal all;
};

// Neighbouring windows go to the same fold: their errors are related.
Folded fold_normals(const Design& design, std::span<const Window> windows, const Sensor& sensor,
                    std::span<const double> theta, std::size_t slopes) {
    const std::size_t size = design.columns(slopes).size();
    Folded folded{std::vector<Normal>(folds, Normal(size)), Normal(size)};
    const std::size_t block = std::max<std::size_t>(1, windows.size() / (folds * 12));
    design.visit(windows, sensor, theta, slopes,
                 [&](std::size_t j, const Row& row) { folded.parts[j / block % folds].add(row); });
    for (const Normal& part : folded.parts) folded.all.add(part, 1.0);
    return folded;
}

// Misfit on each fold of a fit to the others, summed; and of base and drift alone.
void held_out(const Folded& folded, const Fit& fitted, double& model, double& constant) {
    model = constant = 0.0;
    const std::size_t size = fitted.columns.size();
    for (const Normal& part : folded.parts) {
        Normal rest = folded.all;
        rest.add(part, -1.0);
        model += part.misfit(refit(rest, fitted));
        Symmetric small(1 + fitted.columns.knots);
        std::vector<double> right(small.size());
        const auto column = [&](std::size_t i) { return i == 0 ? 0 : fitted.columns.knot(i - 1); };
        for (std::size_t i = 0; i < small.size(); ++i) {
            right[i] = rest.xy[column(i)];
            for (std::size_t j = 0; j <= i; ++j) small(i, j) = rest.xx(column(i), column(j));
            if (i > 0) small(i, i) += fitted.prior(column(i), column(i));
        }
        const std::vector<double> level = Cholesky(std::move(small)).solve(std::move(right));
        std::vector<double> theta(size, 0.0);
        for (std::size_t i = 0; i < level.size(); ++i) theta[column(i)] = level[i];
        constant += part.misfit(theta);
    }
}

// Windows that a fit cannot explain at all: work that the trace lost, another program on the device.
struct Trimmed {
    std::vector<Window> kept;
    double dropped = 0.0;     // part of the windows
    double idle_noise = 1.0;  // squared misfit of the half with more idle time, relative to the other half
};

Trimmed trim(const Design& design, std::span<const Window> windows, const Sensor& sensor, const Fit& fitted) {
    struct Seen {
        std::size_t window;
        double misfit, idle;
    };
    std::vector<Seen> seen;
    const std::size_t idle = fitted.columns.kind(fitted.columns.kinds - 1);
    design.visit(windows, sensor, {}, 0, [&](std::size_t j, const Row& row) {
        double idleness = 0.0;
        for (std::size_t i = 0; i < row.columns.size(); ++i)
            if (row.columns[i] == idle) idleness = row.values[i];
        seen.push_back({j, std::abs(row.watts - row.dot(fitted.theta)), idleness});
    });
    Trimmed out;
    if (seen.size() < 8) return {{windows.begin(), windows.end()}};
    const auto middle = seen.begin() + static_cast<std::ptrdiff_t>(seen.size() / 2);
    std::nth_element(seen.begin(), middle, seen.end(),
                     [](const Seen& a, const Seen& b) { return a.misfit < b.misfit; });
    const double limit = 6.0 * 1.4826 * middle->misfit;
    std::vector<bool> drop(windows.size(), false);
    std::vector<Seen> left;
    for (const Seen& one : seen)
        if (one.misfit > limit)
            drop[one.window] = true;
        else
            left.push_back(one);
    for (std::size_t j = 0; j < windows.size(); ++j)
        if (!drop[j]) out.kept.push_back(windows[j]);
    out.dropped = 1.0 - static_cast<double>(left.size()) / static_cast<double>(seen.size());
    std::sort(left.begin(), left.end(), [](const Seen& a, const Seen& b) { return a.idle < b.idle; });
    double halves[2] = {0.0, 0.0};
    for (std::size_t i = 0; i < left.size(); ++i)
        halves[2 * i >= left.size() ? 1 : 0] += left[i].misfit * left[i].misfit;
    if (halves[0] > 0.0) out.idle_noise = halves[1] / halves[0];
    return out;
}

// Scores of blocks of windows: intervals that hold when errors differ in size and are related nearby.
std::vector<std::vector<double>> block_scores(const Design& design, std::span<const Window> windows,
                                              const Sensor& sensor, const Fit& fitted,
                                              std::span<const double> slope_theta) {
    const std::size_t blocks = std::clamp<std::size_t>(windows.size() / 4, 1, 400);
    std::vector<std::vector<double>> scores(blocks, std::vector<double>(fitted.columns.size()));
    design.visit(windows, sensor, slope_theta, fitted.columns.slopes, [&](std::size_t j, const Row& row) {
        const double residual = row.watts - row.dot(fitted.theta);
        std::vector<double>& score = scores[j * blocks / windows.size()];
        for (std::size_t i = 0; i < row.columns.size(); ++i)
            score[row.columns[i]] += row.values[i] * residual;
    });
    return scores;
}

// The standard deviation of g'theta: the larger of the model's and the robust one.
class Deviation {
  public:
    Deviation(const Fit& fitted, const std::vector<std::vector<double>>& scores, std::size_t windows)
        : fit_(&fitted), scores_(&scores) {
        const auto blocks = static_cast<double>(scores.size());
        const auto used = static_cast<double>(std::min(fitted.columns.size(), windows / 2));
        correction_ = blocks / std::max(1.0, blocks - 1.0) * static_cast<double>(windows) /
                      std::max(1.0, static_cast<double>(windows) - used);
    }
    [[nodiscard]] double of(const std::vector<double>& functional) const {
        const std::vector<double> z = fit_->posterior.solve(functional);
        double model = 0.0, robust = 0.0;
        for (std::size_t i = 0; i < z.size(); ++i) model += z[i] * functional[i];
        for (const std::vector<double>& score : *scores_) {
            double sum = 0.0;
            for (std::size_t i = 0; i < z.size(); ++i) sum += z[i] * score[i];
            robust += sum * sum;
        }
        robust = robust * correction_ + fit_->noise_variance * fit_->prior.quadratic(z);
        return std::sqrt(std::max({0.0, model * fit_->noise_variance, robust}));
    }

  private:
    const Fit* fit_;
    const std::vector<std::vector<double>>* scores_;
    double correction_ = 1.0;
};

Steps shifted(Steps steps, Nanoseconds shift) {
    for (Step& step : steps.steps) {
        step.begin -= shift;
        step.end -= shift;
    }
    return steps;
}

// Energy of an operation, linear in theta: base-seconds, kind-seconds, knot-seconds.
struct Functional {
    std::vector<double> weights;
    double constant = 0.0;  // joules that theta does not carry: the windows' mean power
};

Functional functional(const Columns& columns, std::uint32_t kind, const BaseTime::Of& of, double mean) {
    Functional out{std::vector<double>(columns.size()), 0.0};
    double base = 0.0;
    for (const double seconds : of.by_knot) base += seconds;
    out.weights[0] = base;
    out.weights[columns.kind(kind)] = of.active;
    for (std::size_t m = 0; m < columns.knots && m < of.by_knot.size(); ++m)
        out.weights[columns.knot(m)] = of.by_knot[m];
    out.constant = base * mean;
    return out;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// The meter's energy within the traced span less the model's, step by step: independent of the shares.
double misfit_energy(const Steps& steps, const Design& design, const Columns& columns,
                     const std::vector<double>& theta, Nanoseconds begin, Nanoseconds end, Exact& outside) {
    const Occupancy& occupancy = *design.occupancy;
    Occupancy::Cursor cursor(occupancy);
    std::vector<double> before(occupancy.kinds());
    double misfit = 0.0;
    for (const Step& step : steps.steps) {
        const Nanoseconds from = std::max(step.begin, begin), to = std::min(step.end, end);
        if (step.gap || from >= to) {
            outside += step.energy;
            continue;
        }
        const StepRate rate(step);
        const Exact inside = rate.at(step, to) - (from == step.begin ? 0 : rate.at(step, from));
        outside += step.energy - inside;
        cursor.seek(from);
        for (std::uint32_t k = 0; k < occupancy.kinds(); ++k)
            before[k] = static_cast<double>(cursor.until(k));
        cursor.seek(to);
        const double seconds = 1e-9 * static_cast<double>(to - from);
        double model = (design.centre_watts + theta[0]) * seconds;
        for (std::uint32_t k = 0; k < occupancy.kinds(); ++k)
            model += theta[columns.kind(k)] * 1e-9 * (static_cast<double>(cursor.until(k)) - before[k]);
        if (columns.knots > 0) {  // the line may bend once inside a long step: integrate in pieces
            const double first = static_cast<double>(from - design.drift.begin),
                         last = static_cast<double>(to - design.drift.begin);
            for (double at = first; at < last;) {
                const double bend =
                    (std::floor(at / design.drift.spacing_ns) + 1.0) * design.drift.spacing_ns;
                const double next = std::min(last, std::max(bend, at + 1.0));
                const Drift::At middle = design.drift.at(0.5 * (at + next));
                model += 1e-9 * (next - at) *
                         (middle.left * theta[columns.knot(middle.knot)] +
                          middle.right * theta[columns.knot(middle.knot + 1)]);
                at = next;
            }
        }
        misfit += joules(inside).value - model;
    }
    return misfit;
}

}  // namespace

std::size_t deconvolve_bytes(std::uint64_t leaves, std::uint64_t windows, std::uint64_t kinds) {
    return leaves * sizeof(Leaf) + Occupancy::bytes(leaves) + windows * (sizeof(Window) + sizeof(Step)) +
           kinds * kinds * 8 * (folds + 4) + kinds * 400 * 8;
}

Deconvolution deconvolve(std::span<const Leaf> leaves, std::uint32_t operations, const Steps& steps,
                         const meter::Series* readings, const DeconvolveOptions& options) {
    Deconvolution out;
    const bool counter = readings == nullptr || readings->channel.kind == meter::Kind::energy_uj;
    const std::vector<Window> windows = counter ? windows_of(steps) : windows_of(*readings);
    std::uint32_t kinds = 0;
    const std::size_t most = std::min(options.most_kinds, std::max<std::size_t>(windows.size() / 3, 1));
    const std::vector<std::uint32_t> kind_of = choose_kinds(leaves, operations, most, kinds);
    if (leaves.empty() || windows.size() < 24 ||
        windows.size() < 2 * std::size_t{std::min(kinds, 48U)} / 3 + 8) {
        out.verdict = fmt::format("{} power readings are too few to tell operations apart", windows.size());
        return out;
    }
    if (kinds < operations)
        out.warnings.push_back(
            fmt::format("{} operations that ran the least share one power", operations - kinds + 1));

    // Which sensor.
    Sensor start{counter, 0.0, 0.0, 0.0, static_cast<double>(steps.period)};
    if (counter) start.window_ns = start.period_ns;
    if (!counter && readings->readings.back().window_ns > 0)
        start.window_ns = static_cast<double>(readings->readings.back().window_ns);
    std::vector<std::uint32_t> coarse_kind_of = kind_of;
    for (std::uint32_t& kind : coarse_kind_of) kind = std::min(kind, search_kinds - 1);
    {
        const Occupancy coarse(leaves, coarse_kind_of, std::min(kinds, search_kinds) + 1);
        const Design search{&coarse, make_drift(coarse.begin(), coarse.end()),
                            base_guess * mean_watts(windows)};
        const Identified found = identify(search, windows, start, options.search);
        out.sensor = found.sensor;
        if (found.rival_ns)
            out.warnings.push_back(
                fmt::format("a shift of {:.3g} ms explains the readings almost as well as {:.3g} ms: a "
                            "longer run decides",
                            1e-6 * *found.rival_ns, 1e-6 * found.sensor.shift_ns));
        if (found.at_edge)
            out.warnings.emplace_back(
                "the shift lies at the end of the range searched; widen it with --max-shift");
    }

    // Watts of every kind, the slopes of shift and window free, so that their doubt enters every interval.
    const std::uint32_t idle_kind = kinds;
    const double mean = mean_watts(windows);
    const Occupancy occupancy(leaves, kind_of, kinds + 1);
    const Design design{&occupancy, make_drift(occupancy.begin(), occupancy.end()),
                        base_guess * mean_watts(windows)};
    const std::size_t slopes = counter ? 1 : 2;
    const Columns columns = design.columns(slopes);
    Trimmed used{windows};
    Fit first;
    for (int round = 0; round < 6; ++round) {
        first = fit(fold_normals(design, used.kept, out.sensor, {}, 0).all, design.columns(0), mean);
        Trimmed next = trim(design, windows, out.sensor, first);
        const bool settled = next.kept.size() == used.kept.size() || next.kept.size() < windows.size() / 2;
        const double before = used.dropped;
        if (next.kept.size() < windows.size() / 2) next = {used.kept, before, next.idle_noise};
        used = std::move(next);
        if (settled) break;
    }
    Folded folded;
    Fit fitted;
    std::vector<double> slopes_at = first.theta;
    for (int round = 0; round < 6;
         ++round) {  // the light fit that found the sensor was a little biased: settle it here
        folded = fold_normals(design, used.kept, out.sensor, slopes_at, slopes);
        fitted = fit(folded.all, columns, mean);
        const double move = fitted.theta[columns.slope(0)];
        const double stretch = slopes > 1 ? fitted.theta[columns.slope(1)] : 0.0;
        if (round == 5 || (std::abs(move) < 500.0 && std::abs(stretch) < 500.0)) break;
        out.sensor.shift_ns += std::clamp(move, -60e3, 60e3);
        if (slopes > 1)
            out.sensor.window_ns = std::max(1e5, out.sensor.window_ns + std::clamp(stretch, -60e3, 60e3));
        slopes_at.assign(fitted.theta.begin(), fitted.theta.end() - static_cast<std::ptrdiff_t>(slopes));
    }
    double model = 0.0, constant = 0.0;
    held_out(folded, fitted, model, constant);
    out.held_out = constant > 0.0 ? model / constant : 1.0;
    const auto scores = block_scores(design, used.kept, out.sensor, fitted, slopes_at);
    const Deviation deviation(fitted, scores, folded.all.count);
    std::vector<double> along_shift(columns.size());
    along_shift[columns.slope(0)] = 1.0;
    out.sensor.shift_ns += std::clamp(fitted.theta[columns.slope(0)], -500.0, 500.0);
    out.sensor.shift_deviation_ns = deviation.of(along_shift);

    // Shares.
    const Steps moved = shifted(steps, static_cast<Nanoseconds>(std::llround(out.sensor.shift_ns)));
    BaseTime base(moved, design.drift);
    sweep_leaves(leaves, base);
    base.operations.resize(operations);
    Attribution& shares = out.attribution;
    shares.meter_total = steps.total;
    shares.uncovered = base.uncovered;
    for (OperationId operation = 0; operation < operations; ++operation) {
        const BaseTime::Of& of = base.operations[operation];
        const Functional energy = functional(columns, kind_of[operation], of, design.centre_watts);
        const double value = dot(energy.weights, fitted.theta) + energy.constant;
        const double spread =
            of.count == 0 ? 0.0 : std::hypot(quantile * deviation.of(energy.weights), narrowest * value);
        shares.shares.push_back({of.count, of.wall, exact_joules(value),
                                 exact_joules(std::max(0.0, value - spread)), exact_joules(value + spread)});
    }
    double idle = 0.0;
    for (std::size_t m = 0; m < base.idle.size(); ++m)
        idle +=
            base.idle[m] * (design.centre_watts + fitted.theta[0] + fitted.theta[columns.kind(idle_kind)] +
                            (columns.knots > 0 ? fitted.theta[columns.knot(m)] : 0.0));
    shares.idle = exact_joules(idle);
    shares.residual = exact_joules(
        misfit_energy(moved, design, columns, fitted.theta, base.begin(), base.end(), shares.unattributed));
    out.base = Watts(design.centre_watts + fitted.theta[0]);
    for (std::uint32_t k = 0; k < kinds; ++k) out.kind_watts.push_back(fitted.theta[columns.kind(k)]);

    const bool negative = std::any_of(shares.shares.begin(), shares.shares.end(),
                                      [](const Share& share) { return share.energy < 0; });
    // Power while nothing was recorded should not be wilder than power while something was.
    const bool incomplete = used.idle_noise > 3.0;
    if (used.dropped > 0.002)
        out.warnings.push_back(
            fmt::format("{:.1f} % of the power readings do not fit what ran and were left out of the fit",
                        100.0 * used.dropped));
    out.trusted = out.held_out < 0.97 && !negative && !incomplete;
    out.verdict =
        fmt::format("held-out windows are predicted with {:.3g} of the squared error of a constant power{}",
                    out.held_out, negative ? ", but some energies came out negative" : "");
    return out;
}

}  // namespace viridian::account
