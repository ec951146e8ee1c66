#include "viridian/search/assign/conversions.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace viridian::search {
namespace {

constexpr Metrics nothing{};

bool cheaper(const Metrics& a, const Metrics& b) {
    return std::tie(a.seconds, a.joules, a.kernels) < std::tie(b.seconds, b.joules, b.kernels);
}

std::size_t find(const std::vector<FormatId>& formats, FormatId format) {
    return static_cast<std::size_t>(std::find(formats.begin(), formats.end(), format) - formats.begin());
}

}  // namespace

Result<Conversions> Conversions::make(std::vector<FormatId> made, std::vector<FormatId> wanted,
                                      const PriceOf& price) {
    Conversions out;
    if (wanted.size() > 64)
        return fail(ErrorCode::limit_exceeded, "offer fewer layouts per kernel",
                    "one value is wanted in {} formats; at most 64 can be told apart", wanted.size());
    out.made_ = std::move(made);
    out.wanted_ = std::move(wanted);
    const auto add_row = [&](FormatId from) -> Result<void> {
        std::vector<Metrics> row;
        for (const FormatId to : out.wanted_) {
            Metrics metrics;
            if (from != to) {
                VIRIDIAN_TRY(metrics, price(from, to));
            }
            row.push_back(metrics);
        }
        out.prices_.push_back(std::move(row));
        return {};
    };
    for (const FormatId from : out.made_) VIRIDIAN_TRY(add_row(from));
    if (!out.trees()) return out;
    for (const FormatId from : out.wanted_) VIRIDIAN_TRY(add_row(from));
    for (std::size_t root = 0; root < out.made_.size(); ++root) out.grow(root);
    return out;
}

// Any tree can be built leaf after leaf, each from what is there already: dynamic programming over sets.
void Conversions::grow(std::size_t root) {
    const std::size_t count = wanted_.size();
    std::vector<Cell> cells(std::size_t{1} << count, Cell{Metrics::impossible(), 0, 0, 0});
    cells[0].cost = nothing;
    for (Set set = 1; set < cells.size(); ++set) {
        for (std::size_t last = 0; last < count; ++last) {
            if ((set >> last & 1U) == 0) continue;
            const Set before = set & ~(Set{1} << last);
            const Metrics base = cells[before].cost;
            const auto offer = [&](FormatId from, const Metrics& step) {
                const Metrics total = base + step;
                if (cheaper(total, cells[set].cost)) cells[set] = {total, from, wanted_[last], set};
            };
            offer(made_[root], prices_[root][last]);
            for (std::size_t source = 0; source < count; ++source)
                if ((before >> source & 1U) != 0)
                    offer(wanted_[source], prices_[made_.size() + source][last]);
        }
    }
    for (Set set = 0; set < cells.size(); ++set) cells[set].best = set;
    for (std::size_t extra = 0; extra < count; ++extra)
        for (Set set = 0; set < cells.size(); ++set) {
            if ((set >> extra & 1U) != 0) continue;
            const Set other = cells[set | Set{1} << extra].best;
            if (cheaper(cells[other].cost, cells[cells[set].best].cost)) cells[set].best = other;
        }
    cells_.push_back(std::move(cells));
}

std::size_t Conversions::made_index(FormatId format) const { return find(made_, format); }

Conversions::Set Conversions::bit(FormatId wanted) const {
    const std::size_t i = find(wanted_, wanted);
    invariant(i < wanted_.size(), "a wanted format is among those of its value");
    return Set{1} << i;
}

const Metrics& Conversions::direct(FormatId from, FormatId to) const {
    return from == to ? nothing : prices_[made_index(from)][find(wanted_, to)];
}

Metrics Conversions::cost(FormatId from, Set set) const {
    if (!trees()) return star_cost(from, set);
    const std::vector<Cell>& cells = cells_[made_index(from)];
    return cells[cells[set].best].cost;
}

std::vector<Conversions::Edge> Conversions::tree(FormatId from, Set set) const {
    if (!trees()) return star(from, set);
    const std::vector<Cell>& cells = cells_[made_index(from)];
    std::vector<Edge> edges;
    for (Set left = cells[set].best; left != 0; left &= ~bit(cells[left].to))
        if (cells[left].from != cells[left].to) edges.push_back({cells[left].from, cells[left].to});
    std::reverse(edges.begin(), edges.end());
    return edges;
}

Metrics Conversions::star_cost(FormatId from, Set set) const {
    Metrics sum;
    for (const Edge& edge : star(from, set)) sum += direct(edge.from, edge.to);
    return sum;
}

std::vector<Conversions::Edge> Conversions::star(FormatId from, Set set) const {
    std::vector<Edge> edges;
    for (std::size_t i = 0; i < wanted_.size(); ++i)
        if ((set >> i & 1U) != 0 && wanted_[i] != from) edges.push_back({from, wanted_[i]});
    return edges;
}

}  // namespace viridian::search
