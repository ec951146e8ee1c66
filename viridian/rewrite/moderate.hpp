#pragma once
// How far a constant may be moved: real numbers are rearranged freely, those of a type overflow and vanish.
#include <string_view>

#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

// Floating constants so moderate that the order they are applied in shows in rounding alone: no product
// leaves the type's range, no sum swallows the other terms' digits on purpose, as (x + 1.5·2²³) − 1.5·2²³
// does to round. Whole numbers are left alone: (x / 2) · 2 is not x. `family` is "Mul" or "Add".
[[nodiscard]] bool moderate(const Editor& editor, ValueId value, std::string_view family, bool nonzero);

// The same of operands that may be no constants, or whole numbers: those bound nothing.
[[nodiscard]] bool moderate_where_known(const Editor& editor, ValueId value, std::string_view family);

// A moderate factor (a divisor where `divides`) that constant weights take without overflow, and without a
// normal number that leaves the normal ones. Half precision, most of whose small weights are denormal as it
// is, asks that of its largest weight only, with as many bits to spare as its numbers have. False where
// either is not folded yet: folding comes first. Linear in both.
[[nodiscard]] bool folds_normally(const Editor& editor, ValueId weights, ValueId factor, bool divides);

}  // namespace viridian::rewrite
