#pragma once
// Defines Unit: the work that a rank does without interruption for one stage and one micro-batch.
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace viridian::pipeline {

enum class Kind : std::uint8_t {
    forward,
    backward,  // whole, or only the gradient of the input if the schedule has weight units
    weight,    // the gradient of the weights (zero-bubble schedules)
    reduce,    // all-reduce of a stage's gradients across data-parallel replicas; fixed time, no clock
};
// Returns the number of a stage, rank, micro-batch or unit as an index into a vector.
[[nodiscard]] constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

inline constexpr int kinds = 4;
inline constexpr std::array<Kind, 3> profiled_kinds = {Kind::forward, Kind::backward, Kind::weight};

// Return the name of a kind, as plans and profiles write it ("forward"), and the kind of a name.
[[nodiscard]] std::string_view name_of(Kind kind);
[[nodiscard]] std::optional<Kind> kind_of(std::string_view name);

struct Unit {
    std::int32_t stage = 0;
    std::int32_t micro_batch = 0;
    Kind kind = Kind::forward;
    bool overlapped = false;  // runs together with the next unit of its rank (DualPipe's F&B)

    auto operator<=>(const Unit&) const = default;
    [[nodiscard]] std::string text() const;  // "forward 3 of stage 0"
};

}  // namespace viridian::pipeline
