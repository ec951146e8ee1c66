#include <algorithm>
#include <functional>
#include <queue>
#include <set>

#include "viridian/search/exact/eliminate.hpp"

namespace viridian::search {
namespace {

enum class Rule { smallest_table, fewest_fill, lightest_fill };

class Orderer {
  public:
    Orderer(const Problem& problem, Rule rule) : problem_(problem), rule_(rule), neighbours_(problem.size()) {
        for (const Problem::Edge& edge : problem.edges()) {
            // A variable with one state makes no table larger. The rate of an optimiser, for example, has
            // one, and every update reads it.
            if (problem.states(edge.a) == 1 || problem.states(edge.b) == 1) continue;
            neighbours_[edge.a].insert(edge.b);
            neighbours_[edge.b].insert(edge.a);
        }
    }

    EliminationOrder run(double give_up) {
        const auto count = static_cast<Variable>(problem_.size());
        std::vector<double> current(count);
        std::vector<bool> gone(count, false);
        using Candidate = std::pair<double, Variable>;
        std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> heap;
        const auto push = [&](Variable v) {
            current[v] = score(v);
            heap.emplace(current[v], v);
        };
        for (Variable v = 0; v < count; ++v) push(v);
        EliminationOrder out;
        while (!heap.empty()) {
            const auto [at, v] = heap.top();
            heap.pop();
            if (gone[v] || at != current[v]) continue;
            gone[v] = true;
            const double table = table_of(v);
            out.order.push_back(v);
            out.entries += table;
            out.work += table * states(v);
            out.width = std::max(out.width, neighbours_[v].size());
            if (out.work > give_up) return out;
            std::set<Variable> touched = join_neighbours(v);
            for (const Variable n : touched) push(n);
        }
        return out;
    }

  private:
    double states(Variable v) const { return static_cast<double>(problem_.states(v)); }

    double table_of(Variable v) const {
        double product = 1;
        for (const Variable n : neighbours_[v]) product *= states(n);
        return product;
    }

    double score(Variable v) const {
        if (rule_ == Rule::smallest_table) return table_of(v) * states(v);
        double fill = 0;
        const auto& around = neighbours_[v];
        for (auto a = around.begin(); a != around.end(); ++a)
            for (auto b = std::next(a); b != around.end(); ++b)
                if (!neighbours_[*a].contains(*b))
                    fill += rule_ == Rule::fewest_fill ? 1 : states(*a) * states(*b);
        return fill;
    }

    // Makes a clique of the neighbours and takes `v` out; returns those whose score may have changed.
    std::set<Variable> join_neighbours(Variable v) {
        const std::set<Variable> around = std::move(neighbours_[v]);
        for (const Variable n : around) neighbours_[n].erase(v);
        for (auto a = around.begin(); a != around.end(); ++a)
            for (auto b = std::next(a); b != around.end(); ++b)
                if (neighbours_[*a].insert(*b).second) neighbours_[*b].insert(*a);
        std::set<Variable> touched = around;
        if (rule_ != Rule::smallest_table)
            for (const Variable n : around) touched.insert(neighbours_[n].begin(), neighbours_[n].end());
        return touched;
    }

    const Problem& problem_;
    Rule rule_;
    std::vector<std::set<Variable>> neighbours_;
};

}  // namespace

EliminationOrder elimination_order(const Problem& problem) {
    EliminationOrder best = Orderer(problem, Rule::smallest_table).run(infinite);
    if (best.work < 1e6) return best;
    for (const Rule rule : {Rule::fewest_fill, Rule::lightest_fill})
        if (EliminationOrder other = Orderer(problem, rule).run(best.work);
            other.work < best.work && other.order.size() == problem.size())
            best = std::move(other);
    return best;
}

}  // namespace viridian::search
