#pragma once
// Which optional fields an event of the binary trace carries.
namespace viridian::trace {

inline constexpr unsigned flag_parent = 1U << 0U, flag_owner = 1U << 1U, flag_correlation = 1U << 2U,
                          flag_scope = 1U << 3U, flag_type = 1U << 4U, flag_sequence = 1U << 5U,
                          flag_forward = 1U << 6U, flag_value = 1U << 7U, flag_instance = 1U << 8U,
                          flag_device = 1U << 9U;

}  // namespace viridian::trace
