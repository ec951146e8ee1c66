#pragma once
// Decides whether a constant may be moved through an expression. Rules rearrange expressions as if numbers
// were real, but floating-point numbers can overflow or become zero on the way.
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

// A Role is the part that a constant plays in an expression.
enum class Role { term, factor, divisor };

// Returns the role of the second operand of `arithmetic`: an Add, Sub, Mul or Div.
[[nodiscard]] Role role_of(const Node& arithmetic);

// Returns whether `value` is a floating-point constant so moderate that the order in which it is applied
// shows in rounding alone: no product leaves the range of the type, and no sum cuts off digits on purpose, as
// (x + 1.5·2²³) − 1.5·2²³ does in order to round. Factors lie between 2^-40 and 2^40 or are 0, divisors are
// not 0, and terms are at most 2^11; in 16 bits the bounds are 2^-7, 2^7 and 2^3. Integer constants
// are never safe, because (x / 2) · 2 is not x. The guards of rules call a safe constant moderate.
[[nodiscard]] bool is_safe_constant(const Editor& editor, ValueId value, Role role);

// Returns false if `value` is a floating-point value that is constant, or computed from constants alone, and
// is not a safe constant (also because it is not folded yet). Returns true for every other value: integers,
// and values that are known only at run time.
[[nodiscard]] bool keeps_range(const Editor& editor, ValueId value, Role role);

// Returns whether the constant `weights` can be multiplied by the constant `factor`, or divided by it if
// `role` is divisor, without overflow and without turning a normal number into a denormal one. Small weights
// in f16 often are denormal already, so for f16 it is enough if the largest product or quotient can reach
// 2^-8. Returns false if `factor` is not safe or if either constant is not folded yet. The time is linear in
// the elements of both.
[[nodiscard]] bool fold_keeps_normals(const Editor& editor, ValueId weights, ValueId factor, Role role);

}  // namespace viridian::rewrite
