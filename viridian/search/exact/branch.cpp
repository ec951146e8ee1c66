#include "viridian/search/exact/branch.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <queue>

#include "viridian/search/exact/bound.hpp"
#include "viridian/search/exact/eliminate.hpp"
#include "viridian/search/exact/improve.hpp"

namespace viridian::search {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30;  // of waiting parts
constexpr double root_work = 2e9;  // additions spent on finishing the root by elimination
constexpr double leaf_work = 3e6;

class Searcher {
  public:
    Searcher(const Problem& problem, const SolveOptions& options)
        : problem_(problem), options_(options), improver_(problem) {}

    Solution run() {
        auto root = std::make_unique<Bounded>(problem_);
        if (!root->feasible()) return {{}, infinite, infinite};
        root->remove_dominated();
        // Bound and best assignment help each other: a better assignment takes out states, fewer states lift
        // the bound.
        for (int round = 0; round < 4 && root->feasible(); ++round) {
            const double before = best_.value;
            root->tighten(round == 0 ? 200 : 100, 1e-7, limit());
            if (!root->feasible()) break;
            offer(root->original(root->guess()), round < 2 ? 60 : 200);
            if (round > 0 && best_.value == before) break;
        }
        root->tighten(20, 1e-7, limit());
        if (root->feasible() && !finish(*root, root_work)) push(std::move(root));
        while (!open_.empty() && !out_of_time()) dive(pop());
        if (open_.empty() && !cut_) {
            best_.bound = best_.value;
        } else {
            double least = cut_ ? cut_bound_ : infinite;
            for (; !open_.empty(); open_.pop()) least = std::min(least, open_.top()->bound);
            best_.bound = std::min(least, best_.value);
        }
        return best_;
    }

  private:
    struct Part {
        double bound = 0;
        std::unique_ptr<Bounded> problem;
    };
    struct Later {
        bool operator()(const std::shared_ptr<Part>& a, const std::shared_ptr<Part>& b) const {
            return a->bound > b->bound;
        }
    };

    // A part is worth looking at only below this. Differences that rounding explains count as proven.
    double limit() const { return best_.states.empty() ? infinite : best_.value - rounding_; }

    bool out_of_time() {
        if (options_.cancelled && options_.cancelled()) return true;
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() >
               options_.time_limit.value;
    }

    void offer(std::vector<State> states, std::size_t rounds) {
        double found = improver_.descend(states);
        if (found < infinite) found = improver_.search(states, random_, rounds);
        accept(found, std::move(states));
    }

    void accept(double found, std::vector<State> states) {
        if (found >= best_.value) return;
        best_.value = found;
        best_.states = std::move(states);
        double sum = 0;
        for (Variable v = 0; v < problem_.size(); ++v) sum += std::abs(problem_.costs(v)[best_.states[v]]);
        for (const Problem::Edge& edge : problem_.edges())
            sum += std::abs(edge.cost(best_.states[edge.a], best_.states[edge.b]));
        rounding_ = 1e-12 * sum;
    }

    // Solves the part outright where that is cheap.
    bool finish(const Bounded& part, double most_work) {
        const Problem left = part.remaining();
        const EliminationOrder order = elimination_order(left);
        if (order.work > most_work || order.entries > options_.most_entries) return false;
        const Solution solution = eliminate(left, order.order);
        if (!solution.states.empty()) {
            std::vector<State> states = part.original(solution.states);
            const double found = value(problem_, states);
            accept(found, std::move(states));
        }
        return true;
    }

    void push(std::unique_ptr<Bounded> problem) {
        waiting_bytes_ += problem->bytes();
        const double bound = problem->bound();
        open_.push(std::make_shared<Part>(Part{bound, std::move(problem)}));
    }

    std::unique_ptr<Bounded> pop() {
        auto problem = std::move(open_.top()->problem);
        open_.pop();
        waiting_bytes_ -= problem->bytes();
        return problem;
    }

    void dive(std::unique_ptr<Bounded> part) {
        for (;;) {
            part->tighten(10, 1e-4, limit());
            if (!part->feasible() || finish(*part, leaf_work)) return;
            if (++visited_ % 16 == 0 || best_.states.empty()) offer(part->original(part->guess()), 5);
            if (out_of_time()) {
                push(std::move(part));
                return;
            }
            const auto [variable, state] = part->branch();
            auto other = std::make_unique<Bounded>(*part);
            other->exclude(variable, state);
            if (other->feasible() && other->bound() < limit()) {
                if (waiting_bytes_ < most_bytes) {
                    push(std::move(other));
                } else {
                    cut_ = true;  // no memory to keep it: its bound stays in the result
                    cut_bound_ = std::min(cut_bound_, other->bound());
                }
            }
            part->fix(variable, state);
            if (!part->feasible() || part->bound() >= limit()) return;
        }
    }

    const Problem& problem_;
    const SolveOptions& options_;
    Improver improver_;
    Random random_{1};
    Solution best_;
    std::priority_queue<std::shared_ptr<Part>, std::vector<std::shared_ptr<Part>>, Later> open_;
    double rounding_ = 0;  // of the sum that is the value of `best_`
    std::size_t waiting_bytes_ = 0;
    std::size_t visited_ = 0;
    bool cut_ = false;
    double cut_bound_ = infinite;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Solution branch_and_bound(const Problem& problem, const SolveOptions& options) {
    return Searcher(problem, options).run();
}

}  // namespace viridian::search
