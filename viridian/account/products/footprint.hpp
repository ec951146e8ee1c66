#pragma once
// Makes the tables that SMARAGDINE defines (§3.3) from a result of accounting: the tensor energy footprint
// (TEF: the energy of every qualified name), its summary with repeated blocks folded into one (STEF for
// energy, STPF for power), the energy of every level of the hierarchy (the diagram EDD), and the totals of
// the forward and backward pass.
#include <map>

#include "viridian/account/result.hpp"

namespace viridian::account {

// UpperEnds adds up the upper ends of the intervals of a row's operations. Each of them may have taken most
// of what its device took, so that the sum may exceed all of that; no device counts for more than its meter's
// total.
class UpperEnds {
  public:
    // Adds that of `operation`, which has energy and outlives this object.
    void add(const Operation& operation);
    // Returns the upper end of the row. `accounting` is what the operations are of.
    [[nodiscard]] Joules total(const Accounting& accounting) const;

  private:
    std::map<std::string_view, Joules> by_device_;
};

struct FootprintRow {
    std::string name;
    Joules energy, low, high;  // `low` and `high` are the interval of `energy`
    Seconds seconds;
    std::uint64_t count = 0;
    [[nodiscard]] Watts watts() const { return seconds.value > 0 ? energy / seconds : Watts(0); }
};

// Returns the qualified name of `operation`. Backward work is put into the layer `gradient`, as in the paper
// (§5.3.3): "gradient/bert/encoder/...".
[[nodiscard]] std::string tensor_name(const Operation& operation);
// Returns the footprint, largest energy first. Energies of one name on several devices are added up.
[[nodiscard]] std::vector<FootprintRow> tensor_footprint(const Accounting& accounting);

// Fold renames the blocks that repeat under one parent to one name. Blocks repeat if their names differ only
// in the number at the end (layer_0, layer_1; 0, 1, 2) and at least half of what they hold agrees:
// "bert/encoder/layer_0/x" becomes "bert/encoder/transformer/x", and any other "block_3" becomes "block_*".
// It works on every level. Names of tensors keep their numbers.
class Fold {
  public:
    // Finds the repeated blocks in `names`, which are all names of a footprint.
    explicit Fold(const std::vector<std::string>& names);
    [[nodiscard]] std::string operator()(const std::string& name) const;

  private:
    std::vector<std::pair<std::string, std::string>> renamed_;  // folded parent + part -> folded part; sorted
};

// Returns the footprint with folded names, largest energy first.
[[nodiscard]] std::vector<FootprintRow> summarized_footprint(const Accounting& accounting);

// A Box is one box of the diagram EDD: the energy of a name with everything below it, and its part of the
// energy of its parent.
struct Box {
    std::string name;                  // whole
    std::string label;                 // last part
    std::string parent;                // "" at the top
    bool composite = false;            // other boxes lie in it
    Joules energy, forward, backward;  // of all work, of the forward and of the backward pass
    double share = 0.0;                // part of the parent's energy; at the top, part of the total
};
// Returns all boxes, by name. `pass` chooses the work of one pass; "" means all work.
[[nodiscard]] std::vector<Box> diagram(const Accounting& accounting, std::string_view pass = "");

struct Passes {
    Joules forward, backward, recompute, optimizer, unknown;
};
// Returns the energy of each pass.
[[nodiscard]] Passes by_pass(const Accounting& accounting);

}  // namespace viridian::account
