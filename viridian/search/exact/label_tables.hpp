#pragma once
// Passes labels (labels.hpp) up the tree of tables (bucket_tree.hpp) once, and remembers how each label came
// about.
#include <chrono>

#include "viridian/search/exact/bucket_tree.hpp"
#include "viridian/search/exact/labels.hpp"

namespace viridian::search {

// Bounds labels in one direction: the problem's least costs along it, and how far a useful point may lie.
struct Yardstick {
    Direction direction;
    LeastCosts costs;
    double most = infinite;
};

class LabelTables {
  public:
    LabelTables(const TwoSums& sums, const PointGoal& goal, const BucketTree& tree,
                const std::vector<Yardstick>& yardsticks, std::size_t most_labels,
                std::function<bool()> out_of_time);

    // False if time ran out on the way.
    bool run();
    struct Point {
        double x = 0, y = 0;
        std::vector<State> states;
    };
    // The best point found, without states if there is none.
    [[nodiscard]] Point best() const;
    // Every label that was dropped for want of room reaches at least this far in the foremost direction.
    [[nodiscard]] double dropped() const { return dropped_; }

  private:
    struct Label {
        double x = 0, y = 0;
        double reach = 0;         // in the foremost direction, with the least that the rest adds
        State state = 0;          // of the bucket's variable
        std::uint32_t trail = 0;  // the labels below it that it is made of
        std::uint32_t below = 0;  // the last of them, until it is written to the trail
    };
    struct TrailEntry {
        std::uint32_t before = 0;
        std::uint32_t label = 0;  // of a child's table
    };
    struct Table {
        std::vector<std::uint32_t> begin = {0};  // by entry
        std::vector<Label> labels;
        std::vector<TrailEntry> trail = {{}};
    };

    bool fill(std::uint32_t bucket);
    bool fold(const BucketTree::Bucket& bucket, const Odometer& entry, std::size_t at, State state,
              Table& table, std::vector<Label>& into);
    bool extend(std::vector<Label>& labels, const Table& child, std::size_t entry,
                const std::vector<double>& rest, Table& table);
    bool write_trail(std::vector<Label>& labels, Table& table);
    void keep_undominated(std::vector<Label>& labels) const;
    void drop_worst(std::vector<Label>& labels, std::size_t most);
    void trim(Table& table);
    void collect(std::uint32_t bucket, const Label& label, std::vector<State>& states) const;

    TwoSums sums_;
    const PointGoal& goal_;
    const BucketTree& tree_;
    const std::vector<Yardstick>& yardsticks_;
    std::size_t most_;
    std::function<bool()> out_of_time_;
    std::vector<Table> tables_;  // by bucket
    Table whole_;                // the roots together
    double dropped_ = infinite;
    std::size_t steps_ = 0;  // entries of all trails
};

}  // namespace viridian::search
