#pragma once
// Finds out where the values of a region lie while it is read as a program (program.hpp).
#include <map>
#include <optional>

#include "viridian/execute/cpu/kernels/fused/program.hpp"

namespace viridian::execute::cpu {

class ProgramValues {
  protected:
    using MaybePlace = std::optional<ProgramPlace>;

    // A null layout stands for row-major.
    ProgramValues(const Task& task, const plan::Layout* layout);

    // Sets the dims of whole tensors: those of the largest, with the most axes if several are as large. False
    // if there is none.
    [[nodiscard]] bool find_shape();
    // Finds out where rows begin, and divides tensors into them if a step needs rows; false if steps
    // disagree.
    [[nodiscard]] bool find_rows();

    [[nodiscard]] const graph::Dims& dims() const { return program_.dims; }
    [[nodiscard]] bool is_whole(graph::ValueId id,
                                graph::ElementType element = graph::ElementType::f32) const;
    // Returns whether rows consist of the last axis alone.
    [[nodiscard]] bool ends_rows() const { return axis_ + 1 == std::ssize(dims()); }

    // These return where a value is read, or nothing if it is not of that kind: a whole tensor of this type,
    // a row, one number a row, or any operand that broadcasts.
    [[nodiscard]] MaybePlace whole(graph::ValueId id,
                                   graph::ElementType element = graph::ElementType::f32) const;
    [[nodiscard]] MaybePlace row(graph::ValueId id);
    [[nodiscard]] MaybePlace statistic(graph::ValueId id) const;
    // Returns where a single number is repeated.
    [[nodiscard]] MaybePlace number(graph::ValueId id);
    [[nodiscard]] MaybePlace operand(graph::ValueId id);
    // Returns the position in Program::numbers of a value of one element: made by a node, a constant, or an
    // f32 input.
    [[nodiscard]] std::optional<std::size_t> number_of(graph::ValueId id);

    // Return where a new value goes. `there` says how its elements lie if it is an output.
    ProgramPlace made(graph::ValueId id, ProgramPlace there);
    ProgramPlace made_whole(graph::ValueId id) { return made(id, {{}, 0, float_bytes}); }
    // Returns the number of the sum that goes to `id`, or nothing if a node of the region reads it.
    [[nodiscard]] std::optional<std::size_t> new_sum(graph::ValueId id);
    // Gives a whole tensor at `place` a second name.
    void name_again(graph::ValueId id, graph::ValueId name, const ProgramPlace& place);
    // Counts one reader of each input as done; scratch is free after the last.
    void drop(const graph::Node& node);

    const Task& task_;
    Program program_;
    std::int64_t axis_ = 0, rows_ = 1;               // the first axis of a row; how many rows
    std::map<graph::ValueId, ProgramPlace> places_;  // of what the region makes
    std::map<graph::ValueId, std::size_t> numbers_;  // single numbers
    std::map<graph::ValueId, int> readers_;          // nodes of the region that still have to read it

  private:
    MaybePlace outside(graph::ValueId id);
    MaybePlace broadcast(graph::ValueId id);
    [[nodiscard]] graph::ValueId root_of(graph::ValueId id) const;

    std::optional<plan::Layout> layout_;
    std::map<graph::ValueId, graph::ValueId> alias_;  // second names, and the values that they name
    std::vector<std::size_t> free_;
};

}  // namespace viridian::execute::cpu
