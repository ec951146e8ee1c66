#pragma once
// LabelTables passes labels (labels.hpp) up the tree of tables (bucket_tree.hpp) once, and remembers how
// each label came about.
#include <chrono>

#include "viridian/search/exact/bucket_tree.hpp"
#include "viridian/search/exact/labels.hpp"

namespace viridian::search {

// A Yardstick bounds labels in one direction. `costs` are the least costs of the problem in that direction,
// and only points that reach less than `most` are useful.
struct Yardstick {
    Direction direction;
    LeastCosts costs;
    double most = infinite;
};

class LabelTables {
  public:
    // Prepares the tables of `tree`, each of at most `most_labels` labels. The first of `yardsticks` gives
    // the foremost direction. `goal`, `tree` and `yardsticks` must outlive the object.
    LabelTables(const TwoSums& sums, const PointGoal& goal, const BucketTree& tree,
                const std::vector<Yardstick>& yardsticks, std::size_t most_labels,
                std::function<bool()> out_of_time);

    // Fills all tables. Returns false if `out_of_time` answered true or the labels took too much memory.
    bool run();
    // A Point is the two sums of an assignment, with its states.
    struct Point {
        double x = 0, y = 0;
        std::vector<State> states;
    };
    // Returns the best point found, without states if there is none.
    [[nodiscard]] Point best() const;
    // Returns a distance in the foremost direction that every label dropped for want of room reaches;
    // infinity if none was dropped.
    [[nodiscard]] double dropped() const { return dropped_; }

  private:
    // A Label is the point of a partial assignment: of a variable and everything below it.
    struct Label {
        double x = 0, y = 0;
        double reach = 0;         // in the foremost direction, with the least that the rest adds
        State state = 0;          // of the bucket's variable
        std::uint32_t trail = 0;  // the entry of the trail that names the labels below it
        std::uint32_t below = 0;  // the last of these, until it is written to the trail
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

    // Fills the table of `bucket`. This and the next three return false as run() does.
    bool fill(std::uint32_t bucket);
    // Appends to `into` the labels of one state at entry `at`.
    bool fold(const BucketTree::Bucket& bucket, const Odometer& entry, std::size_t at, State state,
              Table& table, std::vector<Label>& into);
    // Combines each of `labels` with each label of one entry of `child`. `rest` is the least that is still
    // added, by yardstick.
    bool extend(std::vector<Label>& labels, const Table& child, std::size_t entry,
                const std::vector<double>& rest, Table& table);
    bool write_trail(std::vector<Label>& labels, Table& table);
    // Removes the labels that others dominate.
    void keep_undominated(std::vector<Label>& labels) const;
    // Keeps the `most` labels that reach least.
    void drop_worst(std::vector<Label>& labels, std::size_t most);
    // Keeps the best labels of `table`, at most as many as a table may have.
    void trim(Table& table);
    // Writes the states of `label`, of the table of `bucket`, and of everything below it.
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
