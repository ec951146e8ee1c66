#include "viridian/search/exact/eliminate.hpp"

#include <algorithm>

#include "viridian/search/exact/rows.hpp"

namespace viridian::search {
namespace {

// Costs over the states of `scope`, row-major; the last variable varies fastest.
struct Table {
    std::vector<Variable> scope;
    std::vector<double> entries;
};

class Eliminator {
  public:
    Eliminator(const Problem& problem, std::span<const Variable> order)
        : problem_(problem), order_(order), rank_(problem.size()), buckets_(problem.size()) {
        for (Variable v = 0; v < problem.size(); ++v) costs_.push_back(problem.costs(v));
        for (std::size_t i = 0; i < order.size(); ++i) rank_[order[i]] = i;
        for (const Problem::Edge& edge : problem.edges()) {
            Table table{{edge.a, edge.b}, {}};
            for (std::size_t r = 0; r < edge.cost.rows(); ++r)
                table.entries.insert(table.entries.end(), edge.cost.row(r).begin(), edge.cost.row(r).end());
            place(std::move(table));
        }
    }

    Solution run() {
        for (const Variable v : order_) reduce(v);
        Solution solution;
        solution.value = solution.bound = constant_;
        if (constant_ == infinite) return solution;
        solution.states.assign(problem_.size(), 0);
        for (auto v = order_.rbegin(); v != order_.rend(); ++v)
            solution.states[*v] = best_state(*v, solution.states);
        // The same sum in the problem's own order, so that it equals `value` to the last bit.
        solution.value = solution.bound = search::value(problem_, solution.states);
        return solution;
    }

  private:
    // A table waits in the bucket of that variable of its scope which goes first, moved to the end of the
    // scope. Variables with one state leave the scope: nothing depends on them.
    void place(Table table) {
        std::erase_if(table.scope, [&](Variable v) { return problem_.states(v) == 1; });
        if (table.scope.empty()) {
            constant_ += table.entries[0];
            return;
        }
        if (table.scope.size() == 1) {
            std::vector<double>& costs = costs_[table.scope[0]];
            for (std::size_t i = 0; i < costs.size(); ++i) costs[i] += table.entries[i];
            return;
        }
        std::vector<Variable> wanted = table.scope;
        std::sort(wanted.begin(), wanted.end(), [&](Variable a, Variable b) { return rank_[a] > rank_[b]; });
        const Variable first = wanted.back();
        if (wanted != table.scope) table = reordered(table, std::move(wanted));
        buckets_[first].push_back(std::move(table));
    }

    Table reordered(const Table& table, std::vector<Variable> scope) const {
        std::vector<std::size_t> stride(table.scope.size());
        std::size_t step = 1;
        for (std::size_t i = table.scope.size(); i-- > 0; step *= problem_.states(table.scope[i]))
            stride[i] = step;
        Table out{std::move(scope), std::vector<double>(table.entries.size())};
        std::vector<std::size_t> by(out.scope.size());
        for (std::size_t i = 0; i < by.size(); ++i)
            by[i] = stride[static_cast<std::size_t>(
                std::find(table.scope.begin(), table.scope.end(), out.scope[i]) - table.scope.begin())];
        std::vector<std::size_t> state(by.size(), 0);
        std::size_t from = 0;
        for (double& entry : out.entries) {
            entry = table.entries[from];
            for (std::size_t i = by.size(); i-- > 0;) {
                from += by[i];
                if (++state[i] < problem_.states(out.scope[i])) break;
                from -= by[i] * state[i];
                state[i] = 0;
            }
        }
        return out;
    }

    // A table of the bucket as seen while its neighbours are set one after the other.
    struct View {
        const double* entries;
        std::vector<std::pair<std::size_t, std::size_t>> steps;  // level of a neighbour, stride
    };

    void reduce(Variable v) {
        std::vector<Variable> around;
        for (const Table& table : buckets_[v])
            around.insert(around.end(), table.scope.begin(), table.scope.end() - 1);
        std::sort(around.begin(), around.end(), [&](Variable a, Variable b) { return rank_[a] > rank_[b]; });
        around.erase(std::unique(around.begin(), around.end()), around.end());

        std::vector<std::vector<View>> levels(around.size());
        for (const Table& table : buckets_[v]) {
            View view{table.entries.data(), {}};
            std::size_t stride = problem_.states(v);
            for (std::size_t i = table.scope.size() - 1; i-- > 0; stride *= problem_.states(table.scope[i]))
                view.steps.emplace_back(
                    std::find(around.begin(), around.end(), table.scope[i]) - around.begin(), stride);
            levels[view.steps.front().first].push_back(std::move(view));
        }
        Table out{around, {}};
        std::size_t count = 1;
        for (const Variable n : around) count *= problem_.states(n);
        out.entries.resize(count);
        if (around.empty()) {
            out.entries[0] = *std::min_element(costs_[v].begin(), costs_[v].end());
        } else {
            Filling filling{
                around, levels, {}, std::vector<std::size_t>(around.size(), 0), {}, out.entries.data()};
            filling.sums.assign(around.size(), std::vector<double>(problem_.states(v)));
            fill(filling, 0, costs_[v]);
        }
        place(std::move(out));
    }

    // A table under way.
    struct Filling {
        const std::vector<Variable>& around;
        const std::vector<std::vector<View>>& levels;
        std::vector<std::vector<double>> sums;  // by level, over the states of the variable that goes
        std::vector<std::size_t> states;        // of the neighbours
        std::vector<const double*> rows;
        double* next;  // entry
    };

    // The rows of a level's views that belong to the states set so far, this level's own state excepted: it
    // is the fastest of each, so its rows follow one another.
    static void find_rows(Filling& f, std::size_t level) {
        f.rows.clear();
        for (const View& view : f.levels[level]) {
            const double* row = view.entries;
            for (const auto& [at, stride] : view.steps)
                if (at != level) row += f.states[at] * stride;
            f.rows.push_back(row);
        }
    }

    void fill(Filling& f, std::size_t level, const std::vector<double>& before) const {
        const std::size_t count = problem_.states(f.around[level]);
        if (level + 1 == f.around.size()) {
            find_rows(f, level);
            rows::least_sums(before.data(), f.rows, count, before.size(), f.next);
            f.next += count;
            return;
        }
        for (std::size_t state = 0; state < count; ++state) {
            find_rows(f, level);
            for (const double*& row : f.rows) row += state * before.size();
            rows::add(before.data(), f.rows, before.size(), f.sums[level].data());
            f.states[level] = state;
            fill(f, level + 1, f.sums[level]);
        }
    }

    State best_state(Variable v, const std::vector<State>& states) const {
        std::vector<double> sum = costs_[v];
        for (const Table& table : buckets_[v]) {
            std::size_t at = 0;
            for (std::size_t i = 0; i + 1 < table.scope.size(); ++i)
                at = at * problem_.states(table.scope[i]) + states[table.scope[i]];
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += table.entries[at * sum.size() + i];
        }
        return static_cast<State>(std::min_element(sum.begin(), sum.end()) - sum.begin());
    }

    const Problem& problem_;
    std::span<const Variable> order_;
    std::vector<std::size_t> rank_;
    std::vector<std::vector<Table>> buckets_;
    std::vector<std::vector<double>> costs_;  // of one variable alone
    double constant_ = 0;
};

}  // namespace

Solution eliminate(const Problem& problem, std::span<const Variable> order) {
    return Eliminator(problem, order).run();
}

}  // namespace viridian::search
