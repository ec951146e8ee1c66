#pragma once
// Makes from a result of accounting the tables that SMARAGDINE defines (§3.3): the tensor energy footprint
// (TEF: the energy of every qualified name), its summary with repeated blocks folded into one (STEF for
// energy, STPF for power), the energy of every level of the hierarchy (the diagram EDD), and the totals of
// the forward and backward pass.
#include "viridian/account/result.hpp"

namespace viridian::account {

struct Entry {
    std::string name;
    Joules energy, low, high;
    Seconds seconds;
    std::uint64_t count = 0;
    [[nodiscard]] Watts watts() const { return seconds.value > 0 ? energy / seconds : Watts(0); }
};

// The qualified name; backward work is in the layer `gradient`, as in the paper (§5.3.3):
// "gradient/bert/encoder/...".
[[nodiscard]] std::string tensor_name(const Operation& operation);
// The footprint by energy, largest first; devices are added up.
[[nodiscard]] std::vector<Entry> tensor_footprint(const Accounting& accounting);

// Blocks that repeat under one parent, told by their numbers (layer_0, layer_1; 0, 1, 2) and by what is in
// them (half of it must agree), become one: "bert/encoder/layer_0/x" -> "bert/encoder/transformer/x", and
// any other "block_3" -> "block_*". Works on every level; names of tensors keep their numbers.
class Fold {
  public:
    explicit Fold(const std::vector<std::string>& names);
    [[nodiscard]] std::string operator()(const std::string& name) const;

  private:
    std::vector<std::pair<std::string, std::string>> renamed_;  // folded parent + part -> folded part; sorted
};

[[nodiscard]] std::vector<Entry> summarized_footprint(const Accounting& accounting);

// A box of the diagram EDD: the energy of a name with all that is in it, and its `share` of its parent's.
// Pass "" means both passes; `forward` and `backward` tell them apart.
struct Box {
    std::string name;    // whole
    std::string label;   // last part
    std::string parent;  // "" at the top
    bool composite = false;
    Joules energy, forward, backward;
    double share = 0.0;
};
[[nodiscard]] std::vector<Box> diagram(const Accounting& accounting, std::string_view pass = "");

struct Passes {
    Joules forward, backward, unknown;
};
[[nodiscard]] Passes by_pass(const Accounting& accounting);

}  // namespace viridian::account
