#pragma once
// A Chain applies a chain of element-wise steps to chunks of a tensor's memory, whatever its layout.
// Operands that broadcast are spread over each chunk as it comes.
#include "viridian/execute/cpu/kernels/elementwise/epilogue.hpp"
#include "viridian/execute/cpu/simd/elementwise/spread.hpp"

namespace viridian::execute::cpu::simd {

class Chain {
  public:
    // Makes the chain for values of `dims` in `layout`, which is dense. Operands of full size lie in the same
    // layout, in f32 or as the choice's ports say in bf16. Smaller region inputs are row-major f32. Constants
    // are spread, or packed behind `constants`. Returns nothing if an operand is none of these.
    static std::optional<Chain> make(const Task& task, const std::vector<EpilogueStep>& steps,
                                     const graph::Dims& dims, const plan::Layout& layout,
                                     std::vector<Packed>& constants, const plan::Choice* choice = nullptr);

    [[nodiscard]] bool empty() const { return links_.empty(); }
    // Returns whether zeroes in the padding of blocks stay zeroes.
    [[nodiscard]] bool keeps_padding() const;
    // Applies the steps to elements [first, first + n) of the memory: from `from` into `to` (may be equal).
    // `scratch` has room for n floats.
    void run(const Pointers& pointers, const float* from, float* to, std::int64_t first, std::int64_t n,
             float* scratch) const;

  private:
    // A Link is one step, with the place of its operand.
    struct Link {
        EpilogueStep step;
        enum class From : std::uint8_t { none, input, constant } from = From::none;
        std::size_t index = 0;
        bool whole = false;            // the operand has full size and the same layout
        bool bf16 = false;             // that operand is stored in bf16
        std::optional<Spread> spread;  // how any other operand is read
    };
    std::vector<Link> links_;
};

}  // namespace viridian::execute::cpu::simd
