#include "viridian/pipeline/partition.hpp"

#include "viridian/pipeline/unit.hpp"

#include <algorithm>
#include <limits>

#include "viridian/pipeline/profile/csv.hpp"
#include "viridian/pipeline/unit.hpp"

namespace viridian::pipeline {
namespace {

// Sums over layers [first, last] in constant time.
class Costs {
  public:
    Costs(const std::vector<Layer>& layers, int stages, Balance balance, int micro_batches)
        : balance_(balance), stages_(stages), micro_batches_(micro_batches), sums_(layers.size() + 1) {
        for (std::size_t i = 0; i < layers.size(); ++i) {
            sums_[i + 1] = sums_[i];
            sums_[i + 1].forward += layers[i].forward;
            sums_[i + 1].backward += layers[i].backward;
            sums_[i + 1].energy += layers[i].energy;
            sums_[i + 1].activation += layers[i].activation;
            sums_[i + 1].weights += layers[i].weights;
        }
    }
    [[nodiscard]] StageRange range(int stage, int first, int last) const {
        const Layer &a = sums_[at(first)], &b = sums_[at(last + 1)];
        StageRange out{first,
                       last,
                       b.forward - a.forward,
                       b.backward - a.backward,
                       b.energy - a.energy,
                       b.activation - a.activation,
                       b.weights - a.weights,
                       {}};
        out.memory = out.weights +
                     out.activation * static_cast<std::int64_t>(std::min(micro_batches_, stages_ - stage));
        return out;
    }
    [[nodiscard]] double cost(int stage, int first, int last) const {
        const StageRange r = range(stage, first, last);
        if (balance_ == Balance::time) return (r.forward + r.backward).value;
        return balance_ == Balance::energy ? r.energy.value : static_cast<double>(r.memory.value);
    }

  private:
    Balance balance_;
    int stages_, micro_batches_;
    std::vector<Layer> sums_;
};

// Longest prefixes first: feasible if the layers run out no later than the stages do, each stage keeping one
// layer for every stage after it.
bool fits(const Costs& costs, int layers, int stages, double limit) {
    int next = 0;
    for (int s = 0; s < stages; ++s) {
        const int left = stages - s - 1;
        if (next >= layers - left || costs.cost(s, next, next) > limit) return false;
        int last = next;
        while (last + 1 < layers - left && costs.cost(s, next, last + 1) <= limit) ++last;
        next = last + 1;
    }
    return next == layers;
}

}  // namespace

Result<std::vector<Layer>> read_layers_csv(std::string_view text, std::string_view name) {
    VIRIDIAN_TRY(const Csv csv, parse_csv(text, name));
    VIRIDIAN_TRY(const std::size_t layer, csv.column("layer"));
    VIRIDIAN_TRY(const std::size_t forward, csv.column("forward"));
    VIRIDIAN_TRY(const std::size_t backward, csv.column("backward"));
    std::vector<Layer> layers;
    for (const CsvRow& row : csv.rows) {
        Layer one;
        one.name = row.cells[layer];
        const auto read = [&](std::size_t column, double most) -> Result<double> {
            VIRIDIAN_TRY(const double value, csv.number(row, column));
            if (value >= 0 && value <= most) return value;
            return fail(ErrorCode::malformed, "give 0 or more", "`{}`, line {}: {} is not a usable {}", name,
                        row.line, value, csv.header[column]);
        };
        const auto optional = [&](std::string_view key, double most) -> Result<double> {
            if (!csv.has(key)) return 0.0;
            VIRIDIAN_TRY(const std::size_t column, csv.column(key));
            return read(column, most);
        };
        VIRIDIAN_TRY(const double f, read(forward, 1e6));
        VIRIDIAN_TRY(const double b, read(backward, 1e6));
        VIRIDIAN_TRY(const double energy, optional("energy", 1e9));
        VIRIDIAN_TRY(const double activation, optional("activation", 1e15));
        VIRIDIAN_TRY(const double weights, optional("weights", 1e15));
        one.forward = Seconds(f), one.backward = Seconds(b), one.energy = Joules(energy);
        one.activation = Bytes(static_cast<std::int64_t>(activation));
        one.weights = Bytes(static_cast<std::int64_t>(weights));
        layers.push_back(std::move(one));
    }
    if (layers.empty())
        return fail(ErrorCode::missing_entry, "give one row per layer", "`{}` has no layer", name);
    return layers;
}

Result<std::vector<StageRange>> partition(const std::vector<Layer>& layers, int stages, Balance balance,
                                          int micro_batches) {
    const int count = static_cast<int>(layers.size());
    if (stages < 1 || stages > count)
        return fail(ErrorCode::invalid_argument, fmt::format("give --stages from 1 to {}", count),
                    "{} layers do not make {} stages", count, stages);
    if (std::int64_t{count} * count * stages > 4'000'000'000)
        return fail(ErrorCode::limit_exceeded, "join layers that stay together",
                    "{} layers over {} stages are too many", count, stages);
    const Costs costs(layers, stages, balance, micro_batches);
    if (!(costs.cost(0, 0, count - 1) > 0))
        return fail(ErrorCode::missing_entry, "add the column to the layer table, or balance something else",
                    "the table says nothing about what to balance");
    double low = 0, high = costs.cost(0, 0, count - 1);
    for (int i = 0; i < 200 && low < high; ++i) {  // to adjacent doubles
        const double middle = low + (high - low) / 2;
        if (middle == low || middle == high) break;
        (fits(costs, count, stages, middle) ? high : low) = middle;
    }
    // Within that limit, the least sum of squares: best[s][i] for the first i layers on stages 0..s.
    constexpr double infinite = std::numeric_limits<double>::infinity();
    std::vector<double> before(at(count + 1), infinite);
    std::vector<std::vector<int>> choice;
    before[0] = 0;
    for (int s = 0; s < stages; ++s) {
        std::vector<double> after(at(count + 1), infinite);
        auto& from = choice.emplace_back(at(count + 1), -1);
        for (int end = s + 1; end <= count - (stages - s - 1); ++end)
            for (int first = end - 1; first >= s; --first) {
                const double cost = costs.cost(s, first, end - 1);
                if (cost > high) break;
                const double sum = before[at(first)] + cost * cost;
                if (sum < after[at(end)]) after[at(end)] = sum, from[at(end)] = first;
            }
        before = std::move(after);
    }
    std::vector<StageRange> out(at(stages));
    for (int s = stages, end = count; s-- > 0;) {
        const int first = choice[at(s)][at(end)];
        invariant(first >= 0, "a feasible split exists");
        out[at(s)] = costs.range(s, first, end - 1);
        end = first;
    }
    return out;
}

}  // namespace viridian::pipeline
