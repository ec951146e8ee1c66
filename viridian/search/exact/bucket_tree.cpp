#include "viridian/search/exact/bucket_tree.hpp"

#include <algorithm>
#include <set>

namespace viridian::search {
namespace {

// Strides of a table over `inner` (the last varies fastest), seen from a bucket.
BucketTree::EntryIndex placed(const Problem& problem, std::uint32_t of, const std::vector<Variable>& inner,
                              const BucketTree::Bucket& bucket) {
    BucketTree::EntryIndex place{of, std::vector<std::size_t>(bucket.scope.size(), 0), 0};
    std::size_t stride = 1;
    for (std::size_t i = inner.size(); i-- > 0; stride *= problem.states(inner[i])) {
        if (inner[i] == bucket.variable) {
            place.own = stride;
            continue;
        }
        const auto at = std::find(bucket.scope.begin(), bucket.scope.end(), inner[i]);
        place.strides[static_cast<std::size_t>(at - bucket.scope.begin())] = stride;
    }
    return place;
}

// The costs of a bucket's states at one entry, tables from below included.
void add_up(const Problem& problem, const BucketTree::Bucket& bucket,
            const std::vector<std::vector<double>>& inside, const Odometer& entry, std::vector<double>& sum) {
    sum = problem.costs(bucket.variable);
    const auto add = [&](const BucketTree::EntryIndex& place, const double* table) {
        table += entry.at(place);
        for (std::size_t s = 0; s < sum.size(); ++s) sum[s] += table[s * place.own];
    };
    for (const BucketTree::EntryIndex& place : bucket.edges)
        add(place, problem.edges()[place.of].cost.data());
    for (const BucketTree::EntryIndex& place : bucket.children) add(place, inside[place.of].data());
}

}  // namespace

BucketTree bucket_tree(const Problem& problem, std::span<const Variable> order) {
    std::vector<std::size_t> rank(problem.size());
    for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    std::vector<std::set<std::size_t>> scopes(order.size());  // by rank, as ranks
    std::vector<std::vector<std::uint32_t>> edges(order.size()), children(order.size());
    for (std::uint32_t e = 0; e < problem.edges().size(); ++e) {
        const std::size_t a = rank[problem.edges()[e].a], b = rank[problem.edges()[e].b];
        scopes[std::min(a, b)].insert(std::max(a, b));
        edges[std::min(a, b)].push_back(e);
    }
    BucketTree tree;
    for (std::uint32_t i = 0; i < order.size(); ++i) {
        BucketTree::Bucket bucket;
        bucket.variable = order[i];
        for (const std::size_t r : scopes[i]) {
            bucket.scope.push_back(order[r]);
            bucket.entries *= problem.states(order[r]);
        }
        for (const std::uint32_t e : edges[i])
            bucket.edges.push_back(placed(problem, e, {problem.edges()[e].a, problem.edges()[e].b}, bucket));
        for (const std::uint32_t c : children[i])
            bucket.children.push_back(placed(problem, c, tree.buckets[c].scope, bucket));
        if (scopes[i].empty()) {
            tree.roots.push_back(i);
        } else {
            const std::size_t parent = *scopes[i].begin();
            children[parent].push_back(i);
            scopes[parent].insert(std::next(scopes[i].begin()), scopes[i].end());
        }
        tree.buckets.push_back(std::move(bucket));
    }
    return tree;
}

LeastCosts least_costs(const Problem& problem, const BucketTree& tree) {
    LeastCosts out;
    std::vector<double> sum;
    for (const BucketTree::Bucket& bucket : tree.buckets) {
        std::vector<double> table(bucket.entries);
        Odometer entry(problem, bucket.scope);
        for (double& least : table) {
            add_up(problem, bucket, out.inside, entry, sum);
            least = *std::min_element(sum.begin(), sum.end());
            entry.advance();
        }
        out.inside.push_back(std::move(table));
    }
    out.least = 0;
    for (const std::uint32_t root : tree.roots) out.least += out.inside[root][0];
    for (const auto& table : out.inside) out.outside.emplace_back(table.size(), infinite);
    out.with.resize(problem.size());
    for (const std::uint32_t root : tree.roots) {
        out.outside[root][0] = 0;
        for (const std::uint32_t other : tree.roots)
            if (other != root) out.outside[root][0] += out.inside[other][0];
    }
    for (std::size_t b = tree.buckets.size(); b-- > 0;) {
        const BucketTree::Bucket& bucket = tree.buckets[b];
        std::vector<double>& with = out.with[bucket.variable];
        with.assign(problem.states(bucket.variable), infinite);
        Odometer entry(problem, bucket.scope);
        for (std::size_t e = 0; e < bucket.entries; ++e, entry.advance()) {
            const double beside = out.outside[b][e];
            if (beside == infinite) continue;
            add_up(problem, bucket, out.inside, entry, sum);
            for (std::size_t s = 0; s < sum.size(); ++s) {
                sum[s] += beside;
                with[s] = std::min(with[s], sum[s]);
            }
            for (const BucketTree::EntryIndex& child : bucket.children) {
                const std::size_t from = entry.at(child);
                for (std::size_t s = 0; s < sum.size(); ++s) {
                    if (sum[s] == infinite) continue;
                    double& rest = out.outside[child.of][from + s * child.own];
                    rest = std::min(rest, sum[s] - out.inside[child.of][from + s * child.own]);
                }
            }
        }
    }
    return out;
}

}  // namespace viridian::search
