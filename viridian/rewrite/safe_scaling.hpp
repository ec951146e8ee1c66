#pragma once
// Decides how far a constant may be moved through an expression. Rules rearrange real numbers freely, but
// those of a floating type overflow and vanish.
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

// The part that a constant plays in an expression.
enum class Role { term, factor, divisor };

// Returns the role of the second operand of `arithmetic`: an Add, Sub, Mul or Div.
[[nodiscard]] Role role_of(const Node& arithmetic);

// Returns whether `value` is a floating-point constant so moderate that the order in which it is applied
// shows in rounding alone: no product leaves the range of the type, and no sum cuts off digits on purpose, as
// (x + 1.5·2²³) − 1.5·2²³ does in order to round. Factors lie between 2^-40 and 2^40 or are 0, divisors are
// not 0, and terms are at most 2^11; in 16 bits the bounds are 2^-7, 2^7 and 2^3. Integers never are
// safe, because (x / 2) · 2 is not x. The guards of rules call a safe constant moderate.
[[nodiscard]] bool is_safe_constant(const Editor& editor, ValueId value, Role role);

// Returns whether `value` leaves numbers in the range of the type: a floating-point constant if it is safe,
// and every other operand, about which nothing is known.
[[nodiscard]] bool keeps_range(const Editor& editor, ValueId value, Role role);

// Returns whether the constant `weights` take the safe constant `factor`, as a factor or a divisor, without
// overflow and so that normal numbers stay normal. Small weights in half precision often are denormal, so
// there only the largest weight must stay normal, with as many bits to spare as its numbers have. It is false
// if either is not folded yet. The time is linear in the elements of both.
[[nodiscard]] bool fold_keeps_normals(const Editor& editor, ValueId weights, ValueId factor, Role role);

}  // namespace viridian::rewrite
