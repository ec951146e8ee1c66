#pragma once
// A choice tells which kernel computes a region, and the format at each of its ports.
#include <optional>

#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"
#include "viridian/base/units.hpp"
#include "viridian/plan/format.hpp"

namespace viridian::plan {

// Aliasing says how the memory of the outputs relates to that of the inputs.
enum class Aliasing : std::uint8_t {
    none,       // the outputs have their own buffers
    overwrite,  // output 0 takes the buffer of inputs[overwritten], which must die here
    view,       // output 0 is a view of inputs[0]: no work, no memory
    gather,     // inputs are views of output 0 (concatenation in place): no work, producers write into it
};

// Algorithm says how a kernel computes, as far as that bounds the error of its results.
enum class Algorithm : std::uint8_t {
    unknown,        // read from an older file that does not say it; the device completes it
    direct,         // sums of products of the inputs, in f32
    winograd,       // products of transformed sources and weights, in f32
    winograd_bf16,  // the same, with transformed sources and weights rounded to bf16
    strassen,       // products of sums of submatrices
    reference,      // the slow kernel that every single node has; it reads all inputs before it writes
};

// Split says how the threads of the device divide a result.
enum class Split : std::uint8_t {
    rows,      // each thread makes some rows or pixels
    channels,  // each thread makes some columns or channels, and reads only their weights
    shared,    // several threads make each direction of a recurrent layer together
};

// A Variant holds the properties of a kernel that other rooms and the kernel itself ask for. No code reads
// them from the name of the kernel.
struct Variant {
    Algorithm algorithm = Algorithm::unknown;
    Split split = Split::rows;
    bool streams = false;    // stores its whole outputs past the caches
    bool keeps_nan = false;  // a NaN stays one where Relu or Clip is fused too; plan files do not store it
    bool operator==(const Variant&) const = default;
};

// A Choice is a promise about memory, too: the kernel of a region that is element-wise (states.hpp) may find
// the new value of a state in the buffer of its old value, if both have the same format and extents, and any
// output in a buffer of its own even if it could overwrite an input. It then computes what it computes apart.
// Plans rely on that where they update states in place (states.hpp).
struct Choice {
    // The name is unique among the kernels that the device has for the region:
    // "dnnl:conv:winograd:jit_wino_4x3".
    std::string kernel;
    std::vector<Format> inputs;   // one per region input
    std::vector<Format> outputs;  // one per region output
    Aliasing aliasing = Aliasing::none;
    std::size_t overwritten = 0;  // with `overwrite`
    Bytes workspace;              // scratch while it runs
    Variant variant;              // follows from `kernel`, so it is no part of the key
    int threads = 0;              // how many compute; 0: all that the device has
    bool operator==(const Choice&) const = default;

    // Returns kernel, formats, aliasing and threads as one text, which is the choice's key in the cost
    // database.
    [[nodiscard]] std::string key() const;
};

// Returns what key() would be of the choice with this key if it ran on all threads.
[[nodiscard]] std::string key_on_all_threads(const std::string& key);

// These write a choice to JSON and read it back. Errors: malformed.
[[nodiscard]] Json to_json(const Choice& choice);
[[nodiscard]] Result<Choice> choice_from_json(const Json& json);

}  // namespace viridian::plan
