#pragma once
// Reads DropoutMask nodes, and draws their bits, which are those of the reference kernel on any number of
// threads.
#include <optional>

#include "viridian/base/random/philox.hpp"
#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

// Where a scalar input of the node lies: among the region's inputs, or a constant.
struct MaskScalar {
    std::optional<std::size_t> input;
    std::int64_t integer = 0;
    double real = 0;
    graph::ElementType type = graph::ElementType::i64;

    [[nodiscard]] std::int64_t whole(const Pointers& pointers) const;
    [[nodiscard]] double number(const Pointers& pointers) const;
};

// A Draw draws the masks of one run.
struct Draw {
    PhiloxKey key = {};
    PhiloxCounter counter = {};  // of the first sample
    std::uint64_t least = 0;     // random word that keeps its element

    // Writes elements [at, at + n) of the mask of sample `sample` to `keep`; `at` is a multiple of 4.
    void draw(std::int64_t sample, std::int64_t at, std::int64_t n, std::uint8_t* keep) const;
};

struct MaskWork {
    MaskScalar seed, step, first_sample, ratio;
    std::int64_t stream = 0, samples = 1, elements = 1;  // elements of one sample

    [[nodiscard]] Draw of(const Pointers& pointers) const;
};

// Reads a DropoutMask of the task's region; nothing if `node` is none, or its inputs or types are not known.
[[nodiscard]] std::optional<MaskWork> mask_work(const Task& task, const graph::Node& node);

}  // namespace viridian::execute::cpu
