#include "viridian/search/exact/label_tables.hpp"

#include <algorithm>

namespace viridian::search {
namespace {

constexpr std::size_t label_tables_most_steps = std::size_t{1} << 24U;  // with their labels about 1 GiB

}  // namespace

LabelTables::LabelTables(const TwoSums& sums, const PointGoal& goal, const BucketTree& tree,
                         const std::vector<Yardstick>& yardsticks, std::size_t most_labels,
                         std::function<bool()> out_of_time)
    : sums_(sums),
      goal_(goal),
      tree_(tree),
      yardsticks_(yardsticks),
      most_(most_labels),
      out_of_time_(std::move(out_of_time)),
      tables_(tree.buckets.size()) {}

bool LabelTables::run() {
    for (std::uint32_t b = 0; b < tree_.buckets.size(); ++b)
        if (!fill(b)) return false;
    std::vector<Label> all = {{}};
    for (std::size_t r = 0; r < tree_.roots.size(); ++r) {
        std::vector<double> rest;
        for (const Yardstick& yardstick : yardsticks_) {
            double sum = 0;
            for (std::size_t later = r + 1; later < tree_.roots.size(); ++later)
                sum += yardstick.costs.inside[tree_.roots[later]][0];
            rest.push_back(sum);
        }
        if (!extend(all, tables_[tree_.roots[r]], 0, rest, whole_)) return false;
    }
    whole_.labels = std::move(all);
    return true;
}

bool LabelTables::fill(std::uint32_t b) {
    const BucketTree::Bucket& bucket = tree_.buckets[b];
    Table& table = tables_[b];
    Odometer entry(*sums_.x, bucket.scope);
    std::vector<Label> here;
    for (std::size_t e = 0; e < bucket.entries; ++e, entry.advance()) {
        if (out_of_time_()) return false;
        here.clear();
        const bool possible = std::all_of(yardsticks_.begin(), yardsticks_.end(), [&](const Yardstick& y) {
            return y.costs.inside[b][e] + y.costs.outside[b][e] < y.most;
        });
        if (possible)
            for (State s = 0; s < sums_.x->states(bucket.variable); ++s)
                if (!fold(bucket, entry, e, s, table, here)) return false;
        keep_undominated(here);
        drop_worst(here, most_);
        table.labels.insert(table.labels.end(), here.begin(), here.end());
        table.begin.push_back(static_cast<std::uint32_t>(table.labels.size()));
        if (table.labels.size() > 2 * most_) trim(table);
    }
    if (table.labels.size() > most_) trim(table);
    return true;
}

// All labels of one state at one entry.
bool LabelTables::fold(const BucketTree::Bucket& bucket, const Odometer& entry, std::size_t at, State state,
                       Table& table, std::vector<Label>& into) {
    const auto own = [&](const Problem& problem) {
        double sum = problem.costs(bucket.variable)[state];
        for (const BucketTree::EntryIndex& place : bucket.edges)
            sum += problem.edges()[place.of].cost.data()[entry.at(place) + state * place.own];
        return sum;
    };
    const double x = own(*sums_.x);
    if (x == infinite) return true;
    Label start;
    start.x = x;
    start.y = own(*sums_.y);
    start.state = state;
    std::vector<std::size_t> places;
    for (const BucketTree::EntryIndex& child : bucket.children)
        places.push_back(entry.at(child) + state * child.own);
    const auto bucket_number = static_cast<std::size_t>(&bucket - tree_.buckets.data());
    std::vector<double> rest;
    for (const Yardstick& yardstick : yardsticks_) {
        double sum = yardstick.costs.outside[bucket_number][at];
        for (std::size_t c = 0; c < places.size(); ++c)
            sum += yardstick.costs.inside[bucket.children[c].of][places[c]];
        rest.push_back(sum);
        const double reach = yardstick.direction.of(start.x, start.y) + sum;
        if (rest.size() == 1) start.reach = reach;
        if (!(reach < yardstick.most)) return true;
    }
    std::vector<Label> labels = {start};
    for (std::size_t c = 0; c < places.size() && !labels.empty(); ++c) {
        for (std::size_t k = 0; k < rest.size(); ++k)
            rest[k] -= yardsticks_[k].costs.inside[bucket.children[c].of][places[c]];
        if (!extend(labels, tables_[bucket.children[c].of], places[c], rest, table)) return false;
    }
    into.insert(into.end(), labels.begin(), labels.end());
    return true;
}

// Every label with every one of a child's entry, where the rest may still lead to something better.
bool LabelTables::extend(std::vector<Label>& labels, const Table& child, std::size_t entry,
                         const std::vector<double>& rest, Table& table) {
    std::vector<Label> out;
    const std::size_t room = 4 * most_ + 1024;
    for (const Label& label : labels) {
        if (out_of_time_()) return false;
        for (std::uint32_t i = child.begin[entry]; i < child.begin[entry + 1]; ++i) {
            Label sum = label;
            sum.x += child.labels[i].x;
            sum.y += child.labels[i].y;
            bool possible = true;
            for (std::size_t k = 0; k < rest.size() && possible; ++k) {
                const double reach = yardsticks_[k].direction.of(sum.x, sum.y) + rest[k];
                if (k == 0) sum.reach = reach;
                possible = reach < yardsticks_[k].most;
            }
            if (!possible) continue;
            sum.below = i;
            out.push_back(sum);
        }
        if (out.size() > room) {
            keep_undominated(out);
            drop_worst(out, room / 2);
        }
    }
    keep_undominated(out);
    labels = std::move(out);
    return write_trail(labels, table);
}

bool LabelTables::write_trail(std::vector<Label>& labels, Table& table) {
    steps_ += labels.size();
    if (steps_ > label_tables_most_steps) return false;
    for (Label& label : labels) {
        table.trail.push_back({label.trail, label.below});
        label.trail = static_cast<std::uint32_t>(table.trail.size() - 1);
    }
    return true;
}

void LabelTables::keep_undominated(std::vector<Label>& labels) const {
    if (labels.size() < 2) return;
    const auto first = [&](const Label& l) { return goal_.first.of(l.x, l.y); };
    const auto second = [&](const Label& l) { return goal_.second.of(l.x, l.y); };
    std::sort(labels.begin(), labels.end(), [&](const Label& a, const Label& b) {
        const double left = first(a), right = first(b);
        return left != right ? left < right : second(a) < second(b);
    });
    double least = infinite;
    std::erase_if(labels, [&](const Label& label) {
        const double here = second(label);
        if (here >= least) return true;
        least = here;
        return false;
    });
}

void LabelTables::drop_worst(std::vector<Label>& labels, std::size_t most) {
    if (labels.size() <= most) return;
    const auto at = labels.begin() + static_cast<std::ptrdiff_t>(most);
    std::nth_element(labels.begin(), at, labels.end(),
                     [](const Label& a, const Label& b) { return a.reach < b.reach; });
    dropped_ = std::min(dropped_, at->reach);
    labels.erase(at, labels.end());
}

// The table's worst labels, wherever they are.
void LabelTables::trim(Table& table) {
    std::vector<double> reaches;
    for (const Label& label : table.labels) reaches.push_back(label.reach);
    const auto at = reaches.begin() + static_cast<std::ptrdiff_t>(most_);
    std::nth_element(reaches.begin(), at, reaches.end());
    const double most = *at;
    dropped_ = std::min(dropped_, most);
    std::uint32_t kept = 0;
    for (std::size_t e = 0; e + 1 < table.begin.size(); ++e) {
        const std::uint32_t from = table.begin[e], to = table.begin[e + 1];
        table.begin[e] = kept;
        for (std::uint32_t i = from; i < to; ++i)
            if (table.labels[i].reach < most) table.labels[kept++] = table.labels[i];
    }
    table.begin.back() = kept;
    table.labels.resize(kept);
}

void LabelTables::collect(std::uint32_t b, const Label& label, std::vector<State>& states) const {
    const BucketTree::Bucket& bucket = tree_.buckets[b];
    states[bucket.variable] = label.state;
    std::uint32_t trail = label.trail;
    for (std::size_t c = bucket.children.size(); c-- > 0; trail = tables_[b].trail[trail].before) {
        const std::uint32_t child = bucket.children[c].of;
        collect(child, tables_[child].labels[tables_[b].trail[trail].label], states);
    }
}

LabelTables::Point LabelTables::best() const {
    const Label* least = nullptr;
    double value = infinite;
    for (const Label& label : whole_.labels)
        if (const double here = goal_.value(label.x, label.y); here < value) {
            value = here;
            least = &label;
        }
    if (least == nullptr) return {};
    Point point{least->x, least->y, std::vector<State>(sums_.x->size(), 0)};
    std::uint32_t trail = least->trail;
    for (std::size_t r = tree_.roots.size(); r-- > 0; trail = whole_.trail[trail].before) {
        const std::uint32_t root = tree_.roots[r];
        collect(root, tables_[root].labels[whole_.trail[trail].label], point.states);
    }
    return point;
}

}  // namespace viridian::search
