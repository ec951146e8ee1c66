#pragma once
// A choice: which kernel does a region, and the format at each port.
#include <optional>

#include "viridian/base/json.hpp"
#include "viridian/base/units.hpp"
#include "viridian/plan/format.hpp"

namespace viridian::plan {

// How the outputs' memory relates to the inputs'.
enum class Aliasing : std::uint8_t {
    none,       // outputs are buffers of their own
    overwrite,  // output 0 takes the buffer of inputs[overwritten], which must die here
    view,       // output 0 is a view of inputs[0]: no work, no memory
    gather,     // inputs are views of output 0 (concatenation in place): no work, producers write into it
};

struct Choice {
    std::string
        kernel;  // unique among the device's kernels for the region: "dnnl:conv:winograd:jit_wino_4x3"
    std::vector<Format> inputs;   // one per region input
    std::vector<Format> outputs;  // one per region output
    Aliasing aliasing = Aliasing::none;
    std::size_t overwritten = 0;  // with `overwrite`
    Bytes workspace;              // scratch while it runs
    bool operator==(const Choice&) const = default;

    // Kernel and formats in one word: the choice's key in the cost database.
    [[nodiscard]] std::string key() const;
};

[[nodiscard]] Json to_json(const Choice& choice);
[[nodiscard]] Result<Choice> choice_from_json(const Json& json);

}  // namespace viridian::plan
